//! Memories, what happened to them, and candidates for recall.

use std::collections::HashMap;

use async_trait::async_trait;
use limpid_core::recall::{Corpus, Meaning};
use limpid_core::{Category, ConversationId, Memory, MemoryId, Trust};

use crate::{Author, Listed, MemoryEvent, MemoryEventId, StoreError};

/// What the agent was asked to keep. Every change is an event that can be undone.
#[async_trait]
pub trait Memories: Send + Sync {
    /// Stores a memory. A key that is known gets the new content and keeps category, hits and time of creation; without a key, the same content is the same memory, and a new one's number is its key.
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

    /// Memories by time of creation, then key; all that are not archived, or those of one category.
    async fn memories(&self, category: Option<Category>) -> Result<Listed<Memory>, StoreError>;

    /// Those of them that are pinned, or have enough hits to be promoted
    /// ([`PROMOTION_HITS`](limpid_core::memory::PROMOTION_HITS)), by time of creation, then key. Costs nothing for all
    /// the others.
    async fn prominent_memories(&self) -> Result<Listed<Memory>, StoreError>;

    /// Who said the present content of memories, where and when. A memory whose event cannot be found is left out.
    async fn provenance(&self, ids: &[MemoryId]) -> Result<Vec<(MemoryId, Provenance)>, StoreError>;

    /// Moves the hundredth of the memories with the lowest score, the oldest of them first, to the archive, when all
    /// that are not there have more than `max_bytes` of text. Pinned ones stay. Returns how many went.
    /// Whatever changes an archived memory takes it out again.
    async fn archive_memories(&self, max_bytes: u64, now_ms: i64) -> Result<u64, StoreError>;

    /// Memories in the archive, by time of creation, then key. Search finds them as it finds all others.
    async fn archived_memories(&self) -> Result<Listed<Memory>, StoreError>;

    /// How much of the memories the search index covers.
    async fn memory_index(&self) -> Result<IndexState, StoreError>;

    /// Makes the search index anew from the memories. Returns how many it has.
    async fn rebuild_memory_index(&self) -> Result<u64, StoreError>;

    /// What happened to a memory, oldest first; to all of them without one.
    async fn memory_events(&self, id: Option<MemoryId>) -> Result<Listed<MemoryEvent>, StoreError>;

    /// Memories that hold any of `words` (as [`limpid_core::recall::query_words`] gives them), and with a `meaning` those
    /// that are nearest to it, with what the ranker needs to know about the whole store: at most `limit` of the owner's and as many
    /// of strangers'. No order is promised: [`limpid_core::recall::rank`] makes it, of each side alone.
    async fn candidates(
        &self,
        words: &[String],
        meaning: Option<&Meaning>,
        limit: u32,
    ) -> Result<Candidates, StoreError>;
}

/// A memory, by its number or its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryRef {
    /// By its number.
    Id(MemoryId),
    /// By its key.
    Key(String),
}

/// Digits that the number of a memory has at most, where a word may mean one.
const LONGEST_NUMBER: usize = 6;

impl MemoryRef {
    /// What a person or a model means by a word. One that reads as a number is the number: whoever chose a key must not stand in the
    /// place of a number that was shown.
    pub fn named(word: &str) -> Self {
        Self::number(word).map_or_else(|| Self::Key(word.trim().to_owned()), Self::Id)
    }

    /// The number that a word reads as: `12`, `id:12` or `[id:12]`. Longer ones are numbers of telephones and the like.
    pub fn number(word: &str) -> Option<MemoryId> {
        let bare = word.trim().trim_start_matches('[').trim_end_matches(']');
        let digits = bare.strip_prefix("id:").unwrap_or(bare).trim();
        let is_number =
            (1..=LONGEST_NUMBER).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
        digits.parse().ok().filter(|_| is_number).map(MemoryId)
    }
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
    /// Whether the owner makes the memory their own, as it is with that content. Without that no label gets better. A stranger's
    /// key is theirs only when they named the memory by it; one that is named by its number, or by what a stranger's text led to, has
    /// its number for a key.
    pub adopts: bool,
    /// Whether a stranger's text may have led to how the memory is named.
    pub led: bool,
    /// The new category.
    pub category: Option<Category>,
    /// How the agent came to know it.
    pub author: Author,
    /// Where it comes from.
    pub source: Option<String>,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// Who said a memory's content, where and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// How the agent came to know it.
    pub author: Author,
    /// Where it comes from: `turn:ID`, a place of the owner's.
    pub source: Option<String>,
    /// The conversation, when it comes from a turn.
    pub conversation: Option<ConversationId>,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
}

/// How much of the memories the search index covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexState {
    /// Memories that there are.
    pub memories: u64,
    /// Those of them that the index has.
    pub indexed: u64,
}

/// What may be recalled, and what the ranker needs to know besides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidates {
    /// Memories that hold at least one of the words, or are near the meaning.
    pub memories: Vec<Memory>,
    /// How alike they are to the meaning, where that is known: from 0 to 1.
    pub likeness: HashMap<MemoryId, f64>,
    /// The owner's memories: how many they are, how long, and how many hold each word. By this alone they are ranked, so that nothing
    /// that was stored because of a stranger's text counts there.
    pub corpus: Corpus,
    /// The whole store, by which strangers' memories are ranked.
    pub whole: Corpus,
    /// Candidates that could not be read.
    pub broken: Vec<crate::Broken>,
}
