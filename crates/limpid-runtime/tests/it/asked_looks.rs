//! What whoever is asked about a look is told of what its arguments name by a number alone.

use std::sync::Arc;

use limpid_core::{AgentId, CallId, Trust};
use limpid_runtime::inbox::IngestKind;
use limpid_runtime::{
    Agent, AgentOptions, ApprovalAnswer, ChangeOutcome, ChatRequest, Config, ConversationChoice, Tool, TurnEvent,
};
use limpid_store::{Audience, NewPlan, NewPlannedTask};
use serde_json::json;

use crate::kit::agents::{Passed, agents, bench as agent_bench, calls, is_child, newest, open, says, talk};
use crate::kit::effects::EffectTool;
use crate::kit::{Bench, Once, PATIENCE, all, last, say, to_newest};

/// The names of the tools that were asked about, with what each call was about; `before` is done before each answer.
async fn asked(agent: &Agent, text: &str, before: impl AsyncFn()) -> Vec<(String, String)> {
    let mut turn = agent.chat(ChatRequest { can_answer: true, ..to_newest(agent, text).await }).await.unwrap();
    let mut asked = Vec::new();
    while let Some(event) = tokio::time::timeout(PATIENCE, turn.next()).await.unwrap() {
        if let TurnEvent::ApprovalRequested { parts, .. } = &event {
            before().await;
            // The third time is one too many.
            let answer = if asked.len() < 2 { ApprovalAnswer::Once } else { ApprovalAnswer::No };
            for part in parts {
                asked.push((part.name.clone(), part.about.clone().unwrap_or_default()));
                turn.answer(&part.id, answer);
            }
        }
        if event.is_last() {
            break;
        }
    }
    asked
}

// SEC-065 SEC-077
#[tokio::test]
async fn a_message_that_is_read_by_its_number_is_named_where_it_waits() {
    let script = r#"
[[reply]]
text = "Hello."
[[reply]]
calls = [{ id = "a", name = "read_page" }]
[[reply]]
calls = [{ id = "b", name = "read_sms", arguments = { id = "i2" } }]
[[reply]]
calls = [{ id = "c", name = "read_notification", arguments = { id = "i3" } }]
[[reply]]
text = "Done."
"#;
    for audience in [Audience::Group, Audience::Owner] {
        let mut bench = Bench::new(script).await;
        (bench.config.inbox.sms, bench.config.inbox.notifications) = (true, true);
        let mut options = bench.options();
        options.tools = [EffectTool::outside("read_page") as Arc<dyn Tool>].into();
        let agent = Agent::open(options).unwrap();
        for (kind, from, text) in [
            (IngestKind::Sms, "+49170111", "Lunch at noon? Ada"),
            (IngestKind::Sms, "BANK", "Your TAN is\n991122"),
            (IngestKind::Notification, "Bank", "Card used"),
        ] {
            let object = json!({ "from": from, "text": text }).to_string();
            agent.inbox().ingest(kind, object.as_bytes(), None).await.unwrap();
        }
        say(&agent, "hi").await;
        let chat = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
        agent.conversations().set_audience(&chat, audience).await.unwrap();
        let asked = asked(&agent, "read the page and what Ada wrote", async || {}).await;
        if audience == Audience::Owner {
            assert!(asked.is_empty(), "where nobody else reads it runs unasked: {asked:?}");
            continue;
        }
        let [(sms, about), (notification, of)] = &asked[..] else { panic!("{asked:?}") };
        assert_eq!((sms.as_str(), notification.as_str()), ("read_sms", "read_notification"));
        assert_eq!(about, "sms i2, which a stranger wrote, from BANK: Your TAN is 991122");
        assert!(
            of.starts_with("notification i3, which a stranger wrote, from Bank") && of.ends_with("Card used"),
            "{of}"
        );
    }
}

// SEC-065 SEC-077 KOSHI-041
#[tokio::test]
async fn the_result_of_an_agent_that_is_read_by_its_number_is_named_where_it_waits() {
    let (bench, _) = agent_bench("limpid", |request| {
        let newest = newest(request);
        if is_child(request) {
            says("It is 4711.")
        } else if newest.contains("Begin.") {
            calls(&[("spawn_agent", json!({ "task": "Find my PIN.", "run_in_background": false }))])
        } else if newest.contains("Read the page.") {
            calls(&[("read_page", json!({}))])
        } else if newest.contains("read_page done") {
            calls(&[("read_file", json!({ "path": "agent:1" }))])
        } else {
            says("Noted.")
        }
    })
    .await;
    let agent = open(&bench, &Passed::new(), &[&EffectTool::outside("read_page")]);
    talk(&agent, "Begin.").await;
    assert_eq!(agents(&agent).await[0].id, AgentId(1));
    let chat = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
    agent.conversations().set_audience(&chat, Audience::Group).await.unwrap();
    let asked = asked(&agent, "Read the page.", async || {}).await;
    let about = "the result of agent 1, Find my PIN.: Find my PIN.";
    assert_eq!(asked, [("read_file".to_owned(), about.to_owned())]);
}

/// The yes is to what is shown: where another task would start with it, it is asked anew.
// SEC-075 SEC-077 KOSHI-041
#[tokio::test]
async fn a_question_about_a_planned_task_shows_every_task_that_starts() {
    let (mut bench, _) = agent_bench("koshi", |request| {
        if !is_child(request) && newest(request).contains("Start it.") {
            calls(&[("spawn_agent", json!({ "task_id": 2 }))])
        } else {
            says("Noted.")
        }
    })
    .await;
    let rule = "[[policy.ask]]\ntool = \"spawn_agent\"\n";
    bench.config.policy = Config::parse(rule, "limpid.toml").unwrap().policy;
    let agent = open(&bench, &Passed::new(), &[]);
    talk(&agent, "Begin.").await;
    let chat = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
    let turn = agent.store().messages(&chat, None).await.unwrap().rows[0].turn.clone();
    let task = |name: &str, task: &str, needs: &[usize]| NewPlannedTask {
        name: name.to_owned(),
        task: task.to_owned(),
        skill: None,
        context: Some("Green ones.".to_owned()),
        needs: needs.to_vec(),
    };
    let tasks = vec![task("leaves", "Find leaves.", &[]), task("brew", "Brew.", &[0])];
    let plan = NewPlan { chat, turn: turn.clone(), call: CallId::new("c"), tasks, trust: Trust::Outside, now_ms: 0 };
    let planned = agent.store().keep_plan(plan).await.unwrap();
    let started = async || {
        agent.store().want_planned(&[planned[0].id], &turn, None, Trust::Owner).await.unwrap();
    };
    let asked = asked(&agent, "Start it.", started).await;
    let of =
        |number: u8, words: &str| format!("task {number}, planned, which a stranger had a part in, {words}; it is");
    let [(_, first), (_, second), ..] = &asked[..] else { panic!("{asked:?}") };
    assert!(first.starts_with("this starts the tasks 1, 2; "), "{first}");
    for words in [of(1, "leaves: Find leaves."), of(2, "brew: Brew."), "it is told: Green ones.".to_owned()] {
        assert!(first.contains(&words), "{first}");
    }
    // The first task starts no more, and is named all the same: what it comes to is handed on.
    let by = "which a stranger had a part in";
    let given = format!("it is given what these come to: task 1, queued, {by}, leaves: Find leaves.");
    assert_eq!(second, &format!("task 2, planned, {by}, brew: Brew.; {given}; it is told: Green ones."));
}

/// What is typed while an answer is under way holds for the rest of it, also where the program ends before that.
// SEC-065
#[tokio::test]
async fn others_read_from_the_moment_in_which_it_is_said() {
    let script = "[[reply]]\ncalls = [{ name = \"once\", arguments = {} }]\n[[reply]]\ntext = \"Done.\"\n";
    let bench = Bench::new(script).await;
    let once = Once::new();
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::clone(&once) as _];
    let agent = Agent::open(AgentOptions { tools, ..bench.options() }).unwrap();
    let handle = agent.chat(last("hi")).await.unwrap();
    once.running.acquire().await.unwrap().forget();
    let chat = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
    let audience = async || agent.store().conversation(&chat).await.unwrap().unwrap().audience;
    let set = async |audience| agent.conversations().set_audience(&chat, audience).await.unwrap();
    assert!(matches!(set(Audience::Group).await, ChangeOutcome::Applied(_)));
    assert_eq!(audience().await, Audience::Group);
    assert_eq!(set(Audience::Owner).await, ChangeOutcome::Deferred);
    assert_eq!(audience().await, Audience::Group, "what loosens it waits for the end");
    once.go_on.add_permits(1);
    all(handle).await;
    agent.conversations().wait_idle(&chat).await;
    assert_eq!(audience().await, Audience::Owner);
}
