//! A llama.cpp server that nobody here wrote: `LIMPID_TEST_LLAMACPP=http://127.0.0.1:8080/v1 cargo test -- --ignored`.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use limpid_core::ToolProtocol;
use limpid_model::provider::find_servers_at;
use limpid_model::{ApiKey, Model, ModelCall, ModelEvent, Sampling, Settings, Timeouts, ToolUse, resolve};
use limpid_prompt::Inputs;
use support::{ask, call, inputs, prompt, second_turn, text, with_protocol};

/// The first model of the server, calling tools in this way.
async fn model(tools: ToolProtocol) -> Arc<dyn Model> {
    let url = std::env::var("LIMPID_TEST_LLAMACPP").unwrap();
    let servers = find_servers_at(&[("llamacpp".to_owned(), url.clone())]).await;
    let id = servers[0].models[0].clone();
    let mut settings = Settings {
        keys: [("openai".to_owned(), ApiKey::new("none"))].into(),
        base_urls: [("openai".to_owned(), url)].into(),
        timeouts: Timeouts { idle: Duration::from_secs(120), ..Timeouts::default() },
        cards: Vec::new(),
    };
    let name = format!("openai/{id}");
    let mut card = resolve(&name, &settings).unwrap().info().clone();
    card.tools = tools;
    settings.cards.push(card);
    resolve(&name, &settings).unwrap()
}

fn short(prompt: Arc<limpid_prompt::Prompt>) -> ModelCall {
    let sampling = Sampling { temperature: Some(0.0), seed: Some(1), max_output: Some(120), ..Sampling::default() };
    ModelCall { sampling, ..call(prompt) }
}

#[tokio::test]
#[ignore = "needs a server"]
async fn it_streams_text_and_counts() {
    for inputs in [inputs(), second_turn()] {
        let model = model(ToolProtocol::None).await;
        let (events, error) = ask(&*model, &short(prompt(&inputs))).await;
        assert_eq!(error, None);
        assert!(events.iter().filter(|event| matches!(event, ModelEvent::Text(_))).count() > 3, "{events:?}");
        assert!(events.iter().any(|event| matches!(event, ModelEvent::Usage(usage) if usage.input > 0)), "{events:?}");
        assert!(matches!(events.last(), Some(ModelEvent::End(_))));
    }
}

#[tokio::test]
#[ignore = "needs a server"]
async fn it_takes_native_tools_and_whatever_it_answers_is_understood() {
    let model = model(ToolProtocol::Native).await;
    for tools in [ToolUse::Auto, ToolUse::Must("tell_time".to_owned()), ToolUse::Never] {
        let (events, error) = ask(&*model, &ModelCall { tools, ..short(prompt(&second_turn())) }).await;
        assert_eq!(error, None, "{events:?}");
        assert!(matches!(events.last(), Some(ModelEvent::End(_))), "{events:?}");
    }
}

#[tokio::test]
#[ignore = "needs a server"]
async fn it_calls_a_tool_by_its_reply_form() {
    let model = model(ToolProtocol::Json).await;
    let asked = Inputs { user_message: "What time is it in Rome?".to_owned(), ..inputs() };
    let prompt = prompt(&with_protocol(asked, ToolProtocol::Json));
    let must = ModelCall { tools: ToolUse::Must("tell_time".to_owned()), ..short(Arc::clone(&prompt)) };
    let (events, error) = ask(&*model, &must).await;
    assert_eq!(error, None);
    let call = events.iter().find_map(|event| if let ModelEvent::Call(call) = event { Some(call) } else { None });
    assert_eq!(call.map(|call| call.name.as_str()), Some("tell_time"), "{events:?}");
    // Left to itself it calls or answers; either is no bare JSON.
    let (events, _) = ask(&*model, &short(prompt)).await;
    assert!(!text(&events).trim_start().starts_with('{'), "{events:?}");
}
