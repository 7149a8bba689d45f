//! Which words count as the owner's.

use std::sync::Arc;

use limpid_core::policy::Argument;
use limpid_core::{DEFAULT_PROFILE, ToolCall, Trust};
use limpid_prompt::inputs::{DelegateInput, HistoryMessage, Quoted, RoleName, TimeInfo};
use limpid_prompt::profile::shipped_text;
use limpid_prompt::{Profiles, SourceFile};

use super::*;

const CHAT: &str = "chat-remote";

fn repeated(inputs: &Inputs, in_flight: &[Message], typed: &[&str], task: &str) -> Vec<String> {
    let typed: Vec<String> = typed.iter().map(|text| (*text).to_owned()).collect();
    owners_words((&profile([]), CHAT), inputs, in_flight, &typed, |name| name == "web_fetch")
        .repeated_in(&Argument::Text(task.to_owned()))
}

fn profile(files: impl IntoIterator<Item = SourceFile>) -> Arc<Profile> {
    Arc::clone(Profiles::one_with_home(DEFAULT_PROFILE, files).get(DEFAULT_PROFILE).unwrap())
}

// SEC-100 SEC-101
#[test]
fn what_they_wrote_into_their_own_sections_and_tools_is_the_owners() {
    let task = "Search shops in Pankow for people with diabetes, code 7781; be honest and say what is open.";
    let repeated = |path: &str, text: &str, typed: &[String], inputs: &Inputs| {
        let profile = profile([SourceFile::home(path, text)]);
        owners_words((&profile, CHAT), inputs, &[], typed, |_| false).repeated_in(&Argument::Text(task.to_owned()))
    };
    let shipped = shipped_text("limpid/sections/honesty.md").unwrap();
    let line = "Ada has diabetes and lives in Pankow; the clinic gave her the code 7781.";
    let section = format!("{shipped}\n{line}\n");
    let own = |text: &str, typed: &[String]| repeated("limpid/sections/honesty.md", text, typed, &Inputs::default());
    assert_eq!(own(&section, &[]), ["Pankow", "diabetes", "7781"]);
    assert_eq!(own(&section, &["what is new on diabetes in Pankow?".to_owned()]), ["7781"]);
    assert_eq!(own(shipped, &[]), [""; 0]);
    assert_eq!(own(&format!("---\npublic: true\n---\n{line}\n"), &[]), [""; 0]);
    // What waits behind `find_tools` is listed in the same words.
    let tool = ToolInput { name: "exec".into(), group: "files".into(), ..ToolInput::default() };
    let more_tools = vec!["exec: runs programs for Ada's diabetes".to_owned()];
    let inputs = Inputs { tools: vec![tool], more_tools, ..Inputs::default() };
    assert_eq!(repeated("limpid/tools/exec.md", "Runs programs for Ada's diabetes.\n", &[], &inputs), ["diabetes"]);
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
    let soul = Some("Du gehörst Ada. Sie wohnt in Pankow und hat eine Katze, die nicht alleine sein kann.".to_owned());
    let inputs = Inputs { soul, ..Inputs::default() };
    let task = "Suche eine Klinik in Pankow, die nicht weit von der Wohnung ist und eine Katze nimmt.";
    assert_eq!(repeated(&inputs, &[], &[], task), ["Pankow", "Katze"]);
}

// SEC-100 SEC-101
#[test]
fn a_key_is_the_owners_also_where_they_typed_it() {
    let typed = ["what is on https://calendar.test/8f14e45fceea167a/ics?".to_owned()];
    let soul = Some("Her photos: https://photos.test/s/g3RkLm8QtW5xZ2b".to_owned());
    let inputs = Inputs { soul, ..Inputs::default() };
    let own = owners_words((&profile([]), CHAT), &inputs, &[], &typed, |_| false);
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
    let tool = |group: &str, name: &str| ToolInput { group: group.into(), name: name.into(), ..ToolInput::default() };
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
