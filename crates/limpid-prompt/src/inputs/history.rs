//! Messages of the conversation, and what summarising and delegated calls read.

use limpid_core::state::Span;
use limpid_core::{ProviderState, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ActiveSkill, Quoted, TrustName};

/// Who speaks; see [`Role`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RoleName {
    /// The prompt.
    System,
    /// The person.
    #[default]
    User,
    /// The model.
    Assistant,
    /// The result of a call.
    Tool,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::System => Self::System,
            RoleName::User => Self::User,
            RoleName::Assistant => Self::Assistant,
            RoleName::Tool => Self::Tool,
        }
    }
}

impl From<Role> for RoleName {
    fn from(role: Role) -> Self {
        match role {
            Role::System => Self::System,
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
            Role::Tool => Self::Tool,
        }
    }
}

/// One earlier message, exactly as it was sent; foreign text is put inside its boundary when it is rendered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default = "HistoryMessage::of_file", deny_unknown_fields)]
pub struct HistoryMessage {
    /// Who speaks.
    pub role: RoleName,
    /// What was said.
    pub content: String,
    /// Who wrote it.
    pub trust: TrustName,
    /// The calls of an assistant message.
    pub calls: Vec<CallInput>,
    /// What the provider of an assistant message wants back with it.
    #[schemars(extend("x-opaque" = true))]
    pub state: Vec<StateInput>,
    /// The call that a tool message answers.
    pub call_id: Option<String>,
    /// The tag of the boundary that was drawn around foreign text. Absent: the run's own.
    pub boundary: Option<String>,
    /// The message's number in the store, for its origin.
    pub id: Option<i64>,
}

impl HistoryMessage {
    /// A message with nothing in it, whose texts somebody wrote.
    pub fn by(trust: TrustName) -> Self {
        Self {
            role: RoleName::default(),
            content: String::new(),
            trust,
            calls: Vec::new(),
            state: Vec::new(),
            call_id: None,
            boundary: None,
            id: None,
        }
    }

    /// A message of somebody's.
    pub fn new(role: RoleName, content: impl Into<String>, trust: TrustName) -> Self {
        Self { role, content: content.into(), ..Self::by(trust) }
    }

    fn of_file() -> Self {
        Self::by(TrustName::File)
    }
}

/// One call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CallInput {
    /// The call's name.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
}

/// What a provider wants back with a message; see [`ProviderState`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StateInput {
    /// The protocol in which it came.
    pub protocol: String,
    /// The model that made it, as `provider/id`.
    pub model: String,
    /// The provider's JSON.
    pub json: String,
    /// The first byte of the text that it belongs to.
    pub text_from: usize,
    /// The byte behind the last.
    pub text_to: usize,
    /// The first call that it belongs to, from 0.
    pub calls_from: usize,
    /// The call behind the last.
    pub calls_to: usize,
    /// The hash of what the model had read.
    pub after: Option<String>,
}

impl From<&ProviderState> for StateInput {
    fn from(state: &ProviderState) -> Self {
        let Span { text, calls } = &state.span;
        Self {
            protocol: state.protocol.clone(),
            model: state.model.clone(),
            json: state.json.clone(),
            text_from: text.start,
            text_to: text.end,
            calls_from: calls.start,
            calls_to: calls.end,
            after: state.after.clone(),
        }
    }
}

impl StateInput {
    /// Where in the message it belongs.
    pub fn span(&self) -> Span {
        Span { text: self.text_from..self.text_to, calls: self.calls_from..self.calls_to }
    }
}

impl From<&StateInput> for ProviderState {
    fn from(state: &StateInput) -> Self {
        Self {
            protocol: state.protocol.clone(),
            model: state.model.clone(),
            json: state.json.clone(),
            span: state.span(),
            after: state.after.clone(),
        }
    }
}

/// What compaction made of a stretch of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default = "Digest::of_file", deny_unknown_fields)]
pub struct Digest {
    /// Its name.
    pub id: String,
    /// What it says.
    pub text: String,
    /// Who wrote what it was made from; the least trusted of them.
    pub trust: TrustName,
}

impl Digest {
    /// A digest with nothing in it, whose texts somebody wrote.
    pub fn by(trust: TrustName) -> Self {
        Self { id: String::new(), text: String::new(), trust }
    }

    fn of_file() -> Self {
        Self::by(TrustName::File)
    }
}

/// What a summarising call reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummarizeInput {
    /// The summary so far.
    pub existing: Option<Quoted>,
    /// The messages to summarise.
    pub messages: Vec<HistoryMessage>,
    /// The first of two summaries to merge.
    pub first: Option<Quoted>,
    /// The second of two summaries to merge.
    pub second: Option<Quoted>,
}

/// What a delegated run is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default = "DelegateInput::of_file", deny_unknown_fields)]
pub struct DelegateInput {
    /// The task.
    pub task: String,
    /// The skill whose instructions a worker follows.
    pub skill: Option<ActiveSkill>,
    /// What the worker needs to know besides.
    pub context: Option<String>,
    /// Calls of a model that it has left, where it is told so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds_left: Option<u32>,
    /// Seconds that it has left, where it is told so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<u64>,
    /// Who wrote the task and what else the worker needs to know.
    #[serde(skip_serializing_if = "TrustName::is_file")]
    pub trust: TrustName,
}

impl DelegateInput {
    /// A run with nothing in it, whose texts somebody wrote.
    pub fn by(trust: TrustName) -> Self {
        Self { task: String::new(), skill: None, context: None, rounds_left: None, seconds_left: None, trust }
    }

    fn of_file() -> Self {
        Self::by(TrustName::File)
    }
}
