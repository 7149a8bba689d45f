//! Memories that were taken into the soul, and those that wait for a person's word.

use async_trait::async_trait;
use limpid_core::{Memory, Trust};
use sha2::{Digest as _, Sha256};

use crate::{FileHash, Listed, MemoryRef, StoreError};

/// What became of memories that proved themselves: recorded changes of the soul that can be undone.
#[async_trait]
pub trait Promotions: Send + Sync {
    /// Takes a memory into the soul: the addition stands there, the memory is gone.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such memory; [`StoreError::Invalid`] when it has fewer than
    /// [`PROMOTION_HITS`](limpid_core::memory::PROMOTION_HITS) hits. Nothing has changed then.
    async fn promote_memory(&self, which: &MemoryRef, new: NewPromotion) -> Result<Promotion, StoreError>;

    /// Keeps the proposal to do so; the memory stays. The same proposal again is the same row.
    ///
    /// # Errors
    /// As [`Promotions::promote_memory`].
    async fn propose_promotion(&self, which: &MemoryRef, new: NewPromotion) -> Result<Promotion, StoreError>;

    /// Carries out a proposal as it was shown; `seen` is its [`Promotion::hash`], or the digits that a person named of it.
    ///
    /// # Errors
    /// As [`Promotions::promote_memory`]; [`StoreError::Invalid`] when the proposal was decided before, or something else was
    /// shown.
    async fn approve_promotion(&self, id: PromotionId, seen: &str, now_ms: i64) -> Result<Promotion, StoreError>;

    /// Takes the memory of a proposal into the soul with other words, and refuses the proposal's own.
    ///
    /// # Errors
    /// As [`Promotions::approve_promotion`].
    async fn reword_promotion(&self, id: PromotionId, seen: &str, new: NewPromotion) -> Result<Promotion, StoreError>;

    /// Refuses a proposal; the memory stays.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such proposal; [`StoreError::Invalid`] when it was decided before.
    async fn refuse_promotion(&self, id: PromotionId, now_ms: i64) -> Result<Promotion, StoreError>;

    /// Takes a promotion's text, and nothing else, out of the soul, and restores its memory with its hits.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such promotion; [`StoreError::Invalid`] when its text is not in the
    /// soul, or another memory has the key.
    async fn undo_promotion(&self, id: PromotionId, now_ms: i64) -> Result<Promotion, StoreError>;

    /// Promotions of a state, or all, in the order in which they were decided or proposed.
    async fn promotions(&self, state: Option<PromotionState>) -> Result<Listed<Promotion>, StoreError>;
}

/// The number of a promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PromotionId(pub i64);

/// A promotion to be made or proposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPromotion {
    /// What is added to the soul.
    pub addition: String,
    /// The least trusted text that whoever worded it had read.
    pub trust: Trust,
    /// Where it comes from: `turn:ID`, a place of the owner's.
    pub source: Option<String>,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// A memory on its way into the soul, in it, or out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promotion {
    /// Its number.
    pub id: PromotionId,
    /// The memory as it is while the proposal waits, and as it was when that was decided.
    pub memory: Memory,
    /// What is added to the soul.
    pub addition: String,
    /// What became of it.
    pub state: PromotionState,
    /// The least trusted text that whoever worded it had read.
    pub trust: Trust,
    /// Where it comes from.
    pub source: Option<String>,
    /// When it was proposed, in milliseconds since 1970.
    pub proposed_ms: i64,
    /// When it was carried out, refused or undone.
    pub decided_ms: Option<i64>,
}

impl Promotion {
    /// Whether a stranger wrote the memory, or whoever worded the addition had read a stranger's text.
    pub fn is_foreign(&self) -> bool {
        self.trust.is_foreign() || self.memory.trust.is_foreign()
    }

    /// The hash of what a person is shown who decides, in hexadecimal digits: the memory that goes, the words that come, and whose these are.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        let shown = [self.memory.id.to_string(), self.memory.trust.to_string(), self.trust.to_string()];
        for part in shown.iter().chain([&self.memory.key, &self.memory.content, &self.addition]) {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        FileHash(hash.finalize().into()).to_string()
    }
}

/// What became of a promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PromotionState {
    /// It waits for a person's word.
    Pending,
    /// Its text is part of the soul.
    Standing,
    /// A person did not want it.
    Refused,
    /// Its text was taken out again.
    Undone,
}

impl PromotionState {
    /// The state's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Standing => "standing",
            Self::Refused => "refused",
            Self::Undone => "undone",
        }
    }

    /// Reads a state's name.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Pending, Self::Standing, Self::Refused, Self::Undone].into_iter().find(|state| state.as_str() == word)
    }
}
