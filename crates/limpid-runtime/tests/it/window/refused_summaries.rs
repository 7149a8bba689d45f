//! Summaries that a provider refuses while it answers everything else.

use std::sync::{Arc, Mutex};

use limpid_model::script::{Pieces, Reply};
use limpid_runtime::{Agent, EventKind, Outcome};
use limpid_testkit::{Recorded, Recorder};

use super::{bench, events_of, outcome, question};
use crate::kit::say;

/// Every summary that was asked for, by the model that was asked.
type Asked = Arc<Mutex<Vec<String>>>;

/// Answers as a model that is asked for a message; who refuses summaries is named.
fn answer(request: &Recorded, refusing: &[&str], asked: &Asked) -> Reply {
    let body = request.json();
    let model = body["model"].as_str().unwrap_or_default().to_owned();
    if !request.text().contains("Summarise this part") {
        let text = format!("Noted: {}", "some words of an answer, ".repeat(12));
        return Reply { text: Pieces(vec![text]), ..Reply::default() };
    }
    asked.lock().unwrap().push(model.clone());
    if refusing.contains(&model.as_str()) {
        let body = r#"{"error":{"message":"this deployment writes no summaries"}}"#.to_owned();
        return Reply { status: Some(400), body, ..Reply::default() };
    }
    Reply { text: Pieces(vec!["They talk about this and that; the port is 8080.".to_owned()]), ..Reply::default() }
}

/// Talks until the window was compacted; what was asked, the steps of the compactions, and the failures that were told.
async fn talk(refusing: &'static [&'static str]) -> (Vec<String>, Vec<String>, usize) {
    let asked = Asked::default();
    let heard = Arc::clone(&asked);
    let server = Recorder::answering(move |request| answer(request, refusing, &heard)).await.unwrap();
    let mut bench = bench().await;
    bench.config.fallback = vec!["ollama/second".to_owned()];
    bench.config.memory.enabled = false;
    let models = ["openai/scripted", "ollama/second"]
        .map(|name| format!("[[model]]\nnames = [\"{name}\"]\nwindow = 4096\ntools = \"json\"\n"));
    bench.write("models.toml", &models.concat());
    let mut options = bench.options();
    let variables = [("OPENAI_BASE_URL", format!("{}/v1", server.url())), ("OLLAMA_HOST", server.url())];
    options.environment = limpid_runtime::Environment::new(variables.map(|(name, value)| (name.to_owned(), value)));
    let agent = Agent::open(options).unwrap();
    let mut bus = agent.subscribe();
    for n in 1..=25 {
        let events = say(&agent, &question(n)).await;
        assert!(matches!(outcome(&events), Outcome::Answered { .. }), "{n}: {:?}", outcome(&events));
    }
    let mut failures = 0;
    while let Ok(event) = bus.try_recv() {
        failures += usize::from(matches!(event.change, EventKind::CompactionFailed { .. }));
    }
    let steps = events_of(&agent).await.into_iter().flat_map(|event| event.new.steps).collect();
    let asked = asked.lock().unwrap().clone();
    (asked, steps, failures)
}

// MOD-106 LES-079
#[tokio::test]
async fn the_fallback_is_asked_for_a_summary_before_history_is_cut_without_one() {
    let (asked, steps, failures) = talk(&["scripted"]).await;
    assert!(asked.len() >= 2 && asked.chunks(2).all(|pair| pair == ["scripted", "second"]), "{asked:?}");
    assert!(!steps.iter().any(|step| step.contains("without a model")), "{steps:?}");
    assert_eq!(failures, 0);
}

// MOD-106 LES-078 LES-079
#[tokio::test]
async fn a_summary_that_nobody_writes_is_told_with_cause_and_class() {
    let (asked, steps, _) = talk(&["scripted", "second"]).await;
    assert!(asked.contains(&"second".to_owned()), "{asked:?}");
    assert!(steps.iter().any(|step| step.contains("without a model")), "{steps:?}");
    let causes: Vec<&String> = steps.iter().filter(|step| step.contains("writes no summaries")).collect();
    assert!(!causes.is_empty() && causes.iter().all(|step| step.contains("malformed: ")), "{steps:?}");
}
