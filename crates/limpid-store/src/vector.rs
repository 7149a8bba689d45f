//! What memories and messages mean to a model of embeddings.

use async_trait::async_trait;
use limpid_core::recall::Embedding;
use limpid_core::{MemoryId, MessageId};

use crate::StoreError;

/// Embeddings of memories, and of what person and agent said in chats. A text has one of one model at a time; it goes when
/// the text goes or changes.
#[async_trait]
pub trait Vectors: Send + Sync {
    /// Texts that have no embedding of this model: memories first, then messages after `after`, the newest first of
    /// both; at most `limit`.
    async fn without_vector(&self, model: &str, after: Option<MessageId>, limit: u32) -> Result<Missing, StoreError>;

    /// Keeps what a model made of texts, in the place of what another made of them. What was said or remembered
    /// otherwise since is left out. Returns how many were kept.
    async fn keep_vectors(&self, model: &str, seen: Vec<Seen>) -> Result<u64, StoreError>;

    /// How many of the texts have an embedding of this model.
    async fn vector_state(&self, model: &str) -> Result<VectorState, StoreError>;

    /// Deletes every embedding, whichever model made it. Returns how many there were.
    async fn drop_vectors(&self) -> Result<u64, StoreError>;
}

/// Where a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextOf {
    /// It is what a memory says.
    Memory(MemoryId),
    /// It is what a message says.
    Message(MessageId),
}

/// A text that a model has not seen yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen {
    /// Where it stands.
    pub of: TextOf,
    /// The whole text.
    pub text: String,
}

/// What an index lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Texts that a model has not seen yet.
    pub texts: Vec<Unseen>,
    /// The newest message that there was. When no text is missing, none up to this one is.
    pub newest: Option<MessageId>,
}

/// What a model made of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The text as it was found.
    pub unseen: Unseen,
    /// What it means; none when the model refuses this text, which is then not shown to it again.
    pub embedding: Option<Embedding>,
}

/// How many texts have an embedding; those that were refused count too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VectorState {
    /// Memories.
    pub memories: u64,
    /// Memories with an embedding.
    pub memories_seen: u64,
    /// Messages of persons and of the agent in chats.
    pub messages: u64,
    /// Such messages with an embedding.
    pub messages_seen: u64,
}
