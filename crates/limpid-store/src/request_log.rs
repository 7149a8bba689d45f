//! The request log: every request that left for a model, and what came back.

use std::collections::BTreeMap;

use async_trait::async_trait;
use limpid_core::{
    CallId, ConversationId, FailureClass, Money, ProviderState, RequestId, Role, ToolCall, Trust, TurnId, Usage,
};

use crate::{CostQuery, CostRow, Listed, SharedPrefix, SpentRow, StoreError};

/// The request log. A turn's requests are written with [`crate::Turns::commit`].
#[async_trait]
pub trait RequestLog: Send + Sync {
    /// Records a request that is about to be sent and belongs to no turn (a replay, a test of a model).
    ///
    /// # Errors
    /// [`StoreError::Exists`] when its id is taken; [`StoreError::Invalid`] when a part is not in its message.
    async fn record_request(&self, new: NewRequest) -> Result<SharedPrefix, StoreError>;

    /// Records what came back for a request that belongs to no turn.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such request; [`StoreError::Invalid`] when it has ended.
    async fn end_request(&self, id: &RequestId, end: RequestEnd) -> Result<(), StoreError>;

    /// One request with its messages, byte for byte; or none of that id.
    async fn request(&self, id: &RequestId) -> Result<Option<Request>, StoreError>;

    /// Requests, newest first.
    async fn requests(&self, filter: RequestFilter) -> Result<Listed<RequestSummary>, StoreError>;

    /// When the newest requests of a path were sent, in milliseconds since 1970, the newest first: those of a conversation,
    /// or of all.
    async fn sent_times(
        &self,
        path: &str,
        conversation: Option<&ConversationId>,
        limit: u32,
    ) -> Result<Vec<i64>, StoreError>;

    /// Sums of what was used and paid, by path, model, day or conversation.
    async fn costs(&self, query: CostQuery) -> Result<Vec<CostRow>, StoreError>;

    /// What was used by path since a time, in milliseconds since 1970: of all requests, or of one turn's.
    async fn spent(&self, since_ms: i64, turn: Option<&TurnId>) -> Result<Vec<SpentRow>, StoreError>;

    /// Whether a stranger's text began the work of a turn; see [`SpentRow::by_strangers`].
    async fn begun_by_strangers(&self, turn: &TurnId) -> Result<bool, StoreError>;

    /// Deletes requests by age and size, oldest first, and the texts that only they used; messages stay.
    /// A request whose turn has not ended stays too.
    async fn prune_requests(&self, retention: Retention) -> Result<Pruned, StoreError>;
}

/// A request that is about to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRequest {
    /// Its id, drawn by the caller.
    pub id: RequestId,
    /// The conversation that it is part of.
    pub conversation: Option<ConversationId>,
    /// The turn that it is part of.
    pub turn: Option<TurnId>,
    /// Which call of its turn it is, from 1.
    pub round: u32,
    /// The provider's name.
    pub provider: String,
    /// The model's name as the provider knows it.
    pub model: String,
    /// The protocol's name.
    pub protocol: String,
    /// Where it goes: a URL without secrets, or `local:<file name>`.
    pub target: String,
    /// The profile of its prompt.
    pub profile: String,
    /// The path of its prompt.
    pub path: String,
    /// The revision of its prompt.
    pub revision: String,
    /// How the reply is drawn, as JSON text.
    pub sampling: String,
    /// The tools as they are declared, as JSON text whose bytes never change for the same tools.
    pub tools: String,
    /// The body as it is sent; its hash and length are kept.
    pub body: String,
    /// The messages, in the order in which they are sent.
    pub messages: Vec<RequestMessage>,
    /// Tokens of the whole request by the turn's own estimate.
    pub estimate: Option<u64>,
    /// The same by kind of text, as whoever counted names the kinds; empty when it was not kept.
    pub estimate_by_kind: BTreeMap<String, u64>,
    /// The process that sends it, as leases name it.
    pub holder: Option<String>,
    /// When it is sent, in milliseconds since 1970.
    pub sent_ms: i64,
}

/// One message of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestMessage {
    /// Who speaks.
    pub role: Role,
    /// Exactly what is sent.
    pub text: String,
    /// The calls of an assistant message.
    pub calls: Vec<ToolCall>,
    /// What its provider gets back with it.
    pub state: Vec<ProviderState>,
    /// The call that a tool message answers.
    pub call_id: Option<CallId>,
    /// The parts that, with the joins between them, make the text; in their order.
    pub parts: Vec<RequestPart>,
}

/// A stretch of a message that comes from one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPart {
    /// The section's id.
    pub section: String,
    /// Where the text comes from.
    pub origin: String,
    /// How often it changes: `fixed`, `session` or `turn`.
    pub stability: String,
    /// Who wrote it.
    pub trust: Trust,
    /// The text as it stands in the message.
    pub text: String,
    /// Its tokens as they were counted when the request log first had this part in this place.
    pub tokens: Option<u64>,
}

/// What came back for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestEnd {
    /// The answer's text, as much of it as came.
    pub text: String,
    /// The reasoning, as much of it as was shown.
    pub reasoning: String,
    /// The calls, whole ones only.
    pub calls: Vec<ToolCall>,
    /// Who wrote what the answer was made from; the least trusted of them.
    pub trust: Trust,
    /// Why the answer was over, in the model's word.
    pub finish: Option<String>,
    /// The model that answered by its provider's name, when it is another than was asked for.
    pub model: Option<String>,
    /// What the provider counted; absent when it did not say.
    pub usage: Option<Usage>,
    /// What it cost; absent when no price is known.
    pub cost: Option<Money>,
    /// Why it failed, if it did: the class, and what was wrong.
    pub failure: Option<(FailureClass, String)>,
    /// When the first piece of the answer came, in milliseconds since 1970.
    pub first_ms: Option<i64>,
    /// When it was over, in milliseconds since 1970.
    pub ended_ms: i64,
}

/// One request without its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestSummary {
    /// Its id.
    pub id: RequestId,
    /// The conversation that it is part of.
    pub conversation: Option<ConversationId>,
    /// The turn that it is part of.
    pub turn: Option<TurnId>,
    /// Which call of its turn it is, from 1.
    pub round: u32,
    /// The provider's name.
    pub provider: String,
    /// The model's name as the provider knows it.
    pub model: String,
    /// The protocol's name.
    pub protocol: String,
    /// Where it went.
    pub target: String,
    /// The profile of its prompt.
    pub profile: String,
    /// The path of its prompt.
    pub path: String,
    /// The revision of its prompt.
    pub revision: String,
    /// How the reply was drawn, as JSON text.
    pub sampling: String,
    /// SHA-256 of the tools as they were declared, in hexadecimal digits.
    pub tools_hash: String,
    /// SHA-256 of the body as it was sent, in hexadecimal digits.
    pub body_hash: String,
    /// Bytes of the body.
    pub body_bytes: u64,
    /// Messages in it.
    pub messages: u64,
    /// Bytes of their texts and calls.
    pub message_bytes: u64,
    /// Tokens of the whole request by the turn's own estimate.
    pub estimate: Option<u64>,
    /// The same by kind of text, as whoever counted names the kinds; empty when it was not kept.
    pub estimate_by_kind: BTreeMap<String, u64>,
    /// The process that sent it, as leases name it; absent in requests of older versions.
    pub holder: Option<String>,
    /// What it shares with the request before it, of the same conversation and path.
    pub shared: SharedPrefix,
    /// When it was sent, in milliseconds since 1970.
    pub sent_ms: i64,
    /// What came back; absent while it is under way, or when the process ended before it came.
    pub end: Option<RequestEnd>,
}

/// One request with everything that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What is known of it besides its messages.
    pub summary: RequestSummary,
    /// The tools as they were declared, as JSON text.
    pub tools: String,
    /// The messages as they were sent, byte for byte.
    pub messages: Vec<RequestMessage>,
}

/// Which requests to list; what is absent does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFilter {
    /// Only of this conversation.
    pub conversation: Option<ConversationId>,
    /// Only of this turn.
    pub turn: Option<TurnId>,
    /// Only of this prompt path.
    pub path: Option<String>,
    /// Only of this model.
    pub model: Option<String>,
    /// Only those that failed.
    pub failed: bool,
    /// Only those that have an answer and no stranger's text.
    pub clean: bool,
    /// Only those whose id begins so.
    pub id_prefix: Option<String>,
    /// Only those sent at this time or later, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Only those sent before this time, in milliseconds since 1970.
    pub until_ms: Option<i64>,
    /// At most so many.
    pub limit: u32,
}

impl Default for RequestFilter {
    /// The newest 50.
    fn default() -> Self {
        Self {
            conversation: None,
            turn: None,
            path: None,
            model: None,
            failed: false,
            clean: false,
            id_prefix: None,
            since_ms: None,
            until_ms: None,
            limit: 50,
        }
    }
}

/// What the request log keeps; absent limits do not apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Requests sent before this time go, in milliseconds since 1970.
    pub before_ms: Option<i64>,
    /// The oldest requests go until the request log's texts have at most so many bytes; those with strangers' texts before others while
    /// these have more than half of it.
    pub max_bytes: Option<u64>,
}

/// What retention deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Requests.
    pub requests: u64,
    /// Texts that nothing uses any more.
    pub texts: u64,
    /// Bytes of these texts.
    pub bytes: u64,
}
