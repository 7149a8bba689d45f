//! What the owner does with memories by hand. Surfaces change them only here.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use limpid_config::{Config, Live};
use limpid_core::{Category, Memory, MemoryId};
use limpid_store::{
    IndexState, Listed, MemoryEvent, MemoryEventId, MemoryRef, NewPromotion, Promotion, PromotionId, PromotionState,
    Provenance, Store, StoreError, StoredMemory,
};

use crate::error::AgentError;
use crate::host::Host;
use crate::marked::marked_line;
use crate::memory::{Indexed, MemoryNote, MemoryWriter, SemanticIndex, SemanticState, recall};

/// How often the size of the memories is looked at.
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The memories as their owner sees and changes them.
#[derive(Clone)]
pub struct Memories {
    store: Arc<dyn Store>,
    host: Host,
    config: Live<Config>,
    writer: MemoryWriter,
    /// What queries mean, when that is switched on.
    semantics: Live<Option<Arc<SemanticIndex>>>,
    /// When the size of the memories was looked at last, in milliseconds since 1970.
    archived_ms: Arc<AtomicI64>,
}

impl Memories {
    /// The memories that `writer` writes; `semantics` says what queries mean, when that is switched on.
    pub fn new(writer: MemoryWriter, semantics: Option<Arc<SemanticIndex>>, config: Live<Config>, host: Host) -> Self {
        let store = Arc::clone(writer.database());
        let archived_ms = Arc::new(AtomicI64::new(i64::MIN));
        Self { store, host, config, writer, semantics: Live::new(semantics), archived_ms }
    }

    /// Has another index say what queries mean from here on; none: words alone find what is remembered.
    pub fn replace_index(&self, semantics: Option<Arc<SemanticIndex>>) {
        self.semantics.replace(semantics);
    }

    /// What whoever reads along is to be told, once a failure: that words alone find what is remembered.
    pub fn take_search_notice(&self) -> Option<String> {
        self.semantics.as_ref().and_then(|semantics| semantics.take_notice())
    }

    /// Memories that hold any of the words or mean the like: the owner's first, and of each the best first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn recall(&self, text: &str, limit: usize) -> Result<Vec<Memory>, AgentError> {
        let found = recall(&*self.store, self.semantics.as_deref(), text, self.host.now_ms()).await?;
        let mut memories = found.memories;
        // However many of strangers' there are, they stand behind the owner's.
        memories.sort_by_key(|memory| memory.trust.is_foreign());
        memories.truncate(limit);
        Ok(memories)
    }

    /// Keeps what the owner says under a key; `source` is where they said it. Known secrets do not get in.
    ///
    /// # Errors
    /// When key or content is blank, or the store cannot be written.
    pub async fn remember(
        &self,
        key: &str,
        content: &str,
        category: Category,
        source: &str,
    ) -> Result<StoredMemory, AgentError> {
        let note = MemoryNote { key: key.to_owned(), content: content.to_owned(), category, origin: None };
        self.writer.store(note, &self.writer.owner(source)).await
    }

    /// Corrects a memory's content, its category, or both. What a stranger wrote is the owner's from then on.
    ///
    /// # Errors
    /// When there is no such memory, the content is blank, or the store cannot be written.
    pub async fn correct(
        &self,
        which: &MemoryRef,
        content: Option<String>,
        category: Option<Category>,
        source: &str,
    ) -> Result<Memory, AgentError> {
        self.writer.update(which, content, category, &self.writer.owner(source)).await
    }

    /// Pins a memory to every prompt, or takes it off.
    ///
    /// # Errors
    /// When there is no such memory, a stranger wrote it, or the store cannot be written.
    pub async fn pin(&self, which: &MemoryRef, pinned: bool) -> Result<Memory, AgentError> {
        let known = self.store.memory(which).await?;
        if let Some(memory) = known.filter(|memory| pinned && memory.trust.is_foreign()) {
            return Err(AgentError::Invalid(format!(
                "memory {} ({}) was written by a stranger, so no prompt shows it unasked; \
                 when it is true, say it yourself: limpid memory edit {} \"…\"",
                memory.id,
                marked_line(&memory.key, memory.trust),
                memory.id
            )));
        }
        Ok(self.store.pin_memory(which, pinned, self.host.now_ms()).await?)
    }

    /// Says that a memory helped.
    ///
    /// # Errors
    /// When there is no such memory, or the store cannot be written.
    pub async fn reinforce(&self, which: &MemoryRef) -> Result<Memory, AgentError> {
        Ok(self.store.reinforce_memory(which, self.host.now_ms()).await?)
    }

    /// Says that a memory did not help.
    ///
    /// # Errors
    /// When there is no such memory, or the store cannot be written.
    pub async fn demote(&self, which: &MemoryRef) -> Result<Memory, AgentError> {
        Ok(self.store.demote_memory(which, self.host.now_ms()).await?)
    }

    /// Forgets a memory, and returns it as it was.
    ///
    /// # Errors
    /// When there is no such memory, or the store cannot be written.
    pub async fn forget(&self, which: &MemoryRef) -> Result<Memory, AgentError> {
        Ok(self.store.forget_memory(which, self.host.now_ms()).await?)
    }

    /// Undoes one event of a memory's history, a promotion too. Returns the memory, or none when there was none
    /// before the event.
    ///
    /// # Errors
    /// When there is no such event, or its key is another memory's.
    pub async fn undo(&self, event: MemoryEventId) -> Result<Option<Memory>, AgentError> {
        Ok(self.store.undo_memory(event, self.host.now_ms()).await?)
    }

    /// Takes a memory into the soul with the owner's own words.
    ///
    /// # Errors
    /// When there is no such memory, it has fewer than 5 hits, or the addition is blank.
    pub async fn promote(&self, which: &MemoryRef, addition: &str, source: &str) -> Result<Promotion, AgentError> {
        Ok(self.store.promote_memory(which, self.own_words(addition, source)?).await?)
    }

    /// What the owner has the soul say.
    fn own_words(&self, addition: &str, source: &str) -> Result<NewPromotion, AgentError> {
        if addition.trim().is_empty() {
            return Err(AgentError::Invalid("an addition to the soul must not be blank".to_owned()));
        }
        let by = self.writer.owner(source);
        let addition = self.writer.clean_said(addition.to_owned());
        Ok(NewPromotion { addition, trust: by.trust, source: Some(by.source), now_ms: by.now_ms })
    }

    /// A proposal of the agent's as it would be carried out now, for whoever decides.
    ///
    /// # Errors
    /// When there is no such proposal, or it was decided before.
    pub async fn proposal(&self, id: PromotionId) -> Result<Promotion, AgentError> {
        let known = self.store.promotions(None).await?.rows.into_iter().find(|promotion| promotion.id == id);
        let promotion = known.ok_or_else(|| StoreError::NotFound { what: "promotion", id: id.0.to_string() })?;
        if promotion.state == PromotionState::Pending {
            return Ok(promotion);
        }
        let (id, is, wanted) = (id.0, promotion.state.as_str(), PromotionState::Pending.as_str());
        Err(AgentError::Invalid(format!("promotion {id} is {is}, not {wanted}")))
    }

    /// Carries out a proposal of the agent's as it was shown: `seen` is its hash, or its first 32 digits or more.
    ///
    /// # Errors
    /// When there is no such proposal, it was decided before, its memory is gone, or something else was shown.
    pub async fn approve_promotion(&self, id: PromotionId, seen: &str) -> Result<Promotion, AgentError> {
        Ok(self.store.approve_promotion(id, seen, self.host.now_ms()).await?)
    }

    /// Refuses a proposal of the agent's; its memory stays.
    ///
    /// # Errors
    /// When there is no such proposal, or it was decided before.
    pub async fn refuse_promotion(&self, id: PromotionId) -> Result<Promotion, AgentError> {
        Ok(self.store.refuse_promotion(id, self.host.now_ms()).await?)
    }

    /// Takes the memory of a proposal into the soul with the owner's words, in place of those that the agent proposed. `seen` is
    /// the hash of what they saw.
    ///
    /// # Errors
    /// As [`Memories::approve_promotion`], or when the addition is blank.
    pub async fn reword_promotion(
        &self,
        id: PromotionId,
        seen: &str,
        addition: &str,
        source: &str,
    ) -> Result<Promotion, AgentError> {
        Ok(self.store.reword_promotion(id, seen, self.own_words(addition, source)?).await?)
    }

    /// Takes what a promotion added out of the soul and restores its memory.
    ///
    /// # Errors
    /// When there is no such promotion, or it is not in the soul.
    pub async fn unpromote(&self, id: PromotionId) -> Result<Promotion, AgentError> {
        Ok(self.store.undo_promotion(id, self.host.now_ms()).await?)
    }

    /// Memories in the archive; no prompt shows them, search finds them.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn archived(&self) -> Result<Listed<Memory>, AgentError> {
        Ok(self.store.archived_memories().await?)
    }

    /// Who said what memories say, where and when.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn who_said(&self, ids: &[MemoryId]) -> Result<Vec<(MemoryId, Provenance)>, AgentError> {
        Ok(self.store.provenance(ids).await?)
    }

    /// What happened to a memory, oldest first; to all of them without one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn history(&self, id: Option<MemoryId>) -> Result<Listed<MemoryEvent>, AgentError> {
        Ok(self.store.memory_events(id).await?)
    }

    /// What memories added to the soul, and what waits for the owner's word.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn promotions(&self) -> Result<Listed<Promotion>, AgentError> {
        Ok(self.store.promotions(None).await?)
    }

    /// Makes the search index of memories anew. Returns how many it has.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn reindex(&self) -> Result<u64, AgentError> {
        Ok(self.store.rebuild_memory_index().await?)
    }

    /// How much of the memories the index of words covers.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn word_index(&self) -> Result<IndexState, AgentError> {
        Ok(self.store.memory_index().await?)
    }

    /// How far the semantic index is; none when it is switched off.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn semantic_state(&self) -> Result<Option<SemanticState>, AgentError> {
        match &*self.semantics {
            Some(semantics) => Ok(Some(semantics.state().await?)),
            None => Ok(None),
        }
    }

    /// Fills the semantic index until it has every memory and message; `anew` empties it first. `tell` hears how far it is
    /// after each batch; what was kept stays when the future is dropped. None when the index is switched off.
    ///
    /// # Errors
    /// When the model cannot be asked, or the store cannot be written.
    pub async fn index_meanings(&self, anew: bool, tell: impl FnMut(Indexed)) -> Result<Option<Indexed>, AgentError> {
        let Some(semantics) = &*self.semantics else { return Ok(None) };
        if anew {
            semantics.empty().await?;
        }
        Ok(Some(semantics.fill(tell).await?))
    }

    /// Moves memories that rarely helped to the archive, when all have grown too large and a day has passed since that
    /// was looked at; every answer is followed by it. Returns how many went.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn archive_if_due(&self) -> Result<u64, AgentError> {
        let now_ms = self.host.now_ms();
        let last = self.archived_ms.load(Ordering::Relaxed);
        if now_ms.saturating_sub(last) < DAY_MS {
            return Ok(0);
        }
        self.archived_ms.store(now_ms, Ordering::Relaxed);
        let most = self.config.memory.keep_megabytes.saturating_mul(1_000_000);
        Ok(self.store.archive_memories(most, now_ms).await?)
    }

    /// Gives the semantic index what it lacks, while nobody waits for it.
    pub fn fill_index_in_background(&self) {
        if let Some(semantics) = (*self.semantics).clone() {
            let now_ms = self.host.now_ms();
            tokio::spawn(async move { semantics.fill_quietly(now_ms).await });
        }
    }
}
