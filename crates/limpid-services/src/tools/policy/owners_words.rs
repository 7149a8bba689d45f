//! Which words of a window are the owner's and nobody else's.

use std::collections::{HashMap, HashSet};

use limpid_core::policy::OwnersWords;
use limpid_core::policy::owners_words::words;
use limpid_core::{CallId, Message, Role};
use limpid_prompt::Inputs;
use limpid_prompt::inputs::{SkillSource, TrustName};
use serde_json::Value;
use stop_words::{available_languages, lookup};

use super::secrecy::is_of_public;

/// What inputs have that says nothing of the owner: what Limpid ships, and the machine. A new input counts as the owner's.
const PUBLIC: [&str; 16] = [
    "version",
    "agent_name",
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
    "boundary",
    "origins",
    "user_trust",
];

/// The words of what a window shows of the owner's: what is kept for them, what tools read of theirs, and what was handed in. Not those
/// that they typed in the conversation, which are given to its work; nor those of prompts and of the language alone. What the model
/// wrote, and what a run is told to do, may be made of both and counts as neither; but an agent's task stands for the window of whoever
/// wrote it, which the agent does not see.
pub fn owners_words(
    inputs: &Inputs,
    in_flight: &[Message],
    typed: &[String],
    is_public: impl Fn(&str) -> bool,
) -> OwnersWords {
    let (own, public) = split(inputs);
    let results = results(inputs, in_flight, is_public);
    let own: Vec<&str> = own.iter().map(String::as_str).chain(results).collect();
    let given = typed.iter().chain(&public);
    let given: HashSet<String> = given.flat_map(|text| words(text)).collect();
    let of_language = of_language(&own);
    OwnersWords::of(own, |word| given.contains(word) || of_language.contains(word))
}

/// The texts of inputs that are the owner's, and those that are nobody's.
fn split(inputs: &Inputs) -> (Vec<String>, Vec<String>) {
    let mut shown = inputs.clone();
    shown.skills.index.retain(|skill| skill.source != SkillSource::Builtin);
    shown.history.clear();
    shown.in_flight.clear();
    if shown.user.as_ref().is_some_and(|user| user.trust == TrustName::Owner) {
        shown.user = None;
    }
    let Ok(Value::Object(fields)) = serde_json::to_value(&shown) else { return Default::default() };
    let (mut own, mut public) = (Vec::new(), Vec::new());
    for (name, value) in &fields {
        texts(value, if PUBLIC.contains(&name.as_str()) { &mut public } else { &mut own });
    }
    (own, public)
}

fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What tools read that not everybody could, and what others wrote to the owner.
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
    let past = inputs.history.iter();
    let past = past.filter(|said| is_shown(said.role.into(), said.call_id.as_deref(), &said.content));
    let now = in_flight.iter();
    let now = now.filter(|said| is_shown(said.role, said.call_id.as_ref().map(CallId::as_str), &said.text));
    past.map(|said| &*said.content).chain(now.map(|said| &*said.text)).collect()
}

/// The words that are there in any text of the language in which these are written, and in any English one.
fn of_language(texts: &[&str]) -> HashSet<&'static str> {
    let found: HashSet<String> = texts.iter().copied().flat_map(words).collect();
    let list = |language: &str| lookup(language).unwrap_or_default().iter().copied();
    let count = |language: &&str| list(language).filter(|word| found.contains(*word)).count();
    let best = available_languages().iter().copied().max_by_key(count);
    list("en").chain(best.into_iter().flat_map(list)).collect()
}

#[cfg(test)]
mod tests {
    use limpid_core::policy::Argument;
    use limpid_core::{ToolCall, Trust};
    use limpid_prompt::inputs::{DelegateInput, Quoted};

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
        assert_eq!(repeated(&inputs, &[], &[], task), ["diabetes", "pankow", "likes"]);
        assert_eq!(repeated(&inputs, &[], &["what is diabetes?", "who likes Pankow?"], task), [""; 0]);
        let soul =
            Some("Du gehörst Ada. Sie wohnt in Pankow und hat eine Katze, die nicht alleine sein kann.".to_owned());
        let inputs = Inputs { soul, ..Inputs::default() };
        let task = "Suche eine Klinik in Pankow, die nicht weit von der Wohnung ist und eine Katze nimmt.";
        assert_eq!(repeated(&inputs, &[], &[], task), ["pankow", "katze"]);
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
        assert_eq!(repeated(&agent, &[], &["a clinic for me, please"], task), ["diabetes", "pankow"]);
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
        assert_eq!(repeated(&Inputs::default(), &read, &[], "Braun kettles, diary, PIN 4711"), ["pin", "4711"]);
    }
}
