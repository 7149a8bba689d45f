//! Which words of a window are the owner's and nobody else's.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use limpid_core::policy::owners_words::{Word, words};
use limpid_core::policy::{OwnersWords, keys_in};
use limpid_core::{CallId, Message, Role};
use limpid_prompt::inputs::{SkillSource, ToolInput, ToolPlacement, TrustName};
use limpid_prompt::profile::{OwnersText, shipped_files};
use limpid_prompt::{Inputs, Profile};
use limpid_store::DeliveryOrigin;
use serde_json::{Map, Value};
use stop_words::{available_languages, lookup};

use super::secrecy::{SERVERS_GROUP, is_of_public, is_of_server};

/// Keys of schemas whose values say of which kind something is, in words of JSON Schema.
const KINDS: [&str; 4] = ["$schema", "$ref", "type", "format"];

/// Keys of schemas under which other schemas stand.
const PARTS: [&str; 4] = ["properties", "items", "$defs", "definitions"];

/// What inputs have that is not the owner's: what Limpid ships, and the machine. A new input counts as the owner's.
const SHIPPED: [&str; 12] = [
    "version",
    "use_sanity_checks",
    "interactive",
    "mode",
    "tier",
    "ui_mode",
    "model",
    "tools",
    "more_tools",
    "goal_markers",
    "time",
    "platform",
];

/// What says nothing of the owner by itself, and is still no reason to tell a worker what their own texts say in the same words: names
/// that they gave, and paths.
const NAMES: [&str; 4] = ["agent_name", "boundary", "origins", "user_trust"];

/// Words of the shipped prompts and tool descriptions. Descriptions of servers and the owner's own sections use the same ones, so they
/// say nothing of the owner. Numbers and capitalised words are not among them, nor what scenarios tell of people who do not exist.
static SHIPPED_PROMPT_WORDS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let is_prompt = |path: &str| path.ends_with(".md") && !path.contains("/scenarios/");
    let prompts = shipped_files().into_iter().filter(|file| is_prompt(&file.path));
    let is_plain = |word: &Word| word.written.chars().all(char::is_lowercase);
    prompts
        .flat_map(|file| words(&String::from_utf8_lossy(&file.bytes)))
        .filter(is_plain)
        .map(|word| word.key)
        .collect()
});

/// The words of what a window shows of the owner's: what is kept for them, what they wrote into texts of their own for a path of its
/// profile, what tools read of theirs, and what was handed in. Not those that they typed in the conversation, which are given to its
/// work; nor those of prompts that ship and of the language alone. What the model wrote here, and what a run is told to do, may be made
/// of both and counts as neither; but what another run has reported stands for what that one read, and an agent's task for the window of
/// whoever wrote it, which the agent does not see.
pub fn owners_words(
    (profile, path): (&Profile, &str),
    inputs: &Inputs,
    in_flight: &[Message],
    typed: &[String],
    is_public: impl Fn(&str) -> bool,
) -> OwnersWords {
    let (own, of_servers, shipped) = split(inputs);
    let results = results(inputs, in_flight, is_public);
    let prompts = profile.owners_texts(path, inputs);
    let of_prompts: Vec<&str> = prompts.iter().map(|own| own.text).collect();
    let own: Vec<&str> = own.iter().map(String::as_str).chain(results).collect();
    let of_servers: Vec<&str> = of_servers.iter().map(String::as_str).collect();
    let given: HashSet<String> = typed.iter().flat_map(|text| keys(text)).collect();
    let shipped: HashSet<String> = shipped.iter().flat_map(|text| keys(text)).collect();
    let of_language = of_language(&[&*own, &*of_servers, &*of_prompts].concat());
    let with_keys = own.iter().chain(&of_servers).chain(&of_prompts).copied();
    let in_addresses: Vec<String> = with_keys.chain(typed.iter().map(String::as_str)).flat_map(keys_in).collect();
    let is_theirs = |word: &str| !given.contains(word) && !of_language.contains(word);
    let is_common = |word: &str| !is_theirs(word) || shipped.contains(word);
    let mut words =
        OwnersWords::of(own, is_common).with(of_servers, |word| is_common(word) || SHIPPED_PROMPT_WORDS.contains(word));
    for OwnersText { text, shipped } in prompts {
        // Inputs repeat what such a text says of a tool, so only what it stands in the place of counts.
        let replaced: HashSet<String> = shipped.into_iter().flat_map(keys).collect();
        words = words
            .with([text], |word| !is_theirs(word) || SHIPPED_PROMPT_WORDS.contains(word) || replaced.contains(word));
    }
    words.with_keys(in_addresses)
}

/// The texts of inputs that are the owner's, what their servers say of tools, and the texts that are in every window.
fn split(inputs: &Inputs) -> (Vec<String>, Vec<String>, Vec<String>) {
    let mut shown = inputs.clone();
    shown.skills.index.retain(|skill| skill.source != SkillSource::Builtin);
    let tools: Vec<ToolInput> = shown.tools.extract_if(.., |tool| is_of_server(&tool.group)).collect();
    let names_one = |line: &str| tools.iter().any(|tool| line.contains(&tool.name) || line.contains(&tool.group));
    let mut of_servers: Vec<String> = shown.more_tools.extract_if(.., |line| names_one(line.as_str())).collect();
    tools.iter().for_each(|tool| texts_of_tool(tool, &mut of_servers));
    let mut own = Vec::new();
    if let Some(time) = &mut shown.time {
        time.zone.clear();
    }
    shown.history.clear();
    shown.in_flight.clear();
    if shown.user.as_ref().is_some_and(|user| user.trust == TrustName::Owner) {
        shown.user = None;
    }
    let Ok(Value::Object(mut fields)) = serde_json::to_value(&shown) else { return (own, of_servers, Vec::new()) };
    fields.retain(|name, _| !NAMES.contains(&name.as_str()));
    // The beginning of their groups' names is ours.
    let mut shipped = vec![SERVERS_GROUP.to_owned()];
    for (name, value) in &fields {
        texts(value, if SHIPPED.contains(&name.as_str()) { &mut shipped } else { &mut own });
    }
    (own, of_servers, shipped)
}

/// What a window shows of a tool of a server; of one that does not travel its name, besides its line.
fn texts_of_tool(tool: &ToolInput, found: &mut Vec<String>) {
    found.push(tool.name.clone());
    if !matches!(tool.reach, ToolPlacement::Deferred | ToolPlacement::LeftOut) {
        found.push(tool.description.clone());
        texts_of_schema(&tool.schema, found);
    }
}

/// The texts of a schema, and the names of arguments.
fn texts_of_schema(schema: &Map<String, Value>, found: &mut Vec<String>) {
    for (key, value) in schema {
        match value {
            // Also an argument that is called as one of these keys is.
            Value::Object(fields) => {
                if !PARTS.contains(&key.as_str()) {
                    found.push(key.clone());
                }
                texts_of_schema(fields, found);
            }
            _ if KINDS.contains(&key.as_str()) => {}
            Value::Array(items) => items.iter().for_each(|item| match item {
                Value::Object(fields) => texts_of_schema(fields, found),
                other => words_of(other, found),
            }),
            // An argument of any kind.
            Value::Bool(_) => found.push(key.clone()),
            other => words_of(other, found),
        }
    }
}

/// The texts of a value, and its numbers, which may be a code.
fn words_of(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Number(number) => found.push(number.to_string()),
        other => texts(other, found),
    }
}

fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What tools read that not everybody could, what others wrote to the owner, and what other runs have reported.
fn results<'t>(inputs: &'t Inputs, in_flight: &'t [Message], is_public: impl Fn(&str) -> bool) -> Vec<&'t str> {
    let past = inputs.history.iter().flat_map(|message| &message.calls).map(|call| (&*call.id, &*call.name));
    let now = in_flight.iter().flat_map(|message| &message.calls).map(|call| (call.id.as_str(), &*call.name));
    let names: HashMap<&str, &str> = past.chain(now).collect();
    let is_shown = |role: Role, call: Option<&str>, text: &str| match role {
        Role::User => true,
        Role::Tool => {
            let name = call.and_then(|call| names.get(call));
            !name.is_some_and(|name| is_public(name) && is_of_public(text))
        }
        Role::System | Role::Assistant => false,
    };
    let reported =
        inputs.history.array_windows().filter(|[asked, _]| DeliveryOrigin::of_marker(&asked.content).is_some());
    let reported = reported.map(|[_, report]| &*report.content);
    let past = inputs.history.iter();
    let past = past.filter(|said| is_shown(said.role.into(), said.call_id.as_deref(), &said.content));
    let now = in_flight.iter();
    let now = now.filter(|said| is_shown(said.role, said.call_id.as_ref().map(CallId::as_str), &said.text));
    reported.chain(past.map(|said| &*said.content)).chain(now.map(|said| &*said.text)).collect()
}

fn keys(text: &str) -> impl Iterator<Item = String> {
    words(text).into_iter().map(|word| word.key)
}

/// The words that are there in any text of the language in which these are written, and in any English one.
fn of_language(texts: &[&str]) -> HashSet<String> {
    let found: HashSet<String> = texts.iter().copied().flat_map(keys).collect();
    let list = |language: &str| lookup(language).unwrap_or_default().iter().copied().flat_map(keys);
    let count = |language: &&str| list(language).filter(|word| found.contains(word)).count();
    let best = available_languages().iter().copied().max_by_key(count);
    list("en").chain(best.into_iter().flat_map(list)).collect()
}

#[cfg(test)]
mod tests;
