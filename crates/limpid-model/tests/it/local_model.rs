//! A local model behind the trait, with prompts of the shipped profile. The model's file is named by
//! `LIMPID_TEST_GGUF` (SmolLM2-135M-Instruct); without it the tests say that they did nothing.
#![cfg(feature = "local")]
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "a test, and one that does nothing must be seen")]

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::StreamExt;
use limpid_core::{ToolProtocol, Usage};
use limpid_model::catalogue::ModelProfiles;
use limpid_model::local::{LocalModel, LocalSettings};
use limpid_model::template::SpanOrigin;
use limpid_model::{FinishReason, Model, ModelCall, ModelError, ModelEvent, Reasoning, ReplyForm, Sampling, ToolUse};
use limpid_prompt::inputs::{HistoryMessage, Inputs, Quoted, RoleName, ToolInput, TrustName};
use limpid_prompt::{Estimate, Profiles, Prompt, PromptMessage, RenderRequest};
use tokio_util::sync::CancellationToken;

fn file() -> Option<PathBuf> {
    let file = std::env::var_os("LIMPID_TEST_GGUF").filter(|file| !file.is_empty());
    if file.is_none() {
        eprintln!("SKIPPED a test of a local model: LIMPID_TEST_GGUF names no file");
    }
    file.map(PathBuf::from)
}

fn open(settings: &LocalSettings) -> Option<LocalModel> {
    let settings = LocalSettings { window: Some(4096), threads: Some(1), ..settings.clone() };
    Some(LocalModel::open(&file()?, &settings).unwrap())
}

fn prompt(path: &str, inputs: &Inputs) -> Arc<Prompt> {
    let request = RenderRequest { path, inputs, counter: &Estimate::default(), count_tokens: false };
    Arc::new(Profiles::shipped().get("limpid").unwrap().render(request).unwrap())
}

fn call(prompt: Arc<Prompt>, max_output: u32) -> ModelCall {
    ModelCall {
        prompt,
        sampling: Sampling { temperature: Some(0.0), max_output: Some(max_output), ..Sampling::default() },
        reasoning: Reasoning::default(),
        reply: ReplyForm::Text,
        tools: ToolUse::Auto,
        conversation: Some("c".into()),
        cache: limpid_core::CacheLife::Minutes,
    }
}

async fn send(model: &LocalModel, call: &ModelCall) -> Result<Vec<ModelEvent>, ModelError> {
    let prepared = model.prepare(call).unwrap();
    model.send(prepared, CancellationToken::new()).collect::<Vec<_>>().await.into_iter().collect()
}

fn said(events: &[ModelEvent]) -> String {
    events
        .iter()
        .filter_map(|event| if let ModelEvent::Text(text) = event { Some(text.as_str()) } else { None })
        .collect()
}

fn usage(events: &[ModelEvent]) -> Usage {
    let mut usages =
        events.iter().filter_map(|event| if let ModelEvent::Usage(usage) = event { Some(*usage) } else { None });
    usages.next_back().unwrap()
}

// KOSHI-001
#[test]
fn what_is_sent_is_the_prompts_text_and_what_the_template_adds_is_told_apart() {
    let Some(model) = open(&LocalSettings::default()) else { return };
    let prompt = prompt("chat-local", &Inputs { user: Some(Quoted::new("hi", TrustName::Owner)), ..Inputs::default() });
    let call = call(Arc::clone(&prompt), 1);
    let rendered = model.render(&call).unwrap();
    assert_eq!(model.prepare(&call).unwrap().body, rendered.text);

    let texts: Vec<&str> = prompt.messages().iter().map(PromptMessage::text).collect();
    let from_prompt: Vec<&str> =
        rendered.parts().filter(|(origin, _)| *origin != SpanOrigin::Template).map(|(_, text)| text).collect();
    assert_eq!(from_prompt, texts);
    let from_template: String =
        rendered.parts().filter(|(origin, _)| *origin == SpanOrigin::Template).map(|(_, text)| text).collect();
    assert_eq!(from_template, "<|im_start|>system\n<|im_end|>\n<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n");
}

// MEA-15
#[tokio::test]
async fn a_conversation_goes_on_from_what_was_evaluated() {
    let Some(model) = open(&LocalSettings::default()) else { return };
    let (first, second) = two_turns(&model).await;
    assert_eq!(first.cached, 0);
    assert!(second.cached >= first.input, "{second:?} after {first:?}");
}

// MOD-157
#[tokio::test]
async fn a_hybrid_model_goes_on_from_what_was_evaluated() {
    let Some(file) = std::env::var_os("LIMPID_TEST_HYBRID_GGUF").filter(|file| !file.is_empty()) else {
        eprintln!("SKIPPED a test of a hybrid local model: LIMPID_TEST_HYBRID_GGUF names no file");
        return;
    };
    let settings = LocalSettings { window: Some(4096), ..LocalSettings::default() };
    let model = LocalModel::open(std::path::Path::new(&file), &settings).unwrap();
    let (first, second) = two_turns(&model).await;
    let anew = "it evaluates anew, so docs/measures/local-models.md has to say so of this model";
    assert!(second.cached >= first.input, "{anew}: {second:?} after {first:?}");
}

/// What two turns of a conversation cost.
async fn two_turns(model: &LocalModel) -> (Usage, Usage) {
    let mut inputs = Inputs { user: Some(Quoted::new("hi", TrustName::Owner)), ..Inputs::default() };
    let first_prompt = prompt("chat-local", &inputs);
    let first = send(model, &call(Arc::clone(&first_prompt), 12)).await.unwrap();
    assert!(matches!(first.last(), Some(ModelEvent::End(_))));

    let sent = first_prompt.messages().last().unwrap().text().to_owned();
    for (role, content) in [(RoleName::User, sent), (RoleName::Assistant, said(&first))] {
        inputs.history.push(HistoryMessage { role, content, ..HistoryMessage::by(TrustName::Owner) });
    }
    inputs.user = Some(Quoted::new("And you?", TrustName::Owner));
    let second = send(model, &call(prompt("chat-local", &inputs), 4)).await.unwrap();
    (usage(&first), usage(&second))
}

#[tokio::test]
async fn a_tool_is_called_through_a_schema() {
    let Some(model) = open(&LocalSettings { tools: Some(ToolProtocol::Json), ..LocalSettings::default() }) else {
        return;
    };
    let schema = serde_json::json!({
        "type": "object",
        "properties": { "zone": { "type": "string", "maxLength": 20 } },
        "required": ["zone"],
    });
    let clock = ToolInput {
        name: "get_local_time".into(),
        description: "The time now.".into(),
        schema: schema.as_object().unwrap().clone().into(),
        ..ToolInput::default()
    };
    let inputs = Inputs {
        user: Some(Quoted::new("What time is it in Rome?", TrustName::Owner)),
        tools: vec![clock],
        ..Inputs::default()
    };
    let prompt = prompt("chat-local", &inputs);
    assert_eq!(prompt.tools().len(), 1);
    let call = ModelCall { tools: ToolUse::Must("get_local_time".into()), ..call(prompt, 200) };
    let events = send(&model, &call).await.unwrap();
    let calls: Vec<_> =
        events.iter().filter_map(|event| if let ModelEvent::Call(call) = event { Some(call) } else { None }).collect();
    assert_eq!(calls[0].name, "get_local_time");
    let arguments: serde_json::Value = serde_json::from_str(&calls[0].arguments).unwrap();
    assert!(arguments["zone"].is_string());
    assert_eq!(events.last(), Some(&ModelEvent::End(FinishReason::Calls)));
}

/// Set in the process whose memory is measured.
const ALONE: &str = "LIMPID_TEST_ALONE";

// MOD-154
#[tokio::test]
async fn a_run_takes_no_more_memory_than_the_models_entry_asks_for() {
    let Some(path) = file() else { return };
    if std::env::var_os(ALONE).is_some() {
        let model = LocalModel::open(&path, &LocalSettings { threads: Some(1), ..LocalSettings::default() }).unwrap();
        let text = "Hens lay eggs, and the fox looks on. ".repeat(100);
        limpid_model::local::measure::measure(&model, &text, " And then", 8).await.unwrap();
        return println!("peak {}", peak_bytes().unwrap());
    }
    // Other tests of this process have models of their own.
    let ran = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "local_model::a_run_takes_no_more_memory_than_the_models_entry_asks_for", "--nocapture"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let peak = said.lines().find_map(|line| line.split_once("peak ")?.1.trim().parse::<u64>().ok());
    let peak = peak.unwrap_or_else(|| panic!("{said}{}", String::from_utf8_lossy(&ran.stderr)));
    let downloads = limpid_model::catalogue::Downloads::load(None, "models").unwrap();
    let asked = downloads.recommend(Some(0)).unwrap().memory;
    assert!(peak <= asked && peak > asked / 2, "{peak} bytes of {asked}");
}

/// The most memory that this process had.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[test]
fn the_card_says_what_the_profile_and_the_file_say() {
    let Some(path) = file() else { return };
    let profile = ModelProfiles::load(None).unwrap().get("local", "smollm2-135m");
    let model = LocalModel::open(&path, &LocalSettings::of(&profile)).unwrap();
    let card = model.info();
    assert_eq!(card.name(), "local/smollm2-135m");
    assert_eq!((card.window.map(|window| window.0), card.tools), (Some(8192), ToolProtocol::None));
    assert!(card.local && !card.thinking);
}
