//! Tries, waits and fallbacks, with scripted models and a clock that does not run.

use std::sync::Arc;

use crate::support::{ForEver, NoPause, call, card, collect, inputs, prompt};
use futures_util::StreamExt;
use limpid_core::{FailureClass, RetryPlan, ToolProtocol, UsableWindow, Usage};
use limpid_model::script::Script;
use limpid_model::{Ask, BackOffs, Chain, ChainEvent, Model, ModelCard, ModelError, ModelEvent, ScriptedModel};
use tokio_util::sync::CancellationToken;

/// A service with a name, a window and a script.
fn service(name: &str, change: impl FnOnce(&mut ModelCard), script: &str) -> Arc<ScriptedModel> {
    let mut card = ModelCard { id: name.to_owned(), ..card("s", ToolProtocol::Native) };
    change(&mut card);
    Arc::new(ScriptedModel::with_card(card, Script::parse(script).unwrap()))
}

fn plain(name: &str, script: &str) -> Arc<ScriptedModel> {
    service(name, |_| {}, script)
}

/// Everything that happens when these services are asked, one line an event, and the waits.
async fn run(services: &[Arc<ScriptedModel>], cancel: CancellationToken) -> String {
    let pause = NoPause::default();
    let services = services.iter().map(|service| Arc::clone(service) as Arc<dyn Model>).collect();
    let chain = Chain::new(services, RetryPlan::default(), Arc::new(pause.clone()));
    let call = call(prompt(&inputs()));
    let make = Arc::new(move |_: &ModelCard| Ok(Ask { call: call.clone(), tokens: 1000 }));
    let (events, error) = collect(chain.ask(make, cancel)).await;
    let mut lines: Vec<String> = events.iter().map(line).collect();
    lines.extend(error.map(|error| format!("error {}: {error}", error.class)));
    lines.push(format!("waits {:?}", pause.0.lock().unwrap()));
    lines.join("\n")
}

fn line(event: &ChainEvent) -> String {
    match event {
        ChainEvent::Request { service, attempt, prepared } => {
            assert!(prepared.body.contains("\"hi\""));
            format!("request {service} try {attempt}")
        }
        ChainEvent::Retry { service, error, wait } => format!("retry {service} {} in {wait:?}", error.class),
        ChainEvent::LeftAlone { service, wait } => format!("{service} is left alone for {wait:?}"),
        ChainEvent::Remedied { service, notice, .. } => format!("remedied {service}: {notice:?}"),
        ChainEvent::Fallback { service, error } => format!("fallback from {service}: {}: {error}", error.class),
        ChainEvent::Reply(event) => format!("{event:?}"),
    }
}

const RATE: &str = "[[reply]]\nstatus = 429\nbody = '{}'\n";
const GOOD: &str = "[[reply]]\ntext = \"fine\"\n";

// KAI-110
#[tokio::test]
async fn three_tries_then_the_next_service_which_is_named() {
    let services = [plain("a", RATE), plain("b", GOOD)];
    insta::assert_snapshot!(run(&services, CancellationToken::new()).await);
    assert_eq!(services[0].sent().len(), 3);
}

// KAI-110
#[tokio::test]
async fn a_passing_error_passes_and_a_wish_to_wait_is_kept_to() {
    let script = format!("{RATE}retry_after = 9\n{GOOD}");
    insta::assert_snapshot!(run(&[plain("a", &script)], CancellationToken::new()).await);
}

// KAI-111
#[tokio::test]
async fn what_cannot_pass_is_tried_once() {
    let bodies = [
        (402, "", FailureClass::Quota),
        (401, "", FailureClass::Key),
        (404, r#"{"error":{"code":"model_not_found"}}"#, FailureClass::UnknownModel),
        (400, "", FailureClass::Malformed),
        (413, "", FailureClass::TooLarge),
        (403, r#"{"error":{"message":"flagged"}}"#, FailureClass::Moderated),
        (400, r#"{"error":{"code":"context_length_exceeded"}}"#, FailureClass::Overflow),
    ];
    for (status, body, class) in bodies {
        let failing = plain("a", &format!("[[reply]]\nstatus = {status}\nbody = '{body}'\n"));
        let story = run(&[Arc::clone(&failing), plain("b", GOOD)], CancellationToken::new()).await;
        assert_eq!(failing.sent().len(), 1, "{class}");
        assert!(story.contains(&format!("fallback from s/a: {class}")), "{story}");
        assert!(story.contains("request s/b try 1\nText(\"fine\")"), "{story}");
    }
}

// KAI-111
#[tokio::test]
async fn a_window_that_is_too_small_is_skipped() {
    let small = service("small", |card| card.usable_window = Some(UsableWindow(999)), GOOD);
    insta::assert_snapshot!(run(&[Arc::clone(&small), plain("b", GOOD)], CancellationToken::new()).await);
    assert!(small.sent().is_empty());
}

// KAI-111
#[tokio::test]
async fn a_local_model_is_never_a_fallback_nor_covered_by_one() {
    let local = |name, script| service(name, |card| card.local = true, script);
    let alone = run(&[local("here", RATE), plain("b", GOOD)], CancellationToken::new()).await;
    assert!(!alone.contains("s/b") && alone.contains("error rate"), "{alone}");
    let never = run(&[plain("a", RATE), local("here", GOOD), plain("c", GOOD)], CancellationToken::new()).await;
    assert!(!never.contains("s/here") && never.contains("request s/c"), "{never}");
}

#[tokio::test]
async fn every_service_fails() {
    let services =
        [plain("a", "[[reply]]\nstatus = 401\nbody = '{}'"), plain("b", "[[reply]]\nstatus = 402\nbody = '{}'")];
    insta::assert_snapshot!(run(&services, CancellationToken::new()).await);
}

#[tokio::test]
async fn nothing_is_asked_again_once_something_was_said() {
    for script in ["[[reply]]\ntext = \"Half a\"\ncut = 3", "[[reply]]\nreasoning = \"Hm\"\ntext = \"x\"\ncut = 0"] {
        let services = [plain("a", script), plain("b", GOOD)];
        let story = run(&services, CancellationToken::new()).await;
        assert!(story.contains("error transport") && !story.contains("fallback"), "{story}");
        assert_eq!((services[0].sent().len(), services[1].sent().len()), (1, 0));
    }
}

// KAI-111
#[tokio::test]
async fn nothing_is_asked_after_a_cancel() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let services = [plain("a", GOOD), plain("b", GOOD)];
    let story = run(&services, cancel).await;
    assert!(story.contains("error cancelled") && !story.contains("s/b"), "{story}");
}

#[tokio::test]
async fn a_cancel_ends_a_wait() {
    let chain = Chain::new(vec![plain("a", RATE)], RetryPlan::default(), Arc::new(ForEver));
    let cancel = CancellationToken::new();
    let call = call(prompt(&inputs()));
    let mut stream =
        chain.ask(Arc::new(move |_: &ModelCard| Ok(Ask { call: call.clone(), tokens: 1 })), cancel.clone());
    while !matches!(stream.next().await, Some(Ok(ChainEvent::Retry { .. }))) {}
    cancel.cancel();
    assert_eq!(stream.next().await.unwrap().unwrap_err().class, FailureClass::Cancelled);
    assert!(stream.next().await.is_none());
}

// LES-126
#[tokio::test]
async fn a_call_says_that_it_waits_with_another_one_and_for_how_long_and_can_be_cancelled() {
    let back_offs = Arc::<BackOffs>::default();
    let model = plain("a", &format!("{RATE}retry_after = 30\n{GOOD}"));
    let chain = || {
        let chain = Chain::new(vec![Arc::clone(&model) as Arc<dyn Model>], RetryPlan::default(), Arc::new(ForEver));
        chain.sharing(Arc::clone(&back_offs))
    };
    let ask = |cancel| {
        let call = call(prompt(&inputs()));
        chain().ask(Arc::new(move |_: &ModelCard| Ok(Ask { call: call.clone(), tokens: 1 })), cancel)
    };
    let mut first = ask(CancellationToken::new());
    while !matches!(first.next().await, Some(Ok(ChainEvent::Retry { .. }))) {}
    let cancel = CancellationToken::new();
    let mut second = ask(cancel.clone());
    assert_eq!(line(&second.next().await.unwrap().unwrap()), "s/a is left alone for 30s");
    cancel.cancel();
    assert_eq!(second.next().await.unwrap().unwrap_err().class, FailureClass::Cancelled);
    let mut third = ask(CancellationToken::new());
    assert_eq!(line(&third.next().await.unwrap().unwrap()), "s/a is left alone for 30s");
    drop(first);
    assert_eq!(line(&third.next().await.unwrap().unwrap()), "request s/a try 1");
}

#[tokio::test]
async fn a_request_leaves_only_after_it_was_announced() {
    let model = plain("a", GOOD);
    let chain =
        Chain::new(vec![Arc::clone(&model) as Arc<dyn Model>], RetryPlan::default(), Arc::new(NoPause::default()));
    let call = call(prompt(&inputs()));
    let mut stream =
        chain.ask(Arc::new(move |_: &ModelCard| Ok(Ask { call: call.clone(), tokens: 1 })), CancellationToken::new());
    assert!(matches!(stream.next().await, Some(Ok(ChainEvent::Request { .. }))));
    assert!(model.sent().is_empty());
    assert!(matches!(stream.next().await, Some(Ok(ChainEvent::Reply(ModelEvent::Text(_))))));
    assert_eq!(model.sent().len(), 1);
}

#[tokio::test]
async fn a_call_that_cannot_be_made_for_one_service_may_be_for_the_next() {
    let services: Vec<Arc<dyn Model>> = vec![plain("a", GOOD), plain("b", GOOD)];
    let chain = Chain::new(services, RetryPlan::default(), Arc::new(NoPause::default()));
    let call = call(prompt(&inputs()));
    let make = move |card: &ModelCard| match card.id.as_str() {
        "a" => Err(ModelError::new(FailureClass::Overflow, "the parts do not fit")),
        _ => Ok(Ask { call: call.clone(), tokens: 1 }),
    };
    let (events, error) = collect(chain.ask(Arc::new(make), CancellationToken::new())).await;
    assert_eq!(error, None);
    assert_eq!(line(&events[0]), "fallback from s/a: overflow: the parts do not fit");
    assert_eq!(line(&events[1]), "request s/b try 1");
}

#[tokio::test]
async fn an_empty_chain_says_what_to_do() {
    assert_eq!(
        run(&[], CancellationToken::new()).await,
        "error unknown-model: there is no model to ask; set one with --model or LIMPID_MODEL\nwaits []"
    );
}

/// Waits no time; every wait lies further along its range than the one before.
#[derive(Default)]
struct Spread(NoPause, std::sync::atomic::AtomicU32);

impl limpid_model::Pause for Spread {
    fn pause(&self, time: std::time::Duration) -> futures_util::future::BoxFuture<'static, ()> {
        self.0.pause(time)
    }

    fn spread(&self) -> f64 {
        f64::from(self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) / 50.0
    }
}

// MOD-101
#[tokio::test]
async fn many_turns_at_one_limit_come_back_one_after_the_other() {
    let pause = Arc::new(Spread::default());
    for _ in 0..50 {
        let services: Vec<Arc<dyn Model>> = vec![plain("a", &format!("{RATE}{GOOD}"))];
        let chain = Chain::new(services, RetryPlan::default(), Arc::<Spread>::clone(&pause));
        let call = call(prompt(&inputs()));
        let make = Arc::new(move |_: &ModelCard| Ok(Ask { call: call.clone(), tokens: 1 }));
        assert_eq!(collect(chain.ask(make, CancellationToken::new())).await.1, None);
    }
    let waits = pause.0.0.lock().unwrap().clone();
    assert!(waits.is_sorted_by(|one, next| one < next) && waits[0] == 1000 && waits[49] <= 1500, "{waits:?}");
}

#[test]
fn real_waits_differ() {
    let drawn: Vec<f64> = (0..50).map(|_| limpid_model::Pause::spread(&limpid_model::RealPause)).collect();
    assert!(drawn.iter().all(|spread| (0.0..=1.0).contains(spread)));
    assert!(drawn.iter().any(|spread| (spread - drawn[0]).abs() > 0.01));
}

// MOD-100
#[tokio::test]
async fn a_limit_of_ten_minutes_goes_to_the_next_model_at_once_or_says_when_to_try_again() {
    let limited = format!("{RATE}retry_after = 600\n");
    let story = run(&[plain("a", &limited), plain("b", GOOD)], CancellationToken::new()).await;
    assert!(story.contains("request s/b try 1") && story.ends_with("waits []"), "{story}");
    let alone = run(&[plain("a", &limited)], CancellationToken::new()).await;
    assert!(alone.contains("Try again in 10 minutes") && alone.ends_with("waits []"), "{alone}");
}

/// What Claude sends when it refuses, after these words.
fn refusal(words: &str) -> String {
    let text = if words.is_empty() {
        String::new()
    } else {
        format!(
            "data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{{\"type\":\"text\",\"text\":\"{words}\"}}}}\n\n"
        )
    };
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"The request could enable an attack."}},"usage":{"input_tokens":9,"output_tokens":4}}"#;
    format!("[[reply]]\ncontent_type = \"text/event-stream\"\nraw = '''{text}data: {end}\n\n'''\n")
}

// MOD-084
#[tokio::test]
async fn a_refusal_names_its_category_and_goes_to_the_next_service_also_within_the_text() {
    for words in ["", "First you take"] {
        let claude = limpid_testkit::Recorder::start(Script::parse(&refusal(words)).unwrap()).await.unwrap();
        let claude =
            Arc::new(crate::support::remote("anthropic", &claude.url(), ToolProtocol::Native)) as Arc<dyn Model>;
        let next = plain("b", GOOD) as Arc<dyn Model>;
        for (services, ends_well) in [(vec![claude.clone(), next], true), (vec![claude], false)] {
            let chain = Chain::new(services, RetryPlan::default(), Arc::new(NoPause::default()));
            let call = call(prompt(&inputs()));
            let make = Arc::new(move |_: &ModelCard| Ok(Ask { call: call.clone(), tokens: 1000 }));
            let (events, error) = collect(chain.ask(make, CancellationToken::new())).await;
            let fallback = events.iter().find_map(|event| match event {
                ChainEvent::Fallback { error, .. } => Some(error.clone()),
                _ => None,
            });
            assert_eq!((fallback.is_some(), error.is_none()), (ends_well, ends_well));
            let refusal = fallback.or(error).unwrap();
            assert_eq!(refusal.class, FailureClass::Moderated);
            assert_eq!(
                refusal.message,
                "anthropic/m-1 refused to answer (cyber): “The request could enable an attack”. Put it differently, or \
                 choose another model."
            );
            let usage = ModelEvent::Usage(Usage { input: 9, output: 4, ..Usage::default() });
            assert!(
                events.iter().any(|event| matches!(event, ChainEvent::Reply(reply) if *reply == usage)),
                "{events:?}"
            );
        }
    }
}
