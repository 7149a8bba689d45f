//! Spending limits: background work stops first, a person at their own cap, and the owner is told once.

use crate::kit::{Bench, all, last, text};
use jiff::ToSpan;
use limpid_core::FailureClass;
use limpid_runtime::{Agent, ChatRequest, Config, ConversationChoice, Outcome, TurnEvent};

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
