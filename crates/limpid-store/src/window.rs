//! What a model sees of a conversation: views, attempts to change them, and snapshots.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use limpid_core::recall::{Corpus, Meaning, Place};
use limpid_core::{CallId, ConversationId, MessageId, TurnId, WindowView};

use crate::{Broken, Lease, Listed, StoreError, StoredMessage};

/// Views of conversations. Nothing here changes or deletes a message.
#[async_trait]
pub trait Windows: Send + Sync {
    /// What is shown of a conversation; the empty view when nothing was ever changed.
    async fn window(&self, id: &ConversationId) -> Result<WindowView, StoreError>;

    /// Writes down an attempt. When it comes with a view, that view is shown from here on; all of it happens or nothing.
    ///
    /// # Errors
    /// [`StoreError::StaleFence`] when the lease is somebody else's.
    async fn write_window(&self, lease: &Lease, new: NewWindowEvent, now_ms: i64) -> Result<WindowEvent, StoreError>;

    /// Attempts, newest first.
    async fn window_events(&self, id: &ConversationId, limit: u32) -> Result<Listed<WindowEvent>, StoreError>;

    /// Keeps a moment. Of the automatic ones of a conversation the newest five stay of those that show a stranger's text, and the newest
    /// five of the others. There is one a newest message and side: where it is kept already, that one is the answer.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such conversation.
    async fn keep_snapshot(&self, id: &ConversationId, new: NewSnapshot, now_ms: i64) -> Result<Snapshot, StoreError>;

    /// The kept moments of a conversation, newest first.
    async fn kept_snapshots(&self, id: &ConversationId) -> Result<Listed<Snapshot>, StoreError>;

    /// The message that a conversation began with: the person's first one.
    async fn first_message(&self, id: &ConversationId) -> Result<Option<StoredMessage>, StoreError>;

    /// The messages that conversations began with; none for one whose message cannot be read. A conversation without any is left out.
    async fn first_messages(
        &self,
        ids: &[ConversationId],
    ) -> Result<HashMap<ConversationId, Option<StoredMessage>>, StoreError>;

    /// The newest message of a conversation; none when it is empty, or when that message cannot be read.
    async fn last_message(&self, id: &ConversationId) -> Result<Option<StoredMessage>, StoreError>;

    /// The person's message that a turn began with.
    async fn request_of(&self, id: &ConversationId, turn: &TurnId) -> Result<Option<StoredMessage>, StoreError>;

    /// The messages of a conversation that hold any of these words, at most `limit` of the owner's and as many of
    /// strangers', with a `meaning` those that are nearest to it, and those around them; what compaction took out of the window is found like the rest. No
    /// order is promised: [`limpid_core::recall::rank_passages`] makes it.
    async fn search_messages(
        &self,
        id: &ConversationId,
        words: &[String],
        meaning: Option<&Meaning>,
        limit: u32,
    ) -> Result<FoundMessages, StoreError>;

    /// Names of calls that a conversation has had; a later call must have another.
    async fn call_ids(&self, id: &ConversationId) -> Result<Vec<CallId>, StoreError>;
}

/// Messages that may answer a query, with what the ranker needs to know about their conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundMessages {
    /// Each with its place: after a long pause a new session begins.
    pub messages: Vec<(StoredMessage, Place)>,
    /// How alike they are to the meaning, where that is known: from 0 to 1.
    pub likeness: HashMap<MessageId, f64>,
    /// Those of them that strangers said, or what their text led to.
    pub of_strangers: HashSet<MessageId>,
    /// The conversation without strangers' messages. By this alone the owner's are ranked.
    pub corpus: Corpus,
    /// The whole conversation, by which strangers' messages are ranked.
    pub whole: Corpus,
    /// Messages that cannot be read.
    pub broken: Vec<Broken>,
}

/// Automatic snapshots that a conversation keeps, of the owner's as of strangers'.
pub const AUTOMATIC_SNAPSHOTS: usize = 5;

/// An attempt to change what is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewWindowEvent {
    /// What was tried: `compaction`, `emergency`, `undo`, `restore`.
    pub kind: String,
    /// Why nothing came of it; absent: it was done.
    pub failure: Option<String>,
    /// The newest message.
    pub newest: Option<MessageId>,
    /// Tokens of the conversation before.
    pub before: u64,
    /// Tokens of the conversation after.
    pub after: u64,
    /// What was done, a line each.
    pub steps: Vec<String>,
    /// What is shown from here on; absent: as before.
    pub view: Option<WindowView>,
}

/// A stored attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowEvent {
    /// Its number, which grows.
    pub id: i64,
    /// What was tried.
    pub new: NewWindowEvent,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
}

/// A moment to be kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSnapshot {
    /// Whether the program keeps it for itself, and may let it go for a newer one.
    pub automatic: bool,
    /// Why it is kept.
    pub reason: String,
    /// The newest message.
    pub newest: Option<MessageId>,
    /// The mode that is on.
    pub mode: Option<String>,
    /// The tier of its prompts, once there was one.
    pub tier: Option<u8>,
    /// Records of the goals' log; absent where an earlier version kept the moment.
    pub goals: Option<u64>,
    /// Whether a stranger's text is in what is shown.
    pub of_strangers: bool,
    /// What is shown.
    pub view: WindowView,
}

/// A kept moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Its number, which grows.
    pub id: i64,
    /// What it keeps.
    pub kept: NewSnapshot,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
}
