//! Tasks that agents plan, in whole turns: what runs first, whose they are, and where they are begun.

use limpid_core::{AgentLimits, AgentState, CallId, ConversationId, Labelled, Trust, TurnId};
use limpid_runtime::{Agent, ApprovalAnswer, ChatRequest, Config, ConversationChoice, TurnEvent};
use limpid_services::agents::Unheard;
use limpid_store::{AcceptedAgent, NewPlan, NewPlannedTask, NewSubAgent};
use limpid_testkit::Recorded;
use serde_json::json;

use crate::kit::agents::{Passed, agents, bench, calls, is_child, newest, notices, open, rested, says, talk};
use crate::kit::{PATIENCE, all, last};

/// The whole workflow: a worker plans, the coordinator starts the last task, those that it needs run first and at once.
// KOSHI-041 KOSHI-044
#[tokio::test]
async fn tasks_that_a_worker_planned_run_when_those_that_they_need_are_done() {
    for fails in [false, true] {
        let (bench, sent) = bench("koshi", move |request| {
            let (newest, text) = (newest(request), request.text());
            if is_child(request) && newest.contains("Plan it.") {
                calls(&[(
                    "plan_tasks",
                    json!({ "tasks": [
                        { "name": "brew", "task": "Brew.", "after": ["leaves", "water"] },
                        { "name": "leaves", "task": "Find leaves." },
                        { "name": "water", "task": "Boil water." },
                    ] }),
                )])
            } else if is_child(request) && newest.contains("\"planned\"") {
                says("Three tasks.")
            } else if is_child(request) && newest.contains("Boil water.") && fails {
                serde_json::from_value(json!({ "text": "Half", "finish": "length" })).unwrap()
            } else if is_child(request) && newest.starts_with("Brew.") {
                says("Tea.")
            } else if is_child(request) {
                // So that whoever started it is asked again while it works.
                serde_json::from_value(json!({ "text": format!("Did: {newest}"), "delay_ms": 300 })).unwrap()
            } else if newest.contains("Begin.") {
                calls(&[("spawn_agent", json!({ "task": "Plan it." }))])
            } else if text.contains("Three tasks.") && !text.contains("task 3 (brew)") {
                calls(&[("spawn_agent", json!({ "task_id": 3 }))])
            } else {
                says("Noted.")
            }
        })
        .await;
        let agent = open(&bench, &Passed::new(), &[]);
        talk(&agent, "Begin.").await;
        let planned = agent.agents().planned(None).await.unwrap();
        let states: Vec<(&str, &str)> =
            planned.iter().map(|one| (one.task.name.as_str(), one.state.as_str())).collect();
        let all = agents(&agent).await;
        let sent = sent.lock().unwrap().clone();
        let under_way = |one: &Recorded| one.system().contains("## Active Context");
        assert!(sent.iter().filter(|one| !is_child(one)).any(under_way), "it is written while it is under way");
        if fails {
            assert_eq!(states, [("leaves", "done"), ("water", "failed"), ("brew", "blocked")]);
            assert_eq!(all.len(), 3);
            continue;
        }
        assert_eq!(states, [("leaves", "done"), ("water", "done"), ("brew", "done")]);
        let brew = sent.iter().find(|one| is_child(one) && newest(one).starts_with("Brew.")).unwrap();
        let context = newest(brew);
        assert!(
            context.contains("leaves:\nDid: Find leaves.") && context.contains("water:\nDid: Boil water."),
            "{context}"
        );
        assert_eq!(all.iter().map(|one| one.state).collect::<Vec<_>>(), [AgentState::Done; 4]);
        assert!(!under_way(sent.iter().rfind(|one| !is_child(one)).unwrap()), "and gone when it has ended");
        assert_eq!(notices(&agent, &all[0]).await.len(), 4);
    }
}

// SEC-002 SEC-071 KOSHI-041
#[tokio::test]
async fn a_rule_about_a_skill_holds_a_plan_whose_tasks_follow_it() {
    for (skill, is_planned) in [("/Code-Review", false), ("deploy", true)] {
        let (mut bench, _) = bench("koshi", move |request| {
            let newest = newest(request);
            if is_child(request) && newest.contains("Plan it.") {
                let tasks = json!([{ "name": "leaves", "task": "Find leaves." }, { "name": "look", "task": "Look.", "skill": skill }]);
                calls(&[("plan_tasks", json!({ "tasks": tasks }))])
            } else if newest.contains("Begin.") {
                calls(&[("spawn_agent", json!({ "task": "Plan it." }))])
            } else {
                says("Noted.")
            }
        })
        .await;
        let rule = "[[policy.deny]]\ntool = \"load_skill\"\narguments = { name = \"code-review\" }\n";
        bench.config.policy = Config::parse(rule, "limpid.toml").unwrap().policy;
        for name in ["code-review", "deploy"] {
            let text = format!("---\nname: {name}\ndescription: How to\n---\nDo it.\n");
            bench.write(&format!("skills/{name}/SKILL.md"), &text);
        }
        let agent = open(&bench, &Passed::new(), &[]);
        talk(&agent, "Begin.").await;
        assert_eq!(!agent.agents().planned(None).await.unwrap().is_empty(), is_planned, "{skill}");
    }
}

/// What the owner planned is theirs: a stranger's text uses it up by their yes alone, and is then a part of it. What the stranger's text
/// has planned may start unasked.
// SEC-050 SEC-065 KOSHI-041
#[tokio::test]
async fn a_task_of_the_owners_that_a_strangers_text_has_started_waits_and_is_done_with_its_label() {
    let letter = || Labelled::outside("Start task 2.".to_owned());
    for (plans, answer, done) in [
        (Trust::Owner, ApprovalAnswer::Once, 2),
        (Trust::Owner, ApprovalAnswer::No, 0),
        (Trust::Outside, ApprovalAnswer::No, 2),
    ] {
        let (bench, _) = bench("koshi", |request| {
            let newest = newest(request);
            if is_child(request) && newest.contains("Plan it.") {
                let tasks = json!([{ "name": "leaves", "task": "Find leaves." }, { "name": "brew", "task": "Brew.", "after": ["leaves"] }]);
                calls(&[("plan_tasks", json!({ "tasks": tasks }))])
            } else if is_child(request) {
                says("It is done.")
            } else if newest.contains("Begin.") {
                calls(&[("spawn_agent", json!({ "task": "Plan it." }))])
            } else if newest.contains("Read this.") {
                calls(&[("spawn_agent", json!({ "task_id": 2 }))])
            } else {
                says("Noted.")
            }
        })
        .await;
        let agent = open(&bench, &Passed::new(), &[]);
        let handed_in = plans.is_foreign().then(letter);
        let handle = agent.chat(ChatRequest { handed_in, ..last("Begin.") }).await.unwrap();
        let chat = handle.conversation().clone();
        let ended = async || {
            let waiting = agent.conversations().wait_for_agents(&chat);
            tokio::time::timeout(PATIENCE, waiting).await.unwrap().unwrap();
        };
        all(handle).await;
        ended().await;
        let request = ChatRequest { handed_in: Some(letter()), can_answer: true, ..last("Read this.") };
        let mut handle = agent.chat(request).await.unwrap();
        let mut asked = Vec::new();
        while let Some(event) = tokio::time::timeout(PATIENCE, handle.next()).await.unwrap() {
            if let TurnEvent::ApprovalRequested { parts, .. } = &event {
                asked.extend(parts.iter().map(|part| (part.about.clone().unwrap_or_default(), part.pattern.clone())));
                parts.iter().for_each(|part| handle.answer(&part.id, answer));
            }
            if event.is_last() {
                break;
            }
        }
        ended().await;
        match &asked[..] {
            [] => assert!(plans.is_foreign(), "{answer:?}"),
            [(about, always), ..] => {
                assert!(!plans.is_foreign() && about.starts_with("this starts the tasks 1, 2; "), "{about}");
                assert_eq!(always, &None, "no lasting yes");
            }
        }
        let labels: Vec<Trust> = agents(&agent).await.iter().map(|one| one.new.trust).collect();
        assert_eq!(labels[0], plans, "whoever planned");
        assert_eq!(&labels[1..], &[Trust::Outside, Trust::Outside][..done], "{plans} {answer:?}");
        let planned = agent.agents().planned(None).await.unwrap();
        let left = if done > 0 { Trust::Outside } else { Trust::Owner };
        assert!(planned.len() == 2 && planned.iter().all(|one| one.task.trust == left), "{planned:?}");
    }
}

// KOSHI-044
#[tokio::test]
async fn tasks_that_wait_for_each_other_or_have_no_short_name_are_not_planned() {
    let circle = json!([{ "name": "a", "task": "A.", "after": ["b"] }, { "name": "b", "task": "B.", "after": ["a"] }]);
    let long = json!([{ "name": "é".repeat(61), "task": "A." }]);
    for (tasks, why) in [(circle, "wait for each other"), (long, "has more than 60 characters")] {
        let (bench, sent) = bench("koshi", move |request| {
            let newest = newest(request);
            if is_child(request) && newest.contains("Plan it.") {
                calls(&[("plan_tasks", json!({ "tasks": tasks }))])
            } else if newest.contains("Begin.") {
                calls(&[("spawn_agent", json!({ "task": "Plan it." }))])
            } else {
                says("Noted.")
            }
        })
        .await;
        let agent = open(&bench, &Passed::new(), &[]);
        talk(&agent, "Begin.").await;
        assert!(sent.lock().unwrap().iter().any(|one| newest(one).contains(why)), "{why}");
        assert!(agent.agents().planned(None).await.unwrap().is_empty());
    }
}

/// Relative paths of a plan mean files of the folder where it was wanted.
// SUR-034 KOSHI-044
#[tokio::test]
async fn a_queued_task_is_begun_in_the_folder_where_it_was_wanted() {
    for base in [None, Some("/repo")] {
        let (bench, _) = bench("koshi", |_| says("Noted.")).await;
        let agent = open(&bench, &Passed::new(), &[]);
        talk(&agent, "Hello.").await;
        let chat = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
        let turn = agent.store().messages(&chat, None).await.unwrap().rows[0].turn.clone();
        let task = NewPlannedTask {
            name: "notes".to_owned(),
            task: "Begin notes.md anew.".to_owned(),
            skill: None,
            context: None,
            needs: Vec::new(),
        };
        let plan = NewPlan {
            chat: chat.clone(),
            turn: turn.clone(),
            call: CallId::new("c"),
            tasks: vec![task],
            trust: Trust::Owner,
            now_ms: agent.now_ms(),
        };
        let planned = agent.store().keep_plan(plan).await.unwrap();
        agent.store().want_planned(&[planned[0].id], &turn, base, Trust::Owner).await.unwrap();
        agent.agents().start_queued(&chat).await.unwrap();
        assert_eq!(agents(&agent).await.len(), usize::from(base.is_none()), "{base:?}");
    }
}

/// As many agents of a message as may come of it on one side, all of which have ended.
async fn fill(agent: &Agent, chat: &ConversationId, turn: &TurnId, by_strangers: bool) {
    let limits = AgentLimits { live: 50, tokens: 1_000_000, a_day: None };
    for call in 0..16 {
        let new = NewSubAgent {
            conversation: chat.clone(),
            turn: turn.clone(),
            call: CallId::new(format!("fill {call}")),
            path: "worker".to_owned(),
            waited_for: true,
            label: "tea".to_owned(),
            task: format!("make tea {call}"),
            skill: None,
            context: None,
            tools: None,
            planned: None,
            continues: None,
            named: None,
            trust: if by_strangers { Trust::Outside } else { Trust::Owner },
            by_strangers,
            holder: "nobody".to_owned(),
            now_ms: agent.now_ms(),
        };
        let accepted = agent.store().accept_agent(new, limits).await.unwrap();
        let AcceptedAgent::Fresh(one) = accepted else { panic!("{accepted:?}") };
        let words = Labelled::new("tea".to_owned(), Trust::Owner);
        agent.agents().end(&one, AgentState::Done, words, String::new(), Unheard::IsTold).await.unwrap();
    }
}

/// However many agents strangers' texts have started, the owner's tasks start; and where a message has come to its own limit, its tasks
/// have not failed.
// SEC-093 SEC-102 KOSHI-044
#[tokio::test]
async fn a_full_message_holds_back_tasks_of_its_side_alone_and_a_later_one_starts_them() {
    for by_strangers in [true, false] {
        let (bench, sent) = bench("koshi", |request| {
            if !is_child(request) && newest(request).contains("Start it.") {
                calls(&[("spawn_agent", json!({ "task_id": 2 }))])
            } else {
                says("Noted.")
            }
        })
        .await;
        let agent = open(&bench, &Passed::new(), &[]);
        talk(&agent, "Hello.").await;
        let chat = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
        let turn = agent.store().messages(&chat, None).await.unwrap().rows[0].turn.clone();
        fill(&agent, &chat, &turn, by_strangers).await;
        let task = |name: &str, needs: &[usize]| NewPlannedTask {
            name: name.to_owned(),
            task: format!("{name} the train."),
            skill: None,
            context: None,
            needs: needs.to_vec(),
        };
        let plan = NewPlan {
            chat: chat.clone(),
            turn: turn.clone(),
            call: CallId::new("c"),
            tasks: vec![task("find", &[]), task("book", &[0])],
            trust: Trust::Owner,
            now_ms: agent.now_ms(),
        };
        let ids: Vec<_> = agent.store().keep_plan(plan).await.unwrap().iter().map(|task| task.id).collect();
        agent.store().want_planned(&ids, &turn, None, Trust::Owner).await.unwrap();
        let states = async || {
            let planned = agent.agents().planned(Some(&chat)).await.unwrap();
            planned.into_iter().map(|one| (one.state.as_str(), one.task.refusal)).collect::<Vec<_>>()
        };
        let done = [("done", None), ("done", None)];
        agent.agents().start_queued(&chat).await.unwrap();
        rested(&agent, &chat).await;
        if by_strangers {
            assert_eq!(states().await, done);
            continue;
        }
        let now = states().await;
        assert_eq!(now.iter().map(|(state, _)| *state).collect::<Vec<_>>(), ["queued", "waiting"]);
        let why = now[0].1.clone().unwrap();
        assert!(why.contains("start it again after another message"), "{why}");
        talk(&agent, "Start it.").await;
        assert_eq!(states().await, done);
        let sent = sent.lock().unwrap().clone();
        assert!(sent.iter().any(|one| is_child(one) && newest(one).contains("book the train.")), "with its own words");
    }
}
