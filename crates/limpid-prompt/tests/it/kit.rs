//! What the tests of the shipped profiles share.

#![allow(unreachable_pub, reason = "a module of a test program has no outside")]

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use limpid_prompt::inputs::{
    HistoryMessage, Inputs, MemoryInput, Quoted, RoleName, SchedulingInput, SkillEntry, SkillsInput, TimeInfo,
    ToolInput, TrustName,
};
use limpid_prompt::{
    FixedCounter, Layer, OfferedTool, Profile, Profiles, Prompt, PromptMessage, RenderError, RenderRequest, SourceFile,
    TokenCounter,
};
use serde_json::{Map, Value, json};

/// Counts as OpenAI's current families do.
pub struct Exact;

impl TokenCounter for Exact {
    fn name(&self) -> &str {
        "o200k_base"
    }

    fn count(&self, text: &str) -> usize {
        exact(text)
    }
}

impl FixedCounter for Exact {}

/// The tokens of a text, exactly.
pub fn exact(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

/// The tools of a well equipped agent, by name.
pub const TWENTY: [&str; 20] = [
    "memory_store",
    "memory_learn",
    "memory_query",
    "memory_reinforce",
    "memory_demote",
    "memory_forget",
    "get_local_time",
    "schedule_task",
    "list_tasks",
    "cancel_task",
    "load_skill",
    "spawn_agent",
    "list_agents",
    "read_file",
    "write_file",
    "edit_file",
    "exec",
    "web_search",
    "web_fetch",
    "message",
];
/// The paths on which a person talks.
pub const CHATS: [&str; 3] = ["chat-remote", "chat-local", "coordinator"];
static SHIPPED: LazyLock<Profiles> = LazyLock::new(Profiles::shipped);

/// A shipped profile with files of the owner's over it, by path inside the profile.
pub fn profile(name: &str, files: &[(&str, &str)]) -> Arc<Profile> {
    if files.is_empty() {
        return SHIPPED.get(name).unwrap().clone();
    }
    let file = |(path, text): &(&str, &str)| SourceFile {
        path: format!("{name}/{path}"),
        bytes: text.as_bytes().to_vec(),
        layer: Layer::Home,
    };
    let profiles = Profiles::with_home(files.iter().map(file));
    let problems: Vec<String> = profiles.problems().iter().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
    profiles.get(name).unwrap().clone()
}

/// Renders a path of a shipped profile.
pub fn render(profile: &str, path: &str, inputs: &Inputs) -> Prompt {
    render_with(SHIPPED.get(profile).unwrap(), path, inputs)
}

/// Renders a path of a profile.
pub fn render_with(profile: &Profile, path: &str, inputs: &Inputs) -> Prompt {
    try_render(profile, path, inputs).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Renders a path of a profile that may be over its budget.
pub fn try_render(profile: &Profile, path: &str, inputs: &Inputs) -> Result<Prompt, RenderError> {
    profile.render(RenderRequest { path, inputs, counter: &Exact, count_tokens: false })
}

/// The text of a shipped file.
pub fn shipped_file(path: &str) -> String {
    fs::read_to_string(folder().join(path)).unwrap()
}

/// The tools that a shipped profile describes, by name.
pub fn tool_files(profile: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder().join(profile).join("tools"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("profiles")
}

/// Tools by name, with arguments like those of the real ones.
pub fn tools(names: &[&str]) -> Vec<ToolInput> {
    names.iter().map(|name| tool(name)).collect()
}

fn tool(name: &str) -> ToolInput {
    let group = name.split('_').next().unwrap_or(name);
    ToolInput { name: name.to_owned(), group: group.to_owned(), schema: schema(name).into(), ..ToolInput::default() }
}

fn schema(name: &str) -> Map<String, Value> {
    let (required, optional): (&[&str], &[&str]) = match name {
        "memory_store" => (&["key", "content"], &[]),
        "memory_query" => (&["query"], &["limit"]),
        "promote_learning" => (&["memory_key", "soul_addition"], &[]),
        "heartbeat_decision" => (&["action"], &["key", "text"]),
        "read_email" => (&["id"], &["account", "mark_read"]),
        "reply_email" => (&["id", "body"], &["account"]),
        "read_file" => (&["path"], &["offset", "limit"]),
        "web_fetch" => (&["url"], &[]),
        _ => (&["id"], &["limit"]),
    };
    let properties: Map<String, Value> =
        required.iter().chain(optional).map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    let Value::Object(schema) = json!({"type": "object", "properties": properties, "required": required}) else {
        return Map::new();
    };
    schema
}

/// A tool as it is declared to a provider.
pub fn declared(tool: &OfferedTool) -> String {
    let parameters: Value = serde_json::from_str(tool.schema()).unwrap();
    let function = json!({"name": tool.name(), "description": tool.description(), "parameters": parameters});
    json!({"type": "function", "function": function}).to_string()
}

/// A history in which person and model take turns.
pub fn history(texts: &[&str]) -> Vec<HistoryMessage> {
    let roles = [RoleName::User, RoleName::Assistant].into_iter().cycle();
    let message = |(text, role): (&&str, _)| HistoryMessage {
        role,
        content: (*text).to_owned(),
        ..HistoryMessage::by(TrustName::Owner)
    };
    texts.iter().zip(roles).map(message).collect()
}

/// The system text.
pub fn system(prompt: &Prompt) -> &str {
    prompt.messages()[0].text()
}

/// The newest message.
pub fn user(prompt: &Prompt) -> &str {
    prompt.messages().last().unwrap().text()
}

/// The sections that have text, in order.
pub fn sections(prompt: &Prompt) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for part in prompt.messages().iter().flat_map(PromptMessage::parts) {
        if ids.last().is_none_or(|last| last != part.section()) {
            ids.push(part.section().to_owned());
        }
    }
    ids
}

/// The text of a section with the joins between its parts, if it has any.
pub fn included(prompt: &Prompt, section: &str) -> Option<String> {
    let found = prompt.messages().iter().find_map(|message| {
        let (mut at, mut whole) = (0, None);
        for part in message.parts() {
            let start = at + message.text()[at..].find(part.text()).unwrap();
            at = start + part.text().len();
            if part.section() == section {
                whole = Some((whole.map_or(start, |(first, _)| first), at));
            }
        }
        whole.map(|(start, end)| message.text()[start..end].to_owned())
    });
    found.filter(|text| !text.is_empty())
}

/// The text of a section.
pub fn part(prompt: &Prompt, section: &str) -> String {
    included(prompt, section).unwrap_or_else(|| panic!("no text of {section} in {:?}", sections(prompt)))
}

/// Where the first text of a section comes from.
pub fn origin(prompt: &Prompt, section: &str) -> String {
    let mut parts = prompt.messages().iter().flat_map(PromptMessage::parts);
    parts.find(|part| part.section() == section).unwrap().origin().to_owned()
}

/// Whether a text has a word that is exactly this name.
pub fn names(text: &str, name: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
}

/// Ten skills of 45 bytes a line, twenty tools, memory and tasks on, and somebody says hi.
pub fn typical() -> Inputs {
    let skill = |n: usize| SkillEntry {
        name: format!("skill-{n}-tea"),
        description: "x".repeat(45 - "- skill-0-tea: ".len()),
        ..SkillEntry::by(TrustName::Owner)
    };
    Inputs {
        tools: tools(&TWENTY),
        memory: MemoryInput { enabled: true, ..MemoryInput::default() },
        scheduling: SchedulingInput { enabled: true, ..SchedulingInput::default() },
        skills: SkillsInput { index: (0..10).map(skill).collect(), ..SkillsInput::default() },
        user: Some(Quoted::new("hi", TrustName::Owner)),
        ..Inputs::default()
    }
}

/// A quarter to six in Kathmandu.
pub fn kathmandu() -> TimeInfo {
    TimeInfo {
        local: "2026-06-01T05:45:00+05:45".to_owned(),
        zone: "Asia/Kathmandu".to_owned(),
        utc: "2026-06-01T00:00:00Z".to_owned(),
    }
}
