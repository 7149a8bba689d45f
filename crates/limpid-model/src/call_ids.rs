//! Names for calls of tools.

use std::collections::HashSet;

use limpid_core::CallId;
use limpid_prompt::PromptMessage;

use crate::model::ModelCall;

/// Names for calls that came without one, or with one that this conversation already has.
#[derive(Clone, Debug)]
pub(crate) struct CallIds {
    place: usize,
    taken: HashSet<String>,
}

impl CallIds {
    /// Names that follow from the place of the reply in its conversation, so that they are the same each time.
    pub(crate) fn new(call: &ModelCall) -> Self {
        let messages = call.prompt.messages();
        let calls = messages.iter().flat_map(PromptMessage::calls);
        let taken = calls.map(|call| call.id.clone()).collect();
        Self { taken, ..Self::at(messages.len()) }
    }

    /// Names for a reply that stands at this place of a conversation without calls.
    pub(crate) fn at(place: usize) -> Self {
        Self { place, taken: HashSet::new() }
    }

    /// The name for a call: the given one if it is free, and a name. Some servers take it from the model's words, and a blank or a
    /// full stop parts the names of a call and of whoever makes it.
    pub(crate) fn claim(&mut self, given: Option<&str>) -> CallId {
        let given = given.filter(|id| is_name(id) && !self.taken.contains(*id)).map(str::to_owned);
        let place = self.place;
        let id = given.or_else(|| (0..).map(|n| format!("call_{place}_{n}")).find(|id| !self.taken.contains(id)));
        // The search above goes on until it finds one.
        let id = id.unwrap_or_default();
        self.taken.insert(id.clone());
        CallId::new(id)
    }
}

fn is_name(id: &str) -> bool {
    let is_of_it = |byte: u8| byte.is_ascii_alphanumeric() || b"_-:".contains(&byte);
    (1..=100).contains(&id.len()) && id.bytes().all(is_of_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-077
    #[test]
    fn what_could_be_the_name_of_anothers_call_is_none() {
        let mut ids = CallIds::at(3);
        for given in ["run-agent-1 X", "a.1", "a\n", &"a".repeat(101)] {
            assert!(ids.claim(Some(given)).to_string().starts_with("call_3_"), "{given}");
        }
        assert_eq!(ids.claim(Some("toolu_01A-b:0")).to_string(), "toolu_01A-b:0");
    }

    #[test]
    fn names_of_calls_are_their_own_and_always_the_same() {
        let names = || {
            let mut ids = CallIds::at(3);
            [Some("a"), Some("a"), None, Some(""), Some("call_3_2")].map(|given| ids.claim(given).to_string())
        };
        assert_eq!(names(), ["a", "call_3_0", "call_3_1", "call_3_2", "call_3_3"]);
        assert_eq!(names(), names());
    }
}
