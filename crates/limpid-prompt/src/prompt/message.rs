//! Messages of a prompt, made of parts.

use limpid_core::{Role, Trust};
use serde::{Serialize, Serializer};

use crate::count::TokenCounter;
use crate::inputs::{CallInput, RoleName, StateInput, TrustName};
use crate::section::{Stability, Subject};

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromptMessage {
    pub(crate) role: RoleName,
    pub(crate) text: String,
    pub(crate) parts: Vec<Part>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) calls: Vec<CallInput>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) state: Vec<StatePart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) loads: Vec<String>,
    /// Tokens of the calls, when they were counted.
    #[serde(skip)]
    pub(crate) call_tokens: Option<usize>,
    #[serde(skip)]
    pub(crate) cache_mark: bool,
    #[serde(skip)]
    pub(crate) place: Place,
}

/// Where a message of a prompt comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// The path's list of messages.
    #[default]
    Path,
    /// The conversation before the newest message.
    History,
    /// What the running turn has added.
    InFlight,
}

impl PromptMessage {
    /// Who speaks.
    pub fn role(&self) -> Role {
        self.role.into()
    }

    /// Exactly what goes over the wire.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The parts; they and the joins between them add up to the text.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The calls of an assistant message.
    pub fn calls(&self) -> &[CallInput] {
        &self.calls
    }

    /// What its provider gets back with an assistant message.
    pub fn state(&self) -> &[StatePart] {
        &self.state
    }

    /// The tokens of its calls, when they were counted.
    pub fn call_tokens(&self) -> Option<usize> {
        self.call_tokens
    }

    /// The call that a tool message answers.
    pub fn call_id(&self) -> Option<&str> {
        self.call_id.as_deref()
    }

    /// The tools whose declarations the model reads here, and not before the history.
    pub fn loads(&self) -> &[String] {
        &self.loads
    }

    /// Where the message comes from.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The tokens of its text, its calls and its state.
    pub(crate) fn tokens(&self, counter: &dyn TokenCounter) -> usize {
        let calls = self.calls.iter().map(|call| counter.count(&call.name) + counter.count(&call.arguments));
        let state = self.state.iter().map(|state| counter.count(state.json()));
        counter.count(&self.text) + calls.chain(state).sum::<usize>()
    }

    /// Whether a provider's cache should be told to keep everything up to here.
    pub fn cache_mark(&self) -> bool {
        self.cache_mark
    }
}

/// A stretch of a message that comes from one place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    pub(crate) section: String,
    pub(crate) origin: String,
    pub(crate) text: String,
    pub(crate) bytes: usize,
    pub(crate) tokens: Option<usize>,
    pub(crate) stability: Stability,
    pub(crate) trust: TrustName,
    #[serde(skip)]
    pub(crate) subject: Subject,
}

impl Part {
    /// The section's id; `history` and `in-flight` for messages of the conversation.
    pub fn section(&self) -> &str {
        &self.section
    }

    /// Where the text comes from: `shipped:<path>:<first>-<last>`, `home:<path>:<first>-<last>`, `memory:<key>`,
    /// `task:<id>`, `skill:<name>`, `goal:<id>`, `input:<field>`, `message:<id>`, `model:chat_template`.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The text, as it stands in the message.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its tokens, when they were counted.
    pub fn tokens(&self) -> Option<usize> {
        self.tokens
    }

    /// How often it changes.
    pub fn stability(&self) -> Stability {
        self.stability
    }

    /// What its section shows; nothing is known of it in a prompt that was made of a record.
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// Who wrote it.
    pub fn trust(&self) -> Trust {
        self.trust.into()
    }
}

/// Provider state that goes back with a message. It is shown by its size only.
#[derive(Clone, Debug, PartialEq)]
pub struct StatePart {
    pub(crate) input: StateInput,
    pub(crate) tokens: Option<usize>,
}

impl StatePart {
    /// The section under which it is listed.
    pub const SECTION: &str = "reasoning";

    /// Where it comes from.
    pub const ORIGIN: &str = "model:reasoning";

    pub(crate) fn new(input: &StateInput) -> Self {
        Self { input: input.clone(), tokens: None }
    }

    /// The state itself.
    pub fn input(&self) -> &StateInput {
        &self.input
    }

    /// The provider's JSON, as it is sent.
    pub fn json(&self) -> &str {
        &self.input.json
    }

    /// Its tokens, when they were counted.
    pub fn tokens(&self) -> Option<usize> {
        self.tokens
    }
}

impl Serialize for StatePart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown<'a> {
            section: &'a str,
            origin: &'a str,
            protocol: &'a str,
            model: &'a str,
            bytes: usize,
            tokens: Option<usize>,
        }
        let shown = Shown {
            section: Self::SECTION,
            origin: Self::ORIGIN,
            protocol: &self.input.protocol,
            model: &self.input.model,
            bytes: self.input.json.len(),
            tokens: self.tokens,
        };
        shown.serialize(serializer)
    }
}
