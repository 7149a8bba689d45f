//! Which words of a window are the owner's and nobody else's.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use limpid_core::policy::owners_words::{Word, words};
use limpid_core::policy::{OwnersWords, keys_in};
use limpid_core::{CallId, Message, Role};
use limpid_prompt::Inputs;
use limpid_prompt::inputs::{SkillSource, ToolInput, ToolPlacement, TrustName};
use limpid_prompt::profile::shipped_files;
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

/// Words of the shipped prompts and tool descriptions. Descriptions of servers use the same ones, so they say nothing of the owner.
/// Numbers and capitalised words are not among them, nor what scenarios tell of people who do not exist.
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

/// The words of what a window shows of the owner's: what is kept for them, what tools read of theirs, and what was handed in. Not those
/// that they typed in the conversation, which are given to its work; nor those of prompts and of the language alone. What the model
/// wrote here, and what a run is told to do, may be made of both and counts as neither; but what another run has reported stands for
/// what that one read, and an agent's task for the window of whoever wrote it, which the agent does not see.
pub fn owners_words(
    inputs: &Inputs,
    in_flight: &[Message],
    typed: &[String],
    is_public: impl Fn(&str) -> bool,
) -> OwnersWords {
    let (own, of_servers, shipped) = split(inputs);
    let results = results(inputs, in_flight, is_public);
    let own: Vec<&str> = own.iter().map(String::as_str).chain(results).collect();
    let of_servers: Vec<&str> = of_servers.iter().map(String::as_str).collect();
    let given = typed.iter().chain(&shipped);
    let given: HashSet<String> = given.flat_map(|text| keys(text)).collect();
    let of_language = of_language(&[&*own, &*of_servers].concat());
    let with_keys = own.iter().chain(&of_servers).copied().chain(typed.iter().map(String::as_str));
    let keys: Vec<String> = with_keys.flat_map(keys_in).collect();
    let is_common = |word: &str| given.contains(word) || of_language.contains(word);
    let words =
        OwnersWords::of(own, is_common).with(of_servers, |word| is_common(word) || SHIPPED_PROMPT_WORDS.contains(word));
    words.with_keys(keys)
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
mod tests {
    use limpid_core::policy::Argument;
    use limpid_core::{ToolCall, Trust};
    use limpid_prompt::inputs::{DelegateInput, HistoryMessage, Quoted, RoleName, TimeInfo};

    use super::*;

    fn repeated(inputs: &Inputs, in_flight: &[Message], typed: &[&str], task: &str) -> Vec<String> {
        let typed: Vec<String> = typed.iter().map(|text| (*text).to_owned()).collect();
        owners_words(inputs, in_flight, &typed, |name| name == "web_fetch")
            .repeated_in(&Argument::Text(task.to_owned()))
    }

    // SEC-101 SEC-100
    #[test]
    fn words_of_the_owners_are_those_that_they_did_not_type_and_that_not_everybody_has() {
        let soul =
            Some("You are Ada's. She lives in Pankow and has diabetes; she likes to find things near her.".to_owned());
        let inputs = Inputs { soul, ..Inputs::default() };
        let task = "Find a clinic for diabetes near Pankow that she likes; it has to be open.";
        assert_eq!(repeated(&inputs, &[], &[], task), ["diabetes", "Pankow", "likes"]);
        assert_eq!(repeated(&inputs, &[], &["what is diabetes?", "who likes Pankow?"], task), [""; 0]);
        let soul =
            Some("Du gehörst Ada. Sie wohnt in Pankow und hat eine Katze, die nicht alleine sein kann.".to_owned());
        let inputs = Inputs { soul, ..Inputs::default() };
        let task = "Suche eine Klinik in Pankow, die nicht weit von der Wohnung ist und eine Katze nimmt.";
        assert_eq!(repeated(&inputs, &[], &[], task), ["Pankow", "Katze"]);
    }

    // SEC-100 SEC-101
    #[test]
    fn a_key_is_the_owners_also_where_they_typed_it() {
        let typed = ["what is on https://calendar.test/8f14e45fceea167a/ics?".to_owned()];
        let soul = Some("Her photos: https://photos.test/s/g3RkLm8QtW5xZ2b".to_owned());
        let own = owners_words(&Inputs { soul, ..Inputs::default() }, &[], &typed, |_| false);
        let says = |text: &str| own.says_key(&Argument::Text(text.to_owned()));
        assert!(says("8f14e45f-ceea167a") && says("g3rklm8qtw5xz2b") && !says("calendar.test"));
        assert_eq!(own.repeated_in(&Argument::Text("calendar photos".to_owned())), ["photos"]);
    }

    // SEC-101
    #[test]
    fn what_a_run_or_an_agent_is_told_was_typed_by_nobody() {
        let told = |text: &str| Some(Quoted::new(text, TrustName::Owner));
        let task = "Find a clinic for diabetes in Pankow.";
        let memory = Some("Ada has diabetes.".to_owned());
        let run = Inputs { soul: memory, user: told("Look for clinics for diabetes in Pankow."), ..Inputs::default() };
        assert_eq!(repeated(&run, &[], &[], task), ["diabetes"]);
        let text = "Find a clinic for diabetes in Pankow; compare prices.";
        let delegate = DelegateInput { task: text.to_owned(), ..DelegateInput::by(TrustName::Owner) };
        let agent = Inputs { user: told(text), delegate, ..Inputs::default() };
        assert_eq!(repeated(&agent, &[], &["a clinic for me, please"], task), ["diabetes", "Pankow"]);
    }

    // SEC-101
    #[test]
    fn what_another_run_reported_is_the_owners_and_an_answer_of_the_model_is_not() {
        let said = |role, content: &str| HistoryMessage {
            role,
            content: content.to_owned(),
            ..HistoryMessage::by(TrustName::Owner)
        };
        let history = vec![
            said(RoleName::User, "which kettles are there?"),
            said(RoleName::Assistant, "Braun and Bosch."),
            said(RoleName::User, DeliveryOrigin::Task.marker()),
            said(RoleName::Assistant, "The diary says diabetes."),
        ];
        let inputs = Inputs { history, ..Inputs::default() };
        assert_eq!(repeated(&inputs, &[], &["which kettles are there?"], "Braun kettles, diabetes"), ["diabetes"]);
    }

    // SEC-101
    #[test]
    fn what_names_and_servers_say_takes_no_word_away_from_the_owner() {
        let time =
            TimeInfo { zone: "Europe/Berlin".into(), local: "2026-04-11T02:00:00+02:00".into(), ..TimeInfo::default() };
        let tool =
            |group: &str, name: &str| ToolInput { group: group.into(), name: name.into(), ..ToolInput::default() };
        let inputs = Inputs {
            soul: Some("Ada lives in Berlin and teaches at Lovelace; search calendars of 2026.".to_owned()),
            time: Some(time),
            tools: vec![tool("mcp-lovelace", "lovelace"), tool("web", "search"), tool("notes", "keep")],
            more_tools: vec!["keep: calendars".to_owned(), "lovelace: teaches".to_owned()],
            ..Inputs::default()
        };
        let task = "Search calendars of who teaches at Lovelace in Berlin, 2026.";
        assert_eq!(repeated(&inputs, &[], &[], task), ["teaches", "Lovelace", "Berlin"]);
    }

    // SEC-100 SEC-101
    #[test]
    fn what_a_server_says_of_the_tools_that_travel_is_the_owners() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {
                "nursery": { "type": "boolean" },
                "room": { "type": "string", "enum": ["attic"] },
                "of": { "anyOf": [{ "type": "number", "description": "the floor" }] },
                "cellar": true,
                "door": { "type": "integer", "enum": [815815] },
            },
        });
        let Value::Object(schema) = schema else { panic!() };
        let tool = |reach| ToolInput {
            name: "house__set_scene".into(),
            group: "mcp-house".into(),
            description: "Sets a scene in Pankow. The code is 4711.".into(),
            schema: schema.clone().into(),
            reach,
        };
        let shows = |reach| Inputs {
            tools: vec![tool(reach)],
            more_tools: vec!["house__set_scene: Sets a scene in Pankow".to_owned()],
            ..Inputs::default()
        };
        let task = "MCP scene in Pankow, 4711, boolean properties: attic, nursery, floor, cellar, 815815";
        assert_eq!(
            repeated(&shows(ToolPlacement::Declared), &[], &[], task),
            ["scene", "Pankow", "attic", "nursery", "floor", "cellar", "4711", "815815"]
        );
        assert_eq!(repeated(&shows(ToolPlacement::Deferred), &[], &[], task), ["scene", "Pankow"]);
    }

    // SEC-100 SEC-101
    #[test]
    fn the_words_that_tools_are_described_in_are_nobodys_and_still_the_owners_where_they_stand_in_their_texts() {
        let tool = ToolInput {
            name: "hub__list_reviews".into(),
            group: "mcp-hub".into(),
            description: "List the reviews of a page: title, results, Berlin, diabetes, heating.".into(),
            ..ToolInput::default()
        };
        let inputs = Inputs { tools: vec![tool], ..Inputs::default() };
        let task = "List reviews and results of each page with its title: diabetes, heating in Berlin.";
        assert_eq!(repeated(&inputs, &[], &[], task), ["diabetes", "heating", "Berlin"]);
        let inputs = Inputs { soul: Some("She likes reviews.".to_owned()), ..inputs };
        assert_eq!(repeated(&inputs, &[], &[], task), ["reviews", "diabetes", "heating", "Berlin"]);
    }

    // SEC-101 SEC-100
    #[test]
    fn what_tools_read_is_the_owners_but_for_the_public_web() {
        let call = |id: &str, name: &str| ToolCall { id: CallId::new(id), name: name.into(), arguments: "{}".into() };
        let calls = vec![call("a", "web_fetch"), call("b", "read_file")];
        let asked = Message { calls, ..Message::new(Role::Assistant, "a kettle, a diary", Trust::Owner) };
        let result = |id: &str, text: &str| Message {
            call_id: Some(CallId::new(id)),
            ..Message::new(Role::Tool, text, Trust::Owner)
        };
        let read = [asked, result("a", "kettles of Braun"), result("b", "the PIN is 4711")];
        assert_eq!(repeated(&Inputs::default(), &read, &[], "Braun kettles, diary, PIN 4711"), ["PIN", "4711"]);
    }
}
