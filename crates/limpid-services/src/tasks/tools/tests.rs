use limpid_core::{CallId, ConversationId, Tier, Trust, TurnId};
use limpid_store::{Audience, ConversationKind, NewConversation, SqliteOptions, SqliteStore, Store};

use super::*;
use crate::tools::{ShownItems, Written};

fn context(conversation: &str, trust: Trust) -> ToolContext {
    ToolContext {
        now: "2026-04-10T12:00:00Z".parse().unwrap(),
        zone: jiff::tz::TimeZone::UTC,
        conversation: ConversationId::new(conversation),
        turn: TurnId::new("t1"),
        call: CallId::new("call"),
        trust,
        tier: Tier::ALL[2],
        read_only: false,
        approved: false,
        snapshot: None,
        bans: limpid_core::policy::Bans::default(),
        unused_skills: Vec::new(),
        private_place: None,
        may_lead_to_key: true,
        drawn: false,
        program: None,
        send_state: None,
        tools_of_agents: None,
        shown: ShownItems::default(),
        written: Written::default(),
        owner: None,
    }
}

/// Tasks of two conversations that are there.
async fn tasks(home: &std::path::Path) -> Tasks {
    let store = SqliteStore::open(home.join("limpid.db"), SqliteOptions::default()).unwrap();
    let store: Arc<dyn Store> = Arc::new(store);
    for id in ["a", "b"] {
        let new = NewConversation {
            id: ConversationId::new(id),
            kind: ConversationKind::Chat,
            title: String::new(),
            profile: "picoclaw".to_owned(),
            mode: None,
            model: None,
            audience: Audience::Owner,
            now_ms: 0,
        };
        store.create_conversation(new).await.unwrap();
    }
    Tasks::of_test(&store, &limpid_config::Home::new(home))
}

// SEC-051 SEC-055
#[tokio::test]
async fn what_a_clean_turn_is_told_of_a_strangers_task_stays_the_strangers() {
    let home = tempfile::tempdir().unwrap();
    let tasks = tasks(home.path()).await;
    let (clean, tainted) = (context("a", Trust::Owner), context("a", Trust::Outside));
    let cron = cron::Cron::new(tasks.clone());
    let order = json!({ "action": "add", "message": "obey", "every_seconds": 60 });
    assert!(cron.run(&tainted, order).await.unwrap().trust().is_foreign());
    for (action, also) in [
        ("update", json!({ "every_seconds": 90 })),
        ("disable", json!({})),
        ("enable", json!({})),
        ("remove", json!({})),
    ] {
        let mut arguments = json!({ "action": action, "job_id": "1" });
        arguments.as_object_mut().unwrap().extend(also.as_object().unwrap().clone());
        let said = cron.run(&clean, arguments).await.unwrap();
        assert_eq!(said.trust(), Trust::Outside, "{action}: {}", said.value());
    }
    let own = json!({ "action": "add", "message": "drink", "every_seconds": 60 });
    assert_eq!(cron.run(&clean, own).await.unwrap().trust(), Trust::Owner);
}

// PICO-091
#[tokio::test]
async fn a_guest_sees_and_changes_the_tasks_of_their_own_chat_only() {
    let home = tempfile::tempdir().unwrap();
    let cron = cron::Cron::new(tasks(home.path()).await);
    let call = async |context: &ToolContext, arguments: Value| {
        cron.run(context, arguments).await.map(|said| said.into_parts().0)
    };
    let (owner, guest) = (context("a", Trust::Owner), context("b", Trust::Guest));
    for context in [&owner, &guest] {
        let said = format!("for {}", context.conversation);
        call(context, json!({ "action": "add", "message": said, "at_seconds": 60 })).await.unwrap();
    }
    let all = call(&owner, json!({ "action": "list" })).await.unwrap();
    assert!(all.contains("for a") && all.contains("for b"), "{all}");
    let own = call(&guest, json!({ "action": "list" })).await.unwrap();
    assert!(!own.contains("for a") && own.contains("for b"), "{own}");
    for action in ["get", "remove", "disable", "update"] {
        let refused = call(&guest, json!({ "action": action, "job_id": "1", "message": "mine" })).await.unwrap_err();
        assert!(refused.text().contains("there is no task `1`"), "{refused:?}");
    }
    call(&guest, json!({ "action": "remove", "job_id": "2" })).await.unwrap();
}

// SEC-075 SEC-077
#[tokio::test]
async fn a_question_about_a_job_says_when_it_is_due_in_words_that_last() {
    let home = tempfile::tempdir().unwrap();
    let tasks = tasks(home.path()).await;
    let cron = cron::Cron::new(tasks.clone());
    let own = context("a", Trust::Owner);
    let first = json!({ "action": "add", "message": "drink", "cron_expr": "0 9 * * 1", "tz": "Europe/Berlin" });
    cron.run(&own, first.clone()).await.unwrap();
    let mut told = Vec::new();
    for call in [
        first,
        json!({ "action": "add", "message": "drink", "at_seconds": 3600 }),
        json!({ "action": "add", "message": "drink", "every_seconds": 5400 }),
        json!({ "action": "add", "message": "drink", "every_seconds": 5 }),
        json!({ "action": "update", "job_id": "1", "every_seconds": 3600 }),
        json!({ "action": "update", "job_id": "1", "cron_expr": "0 9 * * *" }),
        json!({ "action": "update", "job_id": "1", "cron_expr": "0 9 * * *", "tz": "Asia/Tokyo" }),
        json!({ "action": "update", "job_id": "1", "at_seconds": 3600 }),
        json!({ "action": "update", "job_id": "1", "tz": "Asia/Tokyo" }),
        json!({ "action": "update", "job_id": "1", "message": "eat" }),
        json!({ "action": "remove", "job_id": "1", "every_seconds": 86400 }),
        json!({ "action": "disable", "job_id": "1", "every_seconds": 3600 }),
        json!({ "action": "add", "job_id": "1", "message": "drink", "every_seconds": 600 }),
        json!({ "action": "remove", "job_id": "7" }),
    ] {
        told.push(cron.concerns(&call, None).await.into_words().unwrap_or_default());
    }
    insta::assert_snapshot!(told.join("\n"), @"
    due on Mon at 9:00 (Europe/Berlin)
    due once, 1 hour after your yes
    due every 90 minutes
    due at no time that there is
    from now on due every hour; before, task 1, pending, due on Mon at 9:00 (Europe/Berlin): drink
    from now on due daily at 9:00 (Europe/Berlin); before, task 1, pending, due on Mon at 9:00 (Europe/Berlin): drink
    from now on due daily at 9:00 (Asia/Tokyo); before, task 1, pending, due on Mon at 9:00 (Europe/Berlin): drink
    from now on due once, 1 hour after your yes; before, task 1, pending, due on Mon at 9:00 (Europe/Berlin): drink
    from now on due on Mon at 9:00 (Asia/Tokyo); before, task 1, pending, due on Mon at 9:00 (Europe/Berlin): drink
    changes task 1, pending, due on Mon at 9:00 (Europe/Berlin): drink
    removes task 1, pending, due on Mon at 9:00 (Europe/Berlin): drink
    switches off task 1, pending, due on Mon at 9:00 (Europe/Berlin): drink
    due every 10 minutes
    removes a task that is not there
    ");
    let schedule = Schedule { name: "schedule_task", tasks };
    let at = |time: &str| json!({ "description": "d", "prompt": "p", "execute_at": time, "zone": "Europe/Berlin" });
    for (time, words) in [
        ("2036-07-01T09:00", Some("due once, on Tue 1 Jul 2036 at 07:00 (UTC)")),
        ("2036-07-01T09:00:00Z", Some("due once, on Tue 1 Jul 2036 at 09:00 (UTC)")),
        ("2016-07-01T09:00:00Z", Some("due at no time that there is")),
    ] {
        assert_eq!(schedule.concerns(&at(time), None).await.into_words().as_deref(), words, "{time}");
    }
}

// SEC-071
#[tokio::test]
async fn a_task_is_named_by_its_number_as_it_is_shown_in_every_dialect() {
    let home = tempfile::tempdir().unwrap();
    let tasks = tasks(home.path()).await;
    let (cron, own) = (cron::Cron::new(tasks.clone()), context("a", Trust::Owner));
    let add = json!({ "action": "add", "message": "drink", "every_seconds": 60 });
    cron.run(&own, add.clone()).await.unwrap();
    let cancel = Cancel { name: "cancel_task", tasks: tasks.clone() };
    for (number, is_it) in [("1", true), (" 1 ", true), ("01", false), ("+1", false), ("2", false)] {
        let by_task = cancel.named(&json!({ "task_id": number }), None).await;
        let by_job = cron.named(&json!({ "action": "remove", "job_id": number }), None).await;
        assert_eq!((by_task.is_some(), by_job.is_some()), (is_it, is_it), "{number}");
    }
    let refused = cancel.run(&own, json!({ "task_id": "+1" })).await.unwrap_err();
    assert!(refused.text().contains("there is no task `+1`"), "{refused:?}");
    let removed = cron.written_out(&json!({ "action": "remove", "job_id": "1" }));
    assert_eq!(removed, [json!({ "action": "remove", "job_id": "1", "task_id": "1" })]);
    assert_eq!(cancel.written_out(&json!({ "task_id": "1" })), removed);
    let schedule = Schedule { name: "schedule_task", tasks };
    let planned = schedule.written_out(&json!({ "description": "tea", "prompt": "drink", "cron": "0 9 * * *" }));
    let messages: Vec<&Value> = planned.iter().map(|call| &call["message"]).collect();
    assert_eq!(messages, [&json!("tea"), &json!("drink")]);
    assert!(planned.iter().all(|call| call["action"] == "add" && call["cron_expr"] == "0 9 * * *"), "{planned:?}");
    assert_eq!(cron.written_out(&add)[0]["prompt"], "drink");
}

/// A run has a conversation that nobody reads: what is planned in it is told where the run itself reports.
// PICO-089 KAI-082 SEC-042
#[tokio::test]
async fn what_a_run_plans_is_told_where_the_run_reports() {
    let home = tempfile::tempdir().unwrap();
    let tasks = tasks(home.path()).await;
    let cron = cron::Cron::new(tasks.clone());
    let schedule = Schedule { name: "schedule_task", tasks: tasks.clone() };
    let places = ["a", "run-task-1-60", "run-heartbeat-5-news", "run-task-99-60", "mcp"];
    for place in places {
        let context = context(place, Trust::Owner);
        let reminder = json!({ "action": "add", "message": format!("in {place}"), "at_seconds": 60 });
        cron.run(&context, reminder).await.unwrap();
        let task = json!({ "description": place, "prompt": "look", "cron": "0 9 * * *" });
        schedule.run(&context, task).await.unwrap();
    }
    let planned = tasks.list_as(&Requester::owner(&tasks.host), None).await.unwrap().rows;
    let mut told: Vec<(i64, Option<String>)> =
        planned.iter().map(|task| (task.id.0, task.new.conversation.as_ref().map(ToString::to_string))).collect();
    told.sort();
    let told: Vec<Option<&str>> = told.iter().map(|(_, place)| place.as_deref()).collect();
    let (chat, reports) = (Some("a"), None);
    assert_eq!(told, [chat, chat, chat, chat, reports, reports, reports, reports, reports, reports]);
}
