//! Memories, what happened to them, and candidates for recall.

use async_trait::async_trait;
use limpid_core::recall::Corpus;
use limpid_core::{Category, Memory, MemoryId, Trust};

use crate::{Listed, StoreError};

/// What the agent was asked to keep. Every change is an event that can be undone.
#[async_trait]
pub trait Memories: Send + Sync {
    /// Stores a memory. A key that is known gets the new content and keeps category, hits and time of creation
    /// (KAI-047); without a key, the same content is the same memory, and a new one's number is its key (KOSHI-026).
    async fn store_memory(&self, new: NewMemory) -> Result<StoredMemory, StoreError>;

    /// Changes a memory's content or category.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such memory.
    async fn update_memory(&self, which: &MemoryRef, change: MemoryChange) -> Result<Memory, StoreError>;

    /// Forgets a memory, and returns it as it was.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such memory.
    async fn forget_memory(&self, which: &MemoryRef, now_ms: i64) -> Result<Memory, StoreError>;

    /// Says that a memory helped: one hit and 3 points more, and its time is now.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such memory.
    async fn reinforce_memory(&self, which: &MemoryRef, now_ms: i64) -> Result<Memory, StoreError>;

    /// Says that a memory did not help: one point less.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such memory.
    async fn demote_memory(&self, which: &MemoryRef, now_ms: i64) -> Result<Memory, StoreError>;

    /// Pins a memory to every prompt, or takes it off.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such memory.
    async fn pin_memory(&self, which: &MemoryRef, pinned: bool, now_ms: i64) -> Result<Memory, StoreError>;

    /// Undoes one event: the memory is as it was before it, whatever came later. The undo is an event itself.
    /// Returns the memory, or none when before the event there was none.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such event; [`StoreError::Invalid`] when the key is another memory's now.
    async fn undo_memory(&self, event: MemoryEventId, now_ms: i64) -> Result<Option<Memory>, StoreError>;

    /// One memory, or none of that number or key.
    async fn memory(&self, which: &MemoryRef) -> Result<Option<Memory>, StoreError>;

    /// Memories by time of creation, then key; all, or those of one category.
    async fn memories(&self, category: Option<Category>) -> Result<Listed<Memory>, StoreError>;

    /// What happened to a memory, oldest first; to all of them without one.
    async fn memory_events(&self, id: Option<MemoryId>) -> Result<Listed<MemoryEvent>, StoreError>;

    /// Memories that hold any of `words` (as [`limpid_core::recall::query_words`] gives them), at most `limit`, with
    /// what the ranker needs to know about the whole store. No order is promised: [`limpid_core::recall::rank`] makes it.
    async fn candidates(&self, words: &[String], limit: u32) -> Result<Candidates, StoreError>;
}

/// A memory, by its number or its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryRef {
    /// By its number.
    Id(MemoryId),
    /// By its key.
    Key(String),
}

impl From<MemoryId> for MemoryRef {
    fn from(id: MemoryId) -> Self {
        Self::Id(id)
    }
}

impl From<&str> for MemoryRef {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

/// How the agent came to know something (LES-050).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Author {
    /// Somebody said it.
    #[default]
    Said,
    /// The model inferred it.
    Inferred,
}

impl Author {
    /// The author's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Said => "said",
            Self::Inferred => "inferred",
        }
    }

    /// Reads an author's name.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Said, Self::Inferred].into_iter().find(|author| author.as_str() == word)
    }
}

/// A memory to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMemory {
    /// The name to store it under; absent: its number.
    pub key: Option<String>,
    /// What is remembered.
    pub content: String,
    /// What kind of thing it is; a known key keeps its own.
    pub category: Category,
    /// Who wrote the content.
    pub trust: Trust,
    /// How the agent came to know it.
    pub author: Author,
    /// Where it comes from: a turn, a file, a person; for whoever reads the history.
    pub source: Option<String>,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// What storing a memory came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMemory {
    /// The memory as it stands.
    pub memory: Memory,
    /// Whether it is new; a known one was merged with.
    pub fresh: bool,
}

/// A change of a memory; what is absent stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryChange {
    /// The new content, and who wrote it.
    pub content: Option<(String, Trust)>,
    /// The new category.
    pub category: Option<Category>,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// One event of one memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryEventId(pub i64);

/// Something that happened to a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryEvent {
    /// Its number.
    pub id: MemoryEventId,
    /// The memory.
    pub memory: MemoryId,
    /// What happened.
    pub kind: MemoryEventKind,
    /// The memory before, if there was one.
    pub before: Option<Memory>,
    /// The memory after, if there is one.
    pub after: Option<Memory>,
    /// How the agent came to know what was stored.
    pub author: Option<Author>,
    /// Where what was stored comes from.
    pub source: Option<String>,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
}

/// What happened to a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryEventKind {
    /// It was stored.
    Stored,
    /// Its content or category was changed.
    Updated,
    /// It helped.
    Reinforced,
    /// It did not help.
    Demoted,
    /// It was pinned.
    Pinned,
    /// It was taken off the prompt.
    Unpinned,
    /// It was forgotten.
    Forgotten,
    /// An earlier event was undone.
    Undone,
}

impl MemoryEventKind {
    const ALL: [Self; 8] = [
        Self::Stored,
        Self::Updated,
        Self::Reinforced,
        Self::Demoted,
        Self::Pinned,
        Self::Unpinned,
        Self::Forgotten,
        Self::Undone,
    ];

    /// The kind's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Updated => "updated",
            Self::Reinforced => "reinforced",
            Self::Demoted => "demoted",
            Self::Pinned => "pinned",
            Self::Unpinned => "unpinned",
            Self::Forgotten => "forgotten",
            Self::Undone => "undone",
        }
    }

    /// Reads a kind's name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// What may be recalled, and what the ranker needs to know besides.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidates {
    /// Memories that hold at least one of the words.
    pub memories: Vec<Memory>,
    /// The whole store: how many memories, how long, and how many hold each word.
    pub corpus: Corpus,
    /// Candidates that could not be read.
    pub broken: Vec<crate::Broken>,
}
