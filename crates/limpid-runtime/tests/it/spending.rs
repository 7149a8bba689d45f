//! Spending limits: background work stops first, a person at their own cap, and the owner is told once.

use crate::kit::agents::{self, Passed, is_child, newest, open, talk};
use crate::kit::effects::EffectTool;
use crate::kit::tasks::reminder;
use crate::kit::{Bench, all, last, text};
use jiff::ToSpan;
use limpid_core::task::TaskKind;
use limpid_core::{ConversationId, FailureClass};
use limpid_runtime::tasks::{TaskRequest, When};
use limpid_runtime::{Agent, ChatRequest, Config, ConversationChoice, Outcome, TurnEvent};
use serde_json::{Value, json};

/// Every answer is counted with 100 tokens.
const SCRIPT: &str = "[[reply]]\ntext = \"Done.\"\nusage = { input = 90, output = 10 }\n";

async fn bench(limits: &str) -> Bench {
    let mut bench = Bench::new(SCRIPT).await;
    let config = format!("model = \"openai/scripted\"\n[owner]\nzone = \"Europe/Berlin\"\n[limits]\n{limits}");
    bench.config = Config::parse(&config, "limpid.toml").unwrap();
    bench
}

/// The class of the failure of one run on a path, if it failed.
async fn run(agent: &Agent, path: Option<&str>) -> Option<(FailureClass, String)> {
    let request = ChatRequest { path: path.map(str::to_owned), conversation: ConversationChoice::New, ..last("go") };
    let events = all(agent.chat(request).await.unwrap()).await;
    match events.last().unwrap() {
        TurnEvent::Done { outcome: Outcome::Failed { class, message }, .. } => Some((*class, message.clone())),
        _ => {
            assert_eq!(text(&events), "Done.");
            None
        }
    }
}

// LES-015 SEC-043
#[tokio::test]
async fn at_its_cap_background_work_stops_and_the_chat_goes_on_and_the_owner_is_told_once() {
    let bench = bench("background_tokens_per_day = 200").await;
    let agent = bench.agent();
    for _ in 0..2 {
        assert_eq!(run(&agent, Some("task")).await, None);
    }
    for path in ["heartbeat", "task", "heartbeat"] {
        let (class, message) = run(&agent, Some(path)).await.unwrap();
        assert_eq!(class, FailureClass::Limit);
        assert!(message.starts_with("the limit background_tokens_per_day of limpid.toml is reached: 200"), "{message}");
    }
    assert_eq!(run(&agent, None).await, None, "the chat goes on");
    assert_eq!(bench.server.calls().len(), 3, "what is refused is not sent");
    drop(agent);

    let agent = bench.agent();
    assert!(run(&agent, Some("heartbeat")).await.is_some(), "a restart changes nothing");
    agent.conversations().deliver_waiting().await.unwrap();
    let told = agent.deliveries().unread().await.unwrap().rows;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].new.title, "Spending limit");
    let limits = agent.spending().limits().await.unwrap();
    assert_eq!(limits.iter().map(|state| state.used.number()).collect::<Vec<_>>(), [200]);

    // The owner's midnight, not that of UTC.
    bench.clock.forward(11.hours());
    assert_eq!(run(&agent, Some("task")).await, None, "the next day");
}

// LES-015 SEC-043
#[tokio::test]
async fn the_day_ends_for_background_work_before_it_ends_for_a_person() {
    let bench = bench("tokens_per_day = 400").await;
    let agent = bench.agent();
    for _ in 0..3 {
        assert_eq!(run(&agent, None).await, None);
    }
    assert!(run(&agent, Some("task")).await.is_some(), "three quarters are gone");
    assert_eq!(run(&agent, None).await, None);
    let (class, message) = run(&agent, None).await.unwrap();
    assert_eq!(class, FailureClass::Limit);
    assert!(message.contains("tokens_per_day of limpid.toml is reached: 400 tokens of 400"), "{message}");
    assert_eq!(bench.server.calls().len(), 4);
}

// LES-015 SEC-043
#[tokio::test]
async fn a_path_and_a_run_have_limits_of_their_own() {
    let bench = bench("path = { task = { tokens_per_day = 100 } }\n").await;
    let agent = bench.agent();
    assert_eq!(run(&agent, Some("task")).await, None);
    assert!(run(&agent, Some("task")).await.unwrap().1.contains("path.task.tokens_per_day"));
    assert_eq!(run(&agent, None).await, None, "the other paths go on");

    let looking = "[[reply]]\ncalls = [{ name = \"get_local_time\" }]\nusage = { input = 90, output = 10 }\n";
    let mut bench = Bench::new(looking).await;
    bench.config.limits.tokens_per_run = Some(300);
    let (class, message) = run(&bench.agent(), None).await.unwrap();
    assert_eq!((class, bench.server.calls().len()), (FailureClass::Limit, 3));
    assert!(message.contains("tokens_per_run of limpid.toml is reached: 300"), "{message}");
}

// SEC-043
#[tokio::test]
async fn money_counts_where_prices_are_known() {
    let bench = bench("dollars_per_day = 0.001").await;
    let prices = "[[model]]\nnames = [\"openai/scripted\"]\nwindow = 32000\nprice = { input = 10.0, cached = 10.0, output = 10.0 }\n";
    bench.write("models.toml", prices);
    let agent = bench.agent();
    assert_eq!(run(&agent, None).await, None);
    let (_, message) = run(&agent, None).await.unwrap();
    assert!(message.contains("dollars_per_day of limpid.toml is reached: $0.001000 of $0.001000"), "{message}");
}

/// Whoever writes to a program of the owner's has half of a day, and what the owner planned has what is left for the background.
// SEC-043 SEC-102
#[tokio::test]
async fn guests_use_up_half_of_a_day_and_the_owners_task_runs() {
    let bench = bench("tokens_per_day = 500").await;
    let agent = bench.agent();
    let task = TaskRequest { kind: TaskKind::Agent, ..reminder("look at tea", When::In(60)) };
    agent.tasks().add(task).await.unwrap();
    let shop = ConversationId::new("shop");
    agent.directory().create_chat_for_strangers(shop.clone(), "picoclaw".to_owned()).await.unwrap();
    let guests = || ChatRequest {
        conversation: ConversationChoice::Id(shop.clone()),
        by_stranger: true,
        ..last("what is the price?")
    };
    for _ in 0..3 {
        assert_eq!(text(&all(agent.chat(guests()).await.unwrap()).await), "Done.");
    }
    let refused = agent.chat(guests()).await.err().unwrap().to_string();
    let half =
        "tokens_per_day (the half for other people's messages) of limpid.toml is reached: 300 tokens of 250 tokens";
    assert!(refused.contains(half), "{refused}");
    agent.jobs().run_task("1").await.unwrap();
    assert_eq!(run(&agent, None).await, None, "the chat goes on");
    assert_eq!(bench.server.calls().len(), 5);
}

/// An agent that a page had started in a chat of the owner's has half of a day too, and the chat goes on.
// SEC-043 SEC-102
#[tokio::test]
async fn an_agent_that_a_strangers_text_started_uses_up_half_of_a_day() {
    let (mut bench, sent) = agents::bench("mine", |request| {
        let newest = newest(request);
        let call = |name: &str, arguments: Value| json!({ "calls": [{ "name": name, "arguments": arguments }] });
        let (mut reply, tokens) = if is_child(request) {
            (call("read_page", json!({})), 3000)
        } else if newest.contains("Begin.") {
            (call("read_page", json!({})), 10)
        } else if newest.contains("read_page done") && !request.text().contains("Burn it.") {
            (call("spawn_agent", json!({ "task": "Burn it.", "run_in_background": false })), 10)
        } else {
            (json!({ "text": "Noted." }), 10)
        };
        reply["usage"] = json!({ "input": tokens, "output": 1 });
        serde_json::from_value(reply).unwrap()
    })
    .await;
    bench.write("profiles/mine/profile.toml", "title = \"Mine\"\nbase = \"picoclaw\"\n[tools]\nwithout = [\"cron\"]\n");
    (bench.config.limits.tokens_per_day, bench.config.tools.defer) = (Some(10_000), false);
    let page = EffectTool::outside("read_page");
    let agent = open(&bench, &Passed::new(), &[&page]);
    assert_eq!(text(&talk(&agent, "Begin.").await), "Noted.");
    let asked = sent.lock().unwrap().iter().filter(|request| is_child(request)).count();
    assert_eq!(asked, 2, "{:?}", agents::agents(&agent).await);
    assert_eq!(text(&talk(&agent, "And now?").await), "Noted.");
}
