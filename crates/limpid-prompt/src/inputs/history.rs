//! Messages of the conversation, and what summarising and delegated calls read.

use limpid_core::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ActiveSkill, TrustName};

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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HistoryMessage {
    /// Who speaks.
    pub role: RoleName,
    /// What was said.
    pub content: String,
    /// Who wrote it.
    pub trust: TrustName,
    /// The calls of an assistant message.
    pub calls: Vec<CallInput>,
    /// The call that a tool message answers.
    pub call_id: Option<String>,
    /// The tag of the boundary that was drawn around foreign text. Absent: the run's own.
    pub boundary: Option<String>,
    /// The message's number in the store, for its origin.
    pub id: Option<i64>,
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

/// A text that is quoted, with who wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Quoted {
    /// What it says.
    pub text: String,
    /// Who wrote it.
    pub trust: TrustName,
}

/// What compaction made of a stretch of the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Digest {
    /// Its name.
    pub id: String,
    /// What it says.
    pub text: String,
    /// Who wrote what it was made from; the least trusted of them.
    pub trust: TrustName,
}

/// What a summarising call reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SummarizeInput {
    /// The summary so far.
    pub existing: Option<String>,
    /// The messages to summarise.
    pub messages: Vec<HistoryMessage>,
    /// The first of two summaries to merge.
    pub first: Option<String>,
    /// The second of two summaries to merge.
    pub second: Option<String>,
}

/// What a delegated run is to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DelegateInput {
    /// The task.
    pub task: String,
    /// The skill whose instructions a worker follows.
    pub skill: Option<ActiveSkill>,
    /// What the worker needs to know besides.
    pub context: Option<String>,
}
