//! Prompts and models for tests: a profile of one path, so that no shipped text stands in a snapshot.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{BoxFuture, FutureExt};
use limpid_core::{CacheLife, ToolProtocol, UsableWindow, WindowSize};
use limpid_model::{
    Abilities, Endpoint, ForcedTools, Model, ModelCall, ModelCard, ModelError, ModelEvent, Pause, Reasoning,
    RemoteModel, ReplyForm, Sampling, Timeouts, ToolUse,
};
use limpid_prompt::inputs::{CallInput, HistoryMessage, Quoted, RoleName, ToolInput, ToolProtocolName, TrustName};
use limpid_prompt::source::SourceFile;
use limpid_prompt::{Estimate, Inputs, Profiles, Prompt, RenderRequest};
use serde_json::json;
use tokio_util::sync::CancellationToken;

const PROFILE: &str = r#"
title = "Test"
about = "A profile for tests."

[path.chat-remote]
about = "Chat."
messages = [
  { role = "system", sections = ["rules"] },
  { splice = "history" },
  { role = "user", sections = ["said"] },
]
"#;

/// Renders the test profile.
pub(crate) fn prompt(inputs: &Inputs) -> Arc<Prompt> {
    let section =
        |body: &str, stability: &str| format!("---\ntitle: T\nwhy: For a test.\nstability: {stability}\n---\n{body}\n");
    let mut files = limpid_prompt::profile::shipped_files();
    files.extend([
        SourceFile::shipped("test/profile.toml", PROFILE),
        SourceFile::shipped("test/sections/rules.md", section("Be \"brief\".\nÄlways.", "fixed")),
        SourceFile::shipped("test/sections/said.md", section("{{ user_message }}", "turn")),
    ]);
    let profiles = Profiles::load(files);
    let profile = profiles.get("test").unwrap();
    let counter = Estimate::default();
    let request = RenderRequest { path: "chat-remote", inputs, counter: &counter, count_tokens: false };
    Arc::new(profile.render(request).unwrap())
}

/// The first turn: "hi", with two tools.
pub(crate) fn inputs() -> Inputs {
    Inputs {
        user: Some(Quoted::new("hi", TrustName::Owner)),
        tools: vec![tool("look_up", "query"), tool("tell_time", "zone")],
        ..Inputs::default()
    }
}

/// The next turn, after a call with its result and an answer.
pub(crate) fn second_turn() -> Inputs {
    let said = |role, content: &str| HistoryMessage {
        role,
        content: content.to_owned(),
        ..HistoryMessage::by(TrustName::Owner)
    };
    let call = |id: &str, name: &str, arguments: &str| CallInput {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
    };
    let result =
        |id: &str, content: &str| HistoryMessage { call_id: Some(id.to_owned()), ..said(RoleName::Tool, content) };
    let calls = vec![call("call:1", "look_up", r#"{"query":"tea"}"#), call("call:2", "tell_time", "{broken")];
    Inputs {
        history: vec![
            said(RoleName::User, "hi"),
            HistoryMessage { calls, ..said(RoleName::Assistant, "Looking.") },
            result("call:1", "Green tea."),
            result("call:2", "bad JSON"),
            said(RoleName::Assistant, "You like \"green\" tea."),
        ],
        user: Some(Quoted::new("and coffee?", TrustName::Owner)),
        ..inputs()
    }
}

pub(crate) fn tool(name: &str, argument: &str) -> ToolInput {
    let schema = json!({"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]});
    let schema = schema.as_object().unwrap().clone();
    ToolInput {
        name: name.to_owned(),
        group: "test".to_owned(),
        description: format!("About {argument}."),
        schema: schema.into(),
        ..ToolInput::default()
    }
}

/// A call with nothing special.
pub(crate) fn call(prompt: Arc<Prompt>) -> ModelCall {
    ModelCall {
        prompt,
        sampling: Sampling::default(),
        reasoning: Reasoning::default(),
        reply: ReplyForm::Text,
        tools: ToolUse::Auto,
        conversation: None,
        cache: CacheLife::Minutes,
    }
}

/// A model of which the window is known.
pub(crate) fn card(provider: &str, tools: ToolProtocol) -> ModelCard {
    ModelCard {
        provider: provider.to_owned(),
        id: "m-1".to_owned(),
        window: Some(WindowSize(8192)),
        usable_window: Some(UsableWindow(6963)),
        tools,
        abilities: Abilities { sampling: Some(true), forced_tools: Some(ForcedTools::Always), ..Abilities::default() },
        ..ModelCard::default()
    }
}

/// Inputs for a model whose calls are obtained in this way.
pub(crate) fn with_protocol(inputs: Inputs, tools: ToolProtocol) -> Inputs {
    let mut inputs = inputs;
    inputs.model.tool_protocol = ToolProtocolName::from(tools);
    inputs
}

/// A provider's endpoint at an address, that may be silent for `idle_ms`.
pub(crate) fn endpoint(provider: &str, url: &str, idle_ms: u64) -> Endpoint {
    let settings = limpid_model::Settings {
        keys: [(provider.to_owned(), limpid_model::ApiKey::new("sk-test-secret"))].into(),
        base_urls: [(provider.to_owned(), url.to_owned())].into(),
        timeouts: Timeouts { connect: Duration::from_secs(5), idle: Duration::from_millis(idle_ms) },
        ..limpid_model::Settings::default()
    };
    limpid_model::provider::endpoint(provider, "m-1", &settings).unwrap()
}

/// A model of a provider behind a recording server.
pub(crate) fn remote(provider: &str, url: &str, tools: ToolProtocol) -> RemoteModel {
    RemoteModel::new(card(provider, tools), endpoint(provider, url, 5_000)).unwrap()
}

/// Prepares and sends a call, and collects what comes back.
pub(crate) async fn ask(model: &dyn Model, call: &ModelCall) -> (Vec<ModelEvent>, Option<ModelError>) {
    let prepared = model.prepare(call).unwrap();
    collect(model.send(prepared, CancellationToken::new())).await
}

/// Everything that a stream gives, and the error that it ended with.
pub(crate) async fn collect<E>(
    stream: impl futures_util::Stream<Item = Result<E, ModelError>>,
) -> (Vec<E>, Option<ModelError>) {
    let mut events = Vec::new();
    let mut stream = std::pin::pin!(stream);
    while let Some(item) = stream.next().await {
        match item {
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(stream.next().await.is_none(), "an error ends the stream");
                return (events, Some(error));
            }
        }
    }
    (events, None)
}

/// Waits no time and remembers how long it was asked to, in milliseconds.
#[derive(Clone, Default)]
pub(crate) struct NoPause(pub(crate) Arc<Mutex<Vec<u128>>>);

impl Pause for NoPause {
    fn pause(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.0.lock().unwrap().push(time.as_millis());
        std::future::ready(()).boxed()
    }
}

/// Never ends a wait.
pub(crate) struct ForEver;

impl Pause for ForEver {
    fn pause(&self, _: Duration) -> BoxFuture<'static, ()> {
        std::future::pending().boxed()
    }
}

/// The texts of events, joined.
pub(crate) fn text(events: &[ModelEvent]) -> String {
    let text = |event: &ModelEvent| if let ModelEvent::Text(text) = event { Some(text.clone()) } else { None };
    events.iter().filter_map(text).collect()
}
