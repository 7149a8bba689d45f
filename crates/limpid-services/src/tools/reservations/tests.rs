#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use async_trait::async_trait;
use limpid_core::policy::Destination;
use limpid_core::{Labelled, ToolClass};
use limpid_tools::ToolContext;
use serde_json::json;

use super::*;

/// Sends, reads or fetches.
struct Plain(&'static str);

#[async_trait]
impl Tool for Plain {
    fn name(&self) -> &'static str {
        self.0
    }

    fn group(&self) -> &'static str {
        "test"
    }

    fn class(&self) -> ToolClass {
        if self.0 == "send" { ToolClass::Send } else { ToolClass::Read }
    }

    fn effect(&self, arguments: &Value) -> Effect {
        match self.0 {
            "fetch" => Effect::Fetch(arguments["url"].as_str().map(str::to_owned)),
            _ => self.class().into(),
        }
    }

    fn schema(&self) -> Map<String, Value> {
        Map::new()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn destination(&self, arguments: &Value) -> Option<Destination> {
        arguments["to"].as_str().map(|to| Destination::Place(to.to_owned()))
    }

    async fn run(&self, _: &ToolContext, _: Value) -> Result<Labelled<String>, Sentence> {
        Err("nothing".into())
    }
}

const SEND: &dyn Tool = &Plain("send");
const READ: &dyn Tool = &Plain("read");
const FETCH: &dyn Tool = &Plain("fetch");

fn find(name: &str) -> Option<&'static dyn Tool> {
    [SEND, READ, FETCH].into_iter().find(|tool| tool.name() == name)
}

fn is_page(tool: &dyn Tool, arguments: &Value) -> bool {
    tool.name() == "read" && arguments["page"] == "a"
}

fn reservation(value: Value) -> Reservation {
    serde_json::from_value(value).unwrap()
}

// SEC-070
#[test]
fn a_call_that_is_made_again_reserves_nothing_more() {
    let (mut held, call) = (Reservations::default(), CallId::new("c1"));
    assert!(!held.were_made_by(&call));
    held.add(Some(call.clone()), [reservation(json!({ "tool": "send", "arguments": { "to": "ada", "text": "hi" } }))]);
    assert!(held.were_made_by(&call) && !held.were_made_by(&CallId::new("c2")));
}

// SEC-070
#[test]
fn a_reservation_names_a_sender_and_a_destination_that_was_typed() {
    let check = |value: Value| {
        let typed = ["Write to ada@example.com.".to_owned(), "and hello".to_owned()];
        reservation(value).check(&typed, find, is_page).map_err(Sentence::into_text)
    };
    let ada = json!({ "to": "ada@example.com", "text": "hi" });
    assert_eq!(check(json!({ "tool": "send", "arguments": ada })), Ok(()));
    assert_eq!(check(json!({ "tool": "send", "arguments": ada, "times": 20 })), Ok(()));
    let read = json!({ "argument": "text", "tool": "read", "arguments": { "page": "a" } });
    assert_eq!(check(json!({ "tool": "send", "arguments": { "to": "ada@example.com" }, "result": read })), Ok(()));
    let to_a_result = json!({ "argument": "to", "tool": "read", "arguments": {} });
    let of_a_sender = json!({ "argument": "text", "tool": "send", "arguments": ada });
    let of_a_memory = json!({ "argument": "text", "tool": "read", "arguments": { "memory": "a" } });
    let refused = [
        (json!({ "tool": "send", "arguments": { "to": "eve@example.com" } }), "did not type"),
        (json!({ "tool": "send", "arguments": { "to": "a@example.com" } }), "did not type"),
        (json!({ "tool": "send", "arguments": { "text": "hi" } }), "where it leads"),
        (json!({ "tool": "read", "arguments": ada }), "sends nothing"),
        (json!({ "tool": "none", "arguments": ada }), "no tool"),
        (json!({ "tool": "send", "arguments": ada, "times": 0 }), "from 1 to 20"),
        (json!({ "tool": "send", "arguments": ada, "times": 21 }), "from 1 to 20"),
        (json!({ "tool": "send", "arguments": ada, "result": to_a_result }), "did not type"),
        (json!({ "tool": "send", "arguments": ada, "result": of_a_sender }), "can change"),
        (json!({ "tool": "send", "arguments": ada, "result": of_a_memory }), "can change"),
    ];
    for (value, why) in refused {
        let said = check(value.clone()).unwrap_err();
        assert!(said.contains(why), "{value}: {said}");
    }
}

// SEC-070
#[test]
fn only_a_call_that_equals_it_is_covered_and_only_as_often_as_it_says() {
    let mut held = Reservations::default();
    held.add(None, [reservation(json!({ "tool": "send", "arguments": { "to": "ada", "text": "hi" }, "times": 2 }))]);
    let nothing = |_: &str, _: &Value| None;
    let hi = json!({ "text": "hi", "to": "ada" });
    for other in [json!({ "to": "eve", "text": "hi" }), json!({ "to": "ada", "text": "ho" }), json!({ "to": "ada" })] {
        assert_eq!(held.covering("send", &other, nothing), None, "{other}");
    }
    assert_eq!(held.covering("read", &hi, nothing), None);
    for left in [Some(0), Some(0), None] {
        assert_eq!(held.covering("send", &hi, nothing), left);
        held.spend(0);
    }
}

// SEC-070
#[test]
fn a_result_counts_whole_and_of_the_named_call() {
    let mut held = Reservations::default();
    let result = json!({ "argument": "text", "tool": "read", "arguments": { "page": "a" } });
    held.add(None, [reservation(json!({ "tool": "send", "arguments": { "to": "ada" }, "result": result }))]);
    let read = |tool: &str, arguments: &Value| {
        (tool == "read" && *arguments == json!({ "page": "a" })).then(|| "the page".to_owned())
    };
    let covers = |text: &str| held.covering("send", &json!({ "to": "ada", "text": text }), read).is_some();
    assert!(covers("the page"));
    assert!(!covers("the"));
    assert!(!covers("the page and more"));
    assert_eq!(held.covering("send", &json!({ "to": "ada", "text": "the page" }), |_, _| None), None, "not read yet");
}

fn links_of(page: &str) -> Value {
    let result = json!({ "argument": "url", "tool": "read", "arguments": { "page": page } });
    json!({ "tool": "fetch", "arguments": {}, "result": result })
}

// SEC-070
#[test]
fn links_are_reserved_of_a_result_that_nothing_changes_for_somebody_who_typed() {
    let check =
        |value: Value, typed: &[String]| reservation(value).check(typed, find, is_page).map_err(Sentence::into_text);
    let typed = ["read page a and its links".to_owned()];
    assert_eq!(check(links_of("a"), &typed), Ok(()));
    let twice = json!({ "tool": "fetch", "arguments": {}, "times": 2, "result": links_of("a")["result"] });
    let known = json!({ "tool": "fetch", "arguments": { "url": "https://a.test/" } });
    let why = |value: Value, typed: &[String]| check(value, typed).unwrap_err();
    assert!(why(links_of("b"), &typed).contains("can change until then"));
    assert!(why(links_of("a"), &[]).contains("nobody has typed"));
    assert!(why(twice, &typed).contains("opened once"));
    assert!(why(known, &typed).contains("is fetched now"));
}

// SEC-070
#[test]
fn links_are_opened_once_with_the_named_result_and_by_no_call_of_the_models() {
    let mut held = Reservations::default();
    held.add(None, [reservation(links_of("a"))]);
    let fetches = |reservation: &Reservation| reservation.tool == "fetch";
    let opened = |held: &Reservations, tool: &str, page: &str| {
        held.opened_with(tool, &json!({ "page": page }), fetches).map(|(at, _)| at)
    };
    assert_eq!((opened(&held, "read", "b"), opened(&held, "send", "a")), (None, None));
    assert_eq!(opened(&held, "read", "a"), Some(0));
    held.spend(0);
    assert_eq!(opened(&held, "read", "a"), None);
    let mut sends = Reservations::default();
    let result = json!({ "argument": "text", "tool": "read", "arguments": { "page": "a" } });
    sends.add(None, [reservation(json!({ "tool": "send", "arguments": { "to": "ada" }, "result": result }))]);
    assert_eq!(opened(&sends, "read", "a"), None, "a send is the model's own call");
}
