//! What spans are made from. There is no field for a text that anybody wrote.

use limpid_core::{CallId, ConversationId, FailureClass, Money, RequestId, TurnId, Usage};

/// A turn that has ended.
#[derive(Clone, Copy, Debug)]
pub struct TurnFacts<'a> {
    /// Its id.
    pub turn: &'a TurnId,
    /// The conversation that it is part of.
    pub conversation: &'a ConversationId,
    /// The path of its prompt: `chat-remote`, `heartbeat`, …
    pub path: &'a str,
    /// The call that started it, when an agent does it.
    pub started_by: Option<(&'a TurnId, &'a CallId)>,
    /// When it began, in milliseconds since 1970.
    pub began_ms: i64,
    /// When it ended, in milliseconds since 1970.
    pub ended_ms: i64,
    /// How it ended.
    pub end: TurnEnd,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// With an answer.
    Answered,
    /// The person stopped it.
    Cancelled,
    /// It failed.
    Failed(FailureClass),
}

/// A request to a model that has ended.
#[derive(Clone, Copy, Debug)]
pub struct RequestFacts<'a> {
    /// Its id.
    pub id: &'a RequestId,
    /// The turn that it is part of, if any.
    pub turn: Option<&'a TurnId>,
    /// The conversation that it is part of, if any.
    pub conversation: Option<&'a ConversationId>,
    /// The path of its prompt.
    pub path: &'a str,
    /// The provider's name.
    pub provider: &'a str,
    /// The model that was asked, as the provider names it.
    pub model: &'a str,
    /// The model that answered, when it is another.
    pub answered_by: Option<&'a str>,
    /// Where it went: a URL, or `local:…`.
    pub target: &'a str,
    /// When it was sent, in milliseconds since 1970.
    pub sent_ms: i64,
    /// When the first piece of the answer came, in milliseconds since 1970.
    pub first_ms: Option<i64>,
    /// When it was over, in milliseconds since 1970.
    pub ended_ms: i64,
    /// Why the answer was over, in the request log's word.
    pub finish: Option<&'a str>,
    /// What the provider counted.
    pub usage: Option<Usage>,
    /// What it cost, when that is known.
    pub cost: Option<Money>,
    /// Why it failed, if it did.
    pub failure: Option<FailureClass>,
}

/// A call of a tool that ran.
#[derive(Clone, Copy, Debug)]
pub struct ToolFacts<'a> {
    /// The turn that it is part of.
    pub turn: &'a TurnId,
    /// The conversation of that turn.
    pub conversation: &'a ConversationId,
    /// Its id.
    pub call: &'a CallId,
    /// The tool's name.
    pub tool: &'a str,
    /// When it began, in milliseconds since 1970.
    pub began_ms: i64,
    /// When it ended, in milliseconds since 1970.
    pub ended_ms: i64,
    /// Why it brought nothing, if it failed.
    pub failure: Option<ToolFailure>,
}

/// Why a call of a tool brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolFailure {
    /// The tool said that it failed.
    Failed,
    /// It took too long.
    Timeout,
    /// The turn ended before it did.
    Cancelled,
}

impl ToolFailure {
    /// Its name in spans.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }
}
