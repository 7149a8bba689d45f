//! Refusals that a request can do without: it is asked once more, the model remembers, and a person is told once.

use std::sync::Arc;

use crate::support::{NoPause, call, card, collect, endpoint, inputs, prompt, second_turn};
use limpid_core::{Effort, FailureClass, RetryPlan, ToolProtocol};
use limpid_model::protocol::Protocol;
use limpid_model::{
    Abilities, Ask, Chain, ChainEvent, Endpoint, ForcedTools, Model, ModelCall, ModelCard, ModelEvent, Reasoning,
    RemoteModel, ReplyForm, Sampling, ToolUse,
};
use limpid_prompt::Inputs;
use limpid_prompt::inputs::{HistoryMessage, RoleName, StateInput, StateReader, TrustName};
use limpid_testkit::Strict;
use limpid_testkit::strict::{Answer, FieldRule, Rules, fields};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// A model that is taken to accept everything.
fn model(protocol: Protocol, url: &str) -> Arc<dyn Model> {
    let abilities = Abilities { sampling: Some(true), forced_tools: Some(ForcedTools::Always), ..Abilities::default() };
    let endpoint = Endpoint { protocol, ..endpoint("openai", url, 5_000) };
    let card = ModelCard { abilities, ..card("openai", ToolProtocol::Native) };
    Arc::new(RemoteModel::new(card, endpoint).unwrap())
}

/// A call that has a bit of everything.
fn everything() -> ModelCall {
    ModelCall {
        sampling: Sampling { temperature: Some(0.3), top_p: Some(0.9), seed: Some(7), max_output: Some(9000) },
        tools: ToolUse::Must("tell_time".to_owned()),
        ..call(prompt(&inputs()))
    }
}

/// What happens when a model is asked, one line an event.
async fn ask(model: &Arc<dyn Model>, call: &ModelCall) -> Vec<String> {
    let chain = Chain::new(vec![Arc::clone(model)], RetryPlan::default(), Arc::new(NoPause::default()));
    let call = call.clone();
    let make = Arc::new(move |_: &ModelCard| Ok(Ask { call: call.clone(), tokens: 1000 }));
    let (events, error) = collect(chain.ask(make, CancellationToken::new())).await;
    let line = |event: &ChainEvent| match event {
        ChainEvent::Request { .. } => Some("request".to_owned()),
        ChainEvent::Remedied { notice: Some(notice), .. } => Some(notice.clone()),
        ChainEvent::Remedied { notice: None, .. } => Some("known".to_owned()),
        ChainEvent::LeftAlone { .. } => Some("left alone".to_owned()),
        ChainEvent::Retry { .. } => Some("retry".to_owned()),
        ChainEvent::Fallback { .. } => Some("fallback".to_owned()),
        ChainEvent::Reply(ModelEvent::Text(text)) => Some(text.clone()),
        ChainEvent::Reply(_) => None,
    };
    let mut lines: Vec<String> = events.iter().filter_map(line).collect();
    lines.extend(error.map(|error| format!("{}: {error}", error.class)));
    lines
}

fn fine(protocol: Protocol) -> (Rules, Vec<Answer>) {
    match protocol {
        Protocol::Anthropic => {
            (Rules::AnthropicPreserved, vec![Answer::Content(vec![json!({"type": "text", "text": "fine"})])])
        }
        Protocol::Gemini => (Rules::Gemini, vec![Answer::Content(vec![json!({"text": "fine"})])]),
        _ => (Rules::PlainChat, vec![Answer::Content(vec![json!({"content": "fine"})])]),
    }
}

// MOD-074 MOD-073
#[tokio::test]
async fn a_field_that_is_refused_is_left_out_at_once_and_from_then_on() {
    let cases: [(Protocol, FieldRule); 12] = [
        (Protocol::OpenaiChat, fields::OPENAI_TEMPERATURE),
        (Protocol::OpenaiChat, fields::OPENAI_TOP_P),
        (Protocol::OpenaiChat, fields::NO_SEED),
        (Protocol::OpenaiChat, fields::OPENAI_MAX_TOKENS),
        (Protocol::OpenaiChat, fields::MISTRAL_STREAM_OPTIONS),
        (Protocol::OpenaiChat, fields::GROQ_RESPONSE_FORMAT),
        (Protocol::OpenaiChat, fields::DEEPSEEK_TOOL_CHOICE),
        (Protocol::Anthropic, fields::ANTHROPIC_SAMPLING),
        (Protocol::Anthropic, fields::ANTHROPIC_FORCED_TOOL),
        (Protocol::Anthropic, fields::ANTHROPIC_MAX_TOKENS),
        (Protocol::Gemini, fields::GEMINI_SEED),
        (Protocol::OpenaiChat, fields::DEEPSEEK_TOOL_CHOICE),
    ];
    let mut told = Vec::new();
    for (at, (protocol, rule)) in cases.into_iter().enumerate() {
        let (rules, answers) = fine(protocol);
        let provider = Strict::refusing(rules, vec![rule], answers).await.unwrap();
        let model = model(protocol, &provider.url());
        let reply = if at == 5 {
            ReplyForm::Json { name: "verdict".to_owned(), schema: json!({"type": "object"}) }
        } else {
            ReplyForm::Text
        };
        let tools = if at == 11 { ToolUse::Never } else { everything().tools };
        let call = ModelCall { reply, tools, ..everything() };
        let story = ask(&model, &call).await;
        assert_eq!(story.last().map(String::as_str), Some("fine"), "{story:#?}");
        assert_eq!(provider.refused().len(), provider.bodies().len() - 1, "{story:#?}");
        let refused = provider.refused().len();
        told.push(format!("{}\n{}", provider.refused().join("\n"), story.join("\n")));
        assert_eq!(ask(&model, &call).await, ["request", "fine"], "it asks right at once");
        assert_eq!(provider.refused().len(), refused);
    }
    insta::assert_snapshot!(told.join("\n\n"));
}

// MOD-072
#[tokio::test]
async fn openais_models_call_tools_over_chat_completions_without_reasoning() {
    let levels = |off: &[Effort]| Some([off, &[Effort::Low, Effort::High]].concat());
    let named = |id: &str, effort: Option<Vec<Effort>>, url: &str| -> Arc<dyn Model> {
        let endpoint = Endpoint { protocol: Protocol::OpenaiChat, ..endpoint("openai", url, 5_000) };
        let abilities = Abilities { effort, ..Abilities::default() };
        let card = ModelCard { id: id.to_owned(), abilities, thinking: true, ..card("openai", ToolProtocol::Native) };
        Arc::new(RemoteModel::new(card, endpoint).unwrap())
    };
    let refusing = async |rules| {
        let (fake, answers) = fine(Protocol::OpenaiChat);
        Strict::refusing(fake, rules, answers).await.unwrap()
    };
    let with_tools =
        ModelCall { reasoning: Reasoning { effort: Effort::High, shown: true }, ..call(prompt(&inputs())) };
    let without = ModelCall { prompt: prompt(&Inputs { tools: Vec::new(), ..inputs() }), ..with_tools.clone() };

    // By name, from the first request on; what offers no tools may reason.
    let provider = refusing(vec![fields::OPENAI_TOOLS_UNREASONED]).await;
    let model = named("gpt-5.6-luna", levels(&[Effort::Off]), &provider.url());
    assert_eq!(ask(&model, &with_tools).await, ["request", "fine"]);
    assert_eq!(ask(&model, &without).await, ["request", "fine"]);
    let asked: Vec<Value> = provider.bodies().iter().map(|body| body["reasoning_effort"].clone()).collect();
    assert_eq!(asked, ["none", "high"]);

    // A deployment of any name, by what is refused.
    let provider = refusing(vec![fields::OPENAI_TOOLS_UNREASONED]).await;
    let model = named("deployment-7", None, &provider.url());
    let story = ask(&model, &with_tools).await;
    let (last, told) = (story.last().unwrap(), &story[1]);
    assert_eq!((story.len(), last.as_str()), (4, "fine"), "{story:#?}");
    assert!(told.ends_with("names = [\"openai/deployment-7\"]\ntools_unreasoned = true"), "{told}");
    assert_eq!(ask(&model, &with_tools).await, ["request", "fine"], "it asks right at once");

    // One that always reasons is refused, with what to do.
    let provider = refusing(vec![fields::OPENAI_TOOLS_UNREASONED, fields::OPENAI_NO_NONE]).await;
    let model = named("gpt-6.1-sol", levels(&[]), &provider.url());
    let story = ask(&model, &with_tools).await;
    let last = story.last().unwrap();
    assert!(last.starts_with("malformed: ") && last.contains("`protocol = \"openai-responses\"` in [provider.openai]"));
    assert_eq!(provider.bodies().len(), 1, "{story:#?}");
    assert_eq!(ask(&model, &without).await, ["request", "fine"]);
}

// MOD-074
#[tokio::test]
async fn several_fields_are_left_out_one_after_the_other() {
    let (rules, answers) = fine(Protocol::OpenaiChat);
    let refused = vec![fields::OPENAI_TEMPERATURE, fields::OPENAI_TOP_P, fields::OPENAI_MAX_TOKENS];
    let provider = Strict::refusing(rules, refused, answers).await.unwrap();
    let model = model(Protocol::OpenaiChat, &provider.url());
    let story = ask(&model, &everything()).await;
    assert_eq!(story.iter().filter(|line| *line == "request").count(), 4, "{story:#?}");
    let last = provider.bodies().pop().unwrap();
    assert_eq!((&last["temperature"], &last["top_p"], &last["max_tokens"]), (&Value::Null, &Value::Null, &Value::Null));
    assert_eq!(last["max_completion_tokens"], 9000);
    assert!(story[5].ends_with(r#"refuses = ["temperature", "top_p", "max_tokens"]"#), "{story:#?}");
}

// MOD-074
#[tokio::test]
async fn what_does_not_change_the_request_is_not_asked_again() {
    let stubborn: [FieldRule; 2] = [
        |_| Some("Unsupported parameter: 'temperature' is not supported with this model.".to_owned()),
        |_| Some("Unknown parameter: 'parallel_tool_calls'.".to_owned()),
    ];
    for (rule, requests) in stubborn.into_iter().zip([2, 1]) {
        let (rules, answers) = fine(Protocol::OpenaiChat);
        let provider = Strict::refusing(rules, vec![rule], answers).await.unwrap();
        let model = model(Protocol::OpenaiChat, &provider.url());
        let story = ask(&model, &everything()).await;
        assert_eq!(provider.bodies().len(), requests, "{story:#?}");
        assert!(story.last().unwrap().starts_with(FailureClass::Malformed.as_str()), "{story:#?}");
    }
}

// MOD-074
#[tokio::test]
async fn what_a_model_refuses_is_known_to_the_same_model_with_another_window() {
    let (rules, answers) = fine(Protocol::OpenaiChat);
    let provider = Strict::refusing(rules, vec![fields::OPENAI_TEMPERATURE], answers).await.unwrap();
    let model = model(Protocol::OpenaiChat, &provider.url());
    let smaller = ModelCard { window: None, ..model.info().clone() };
    ask(&model.resized(&smaller).unwrap(), &everything()).await;
    assert_eq!(ask(&model, &everything()).await, ["request", "fine"]);
}

// MOD-074
#[tokio::test]
async fn a_line_in_models_toml_spares_the_refusal() {
    let owner = "[[model]]\nnames = [\"openai/m-1\"]\nrefuses = [\"temperature\", \"max_tokens\"]\nsampling = true";
    let profiles = limpid_model::catalogue::ModelProfiles::load(Some(("models.toml", owner))).unwrap();
    let (rules, answers) = fine(Protocol::OpenaiChat);
    let refused = vec![fields::OPENAI_TEMPERATURE, fields::OPENAI_MAX_TOKENS];
    let provider = Strict::refusing(rules, refused, answers).await.unwrap();
    let card = profiles.get("openai", "m-1").card();
    let endpoint = endpoint("openai", &provider.url(), 5_000);
    let model: Arc<dyn Model> = Arc::new(RemoteModel::new(card, endpoint).unwrap());
    assert_eq!(ask(&model, &everything()).await, ["request", "fine"]);
}

/// A conversation whose second message has state of this model's.
fn with_state(state: &str) -> ModelCall {
    let state = StateInput {
        protocol: "anthropic".to_owned(),
        model: "openai/m-1".to_owned(),
        json: state.to_owned(),
        ..StateInput::default()
    };
    let mut inputs = Inputs { history: second_turn().history[4..].to_vec(), ..second_turn() };
    inputs.model.provider = "openai".to_owned();
    inputs.model.id = "m-1".to_owned();
    inputs.model.state = StateReader { protocol: "anthropic".to_owned(), of_provider: true, ..StateReader::default() };
    let hello =
        HistoryMessage { role: RoleName::User, content: "hi".to_owned(), ..HistoryMessage::by(TrustName::Owner) };
    inputs.history.insert(0, hello);
    inputs.history[1].state.push(state);
    call(prompt(&inputs))
}

// MOD-007
#[tokio::test]
async fn thinking_that_is_refused_is_left_out_and_other_thinking_is_not() {
    let (rules, answers) = fine(Protocol::Anthropic);
    let provider = Strict::start(rules, answers).await.unwrap();
    let model = model(Protocol::Anthropic, &provider.url());
    let edited = with_state(r#"{"type":"thinking","thinking":"Tea.","signature":"by-hand"}"#);
    let story = ask(&model, &edited).await;
    insta::assert_snapshot!(story.join("\n"), @r"
    request
    openai/m-1 did not take back the reasoning of its earlier answers, so it was left out; the conversation goes on.
    request
    fine
    ");
    assert_eq!(provider.refused(), ["messages.1.content.0: Invalid `signature` in `thinking` block"]);
    assert!(!provider.bodies()[1].to_string().contains("by-hand"));
    assert_eq!(ask(&model, &edited).await, ["request", "fine"], "the same thinking is never sent again");
    let other = with_state(r#"{"type":"thinking","thinking":"Tea.","signature":"another"}"#);
    ask(&model, &other).await;
    assert!(provider.bodies()[3].to_string().contains("another"), "what was not refused is sent");
}
