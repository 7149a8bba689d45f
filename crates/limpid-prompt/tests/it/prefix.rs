//! A stable prefix: what a provider may reuse from one turn to the next (section 5 of the specification).

use crate::support::render_path;
use limpid_prompt::inputs::{
    CallInput, HistoryMessage, Inputs, MemoryEntry, Quoted, RoleName, TimeInfo, ToolInput, TrustName,
};
use limpid_prompt::scenario::EXAMPLE_INPUTS;
use limpid_prompt::{Profiles, Prompt, Stability};

fn limpid(inputs: &Inputs) -> Prompt {
    render_path(Profiles::shipped().get("limpid").unwrap(), "chat-remote", inputs)
}

/// The example as a first turn: no history yet.
fn first_turn() -> Inputs {
    Inputs { history: Vec::new(), ..serde_json::from_str(EXAMPLE_INPUTS).unwrap() }
}

/// The turn after `inputs`, which were rendered as `prompt`: what was sent is history.
fn next_turn(inputs: &Inputs, prompt: &Prompt, time: (&str, &str)) -> Inputs {
    let sent = prompt.messages().last().unwrap().text().to_owned();
    let said = |role, content: String| HistoryMessage { role, content, ..HistoryMessage::by(TrustName::Owner) };
    let mut next = inputs.clone();
    next.history.push(said(RoleName::User, sent));
    next.history.push(said(RoleName::Assistant, "Good morning.".into()));
    next.user = Some(Quoted::new("And now?", TrustName::Owner));
    let (local, utc) = time;
    next.time = Some(TimeInfo { local: local.into(), utc: utc.into(), zone: "Europe/Berlin".into() });
    next
}

// PRO-040
#[test]
fn nothing_that_varies_from_turn_to_turn_stands_before_the_history() {
    let profiles = Profiles::shipped();
    for path in profiles.get("limpid").unwrap().paths().filter(|path| path.name.starts_with("chat-")) {
        let inputs: Inputs = serde_json::from_str(EXAMPLE_INPUTS).unwrap();
        let prompt = render_path(profiles.get("limpid").unwrap(), &path.name, &inputs);
        let before = prompt.messages().iter().take_while(|message| message.parts()[0].section() != "history");
        for part in before.flat_map(limpid_prompt::PromptMessage::parts) {
            assert_ne!(part.stability(), Stability::Turn, "{}: {}", path.name, part.section());
        }
    }
}

// PRO-041
#[test]
fn the_second_turn_begins_with_every_byte_of_the_first() {
    let first = first_turn();
    let sent = limpid(&first);
    let later = [
        ("2026-04-11T02:01:00+02:00", "2026-04-11T00:01:00Z"),
        ("2026-04-11T03:00:00+02:00", "2026-04-11T01:00:00Z"),
        ("2026-04-12T02:00:00+02:00", "2026-04-12T00:00:00Z"),
        ("2026-10-25T02:30:00+01:00", "2026-10-25T01:30:00Z"),
    ];
    for time in later {
        let mut second = next_turn(&first, &sent, time);
        let stored =
            MemoryEntry { key: "new".into(), content: "Stored in between".into(), ..MemoryEntry::by(TrustName::Owner) };
        second.memory.general.push(stored.clone());
        second.changed.pinned.push(stored);
        let request = limpid(&second);
        for (old, new) in sent.messages().iter().zip(request.messages()) {
            assert_eq!((old.role(), old.text()), (new.role(), new.text()), "{}", time.0);
        }
        let prefix = sent.diff(&request).prefix;
        assert_eq!((prefix.messages, prefix.broken_by), (sent.messages().len(), None));
    }
}

// PRO-042
#[test]
fn tools_keep_their_order_and_their_bytes_and_new_ones_are_appended() {
    let schema = |text: &str| -> serde_json::Map<_, _> { serde_json::from_str(text).unwrap() };
    let tool =
        |name: &str, text: &str| ToolInput { name: name.into(), schema: schema(text).into(), ..ToolInput::default() };
    let zebra = r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}},"required":["z"]}"#;
    let mut inputs = first_turn();
    inputs.tools = vec![tool("zebra", zebra), tool("ant", r#"{"type":"object"}"#)];
    let before = limpid(&inputs);
    assert_eq!(before.tools()[0].schema(), zebra, "keys keep their order");
    inputs.tools.push(tool("bee", "{}"));
    let after = limpid(&inputs);
    let names: Vec<&str> = after.tools().iter().map(limpid_prompt::OfferedTool::name).collect();
    assert_eq!(names, ["zebra", "ant", "bee"]);
    assert_eq!(before.tools(), &after.tools()[..2]);
}

// PRO-042 PRO-012
#[test]
fn the_profile_describes_tools_and_their_arguments_without_moving_a_key() {
    let tool = "---\nparameters:\n  key: A short name.\n---\nKeep a fact.\n";
    let manifest = "title = \"Own\"\nabout = \"For a test.\"\n[path.chat-remote]\nabout = \"Chat.\"\nmessages = [{ role = \
                    \"system\", sections = [\"rules\"] }]\n";
    let rules = "---\ntitle: R\nwhy: W\n---\nRules.\n";
    let profile =
        crate::support::profile(&[("profile.toml", manifest), ("sections/rules.md", rules), ("tools/keep.md", tool)]);
    let schema = r#"{"type":"object","properties":{"text":{"type":"string"},"key":{"description":"?","type":"string"}},"required":["key"]}"#;
    let tool = ToolInput { name: "keep".into(), schema: serde_json::from_str(schema).unwrap(), ..ToolInput::default() };
    let prompt = render_path(&profile, "chat-remote", &Inputs { tools: vec![tool], ..Inputs::default() });
    assert_eq!(prompt.tools()[0].description(), "Keep a fact.");
    assert_eq!(
        prompt.tools()[0].schema(),
        r#"{"type":"object","properties":{"text":{"type":"string"},"key":{"type":"string","description":"A short name."}},"required":["key"]}"#
    );
}

// PRO-042
#[test]
fn tools_are_declared_only_to_a_model_that_takes_declarations() {
    let with = |protocol: &str| {
        let mut inputs = first_turn();
        inputs.model.tool_protocol = serde_json::from_value(protocol.into()).unwrap();
        let prompt = limpid(&inputs);
        (prompt.tools().len(), prompt.offered().len())
    };
    assert_eq!([with("native"), with("json"), with("none")], [(2, 2), (0, 2), (0, 0)]);
}

// PRO-043 MOD-050 MOD-051
#[test]
fn cache_marks_are_where_the_next_request_begins_to_differ_and_are_few() {
    let mut inputs =
        next_turn(&first_turn(), &limpid(&first_turn()), ("2026-04-11T02:01:00+02:00", "2026-04-11T00:01:00Z"));
    for server in 0..40 {
        inputs.tools.push(ToolInput { name: format!("mcp_{server}"), ..ToolInput::default() });
    }
    let marks = |inputs: &Inputs| -> Vec<usize> {
        let prompt = limpid(inputs);
        let marked = prompt.messages().iter().enumerate().filter(|(_, message)| message.cache_mark());
        marked.map(|(at, _)| at).collect()
    };
    let prompt = limpid(&inputs);
    let sections: Vec<&str> = prompt.messages().iter().map(|message| message.parts()[0].section()).collect();
    let (fixed, past) = (sections.iter().position(|section| *section == "history").unwrap() - 1, sections.len() - 2);
    let newest = sections.len() - 1;
    // The newest message is kept as it is sent, so the next request repeats it.
    assert_eq!(marks(&inputs), [fixed, past, newest]);
    let round = |inputs: &mut Inputs, calls: usize| {
        let call = |n| CallInput { id: format!("c{n}"), name: "ant".into(), arguments: "{}".into() };
        let said = HistoryMessage {
            role: RoleName::Assistant,
            calls: (0..calls).map(call).collect(),
            ..HistoryMessage::by(TrustName::Owner)
        };
        let result = |n| HistoryMessage {
            role: RoleName::Tool,
            content: "done".into(),
            call_id: Some(format!("c{n}")),
            ..HistoryMessage::by(TrustName::Owner)
        };
        inputs.in_flight.push(said);
        inputs.in_flight.extend((0..calls).map(result));
    };
    round(&mut inputs, 15);
    assert_eq!(marks(&inputs), [fixed, past, newest, newest + 16]);
    round(&mut inputs, 15);
    assert_eq!(marks(&inputs), [fixed, newest, newest + 16, newest + 32], "the end of the request before is marked");
    round(&mut inputs, 1);
    assert_eq!(marks(&inputs), [fixed, newest, newest + 32, newest + 34]);
    (inputs.history, inputs.in_flight) = (Vec::new(), Vec::new());
    assert_eq!(marks(&inputs), [fixed, fixed + 1], "a new conversation has its fixed part kept");
}

// PRO-043
#[test]
fn a_prompt_that_begins_anew_each_turn_asks_for_no_cache() {
    let inputs: Inputs = serde_json::from_str(EXAMPLE_INPUTS).unwrap();
    let prompt = render_path(Profiles::shipped().get("kai").unwrap(), "chat-remote", &inputs);
    assert!(prompt.messages().iter().all(|message| !message.cache_mark()));
}
