//! What the agent remembers, for the person who wants to see and change it without a model (LES-059).

use limpid_core::recall::{query_words, rank};
use limpid_core::{Category, Memory, Trust};
use limpid_store::{Author, MemoryRef, NewMemory, StoredMemory};

use crate::agent::Agent;
use crate::error::AgentError;

/// Memories that a search ranks at most.
const CANDIDATES: u32 = 500;

impl Agent {
    /// Memories by time of creation; all, or those of one category.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn memory_list(&self, category: Option<Category>) -> Result<Vec<Memory>, AgentError> {
        Ok(self.inner.store.memories(category).await?.rows)
    }

    /// Memories that hold any of the words, best first: the same order that the model gets.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn memory_search(&self, text: &str, limit: usize) -> Result<Vec<Memory>, AgentError> {
        let words = query_words(text);
        let found = self.inner.store.candidates(&words, CANDIDATES).await?;
        let ranked = rank(&found.corpus, found.memories, self.inner.now_ms());
        Ok(ranked.into_iter().take(limit).map(|hit| hit.memory).collect())
    }

    /// Keeps something under a key; a known key gets the new content.
    ///
    /// # Errors
    /// When key or content are blank, or the store cannot be written.
    pub async fn memory_add(&self, key: &str, content: &str, category: Category) -> Result<StoredMemory, AgentError> {
        if key.trim().is_empty() || content.trim().is_empty() {
            return Err(AgentError::Invalid("a memory needs a key and a content".to_owned()));
        }
        let new = NewMemory {
            key: Some(key.trim().to_owned()),
            content: self.inner.redactor.clean(content.to_owned()),
            category,
            trust: Trust::Owner,
            author: Author::Said,
            source: Some("owner".to_owned()),
            now_ms: self.inner.now_ms(),
        };
        Ok(self.inner.store.store_memory(new).await?)
    }

    /// Puts a memory into every prompt, or takes it out.
    ///
    /// # Errors
    /// When there is no such memory.
    pub async fn memory_pin(&self, key: &str, pinned: bool) -> Result<Memory, AgentError> {
        Ok(self.inner.store.pin_memory(&MemoryRef::from(key), pinned, self.inner.now_ms()).await?)
    }

    /// Forgets a memory, and returns it as it was.
    ///
    /// # Errors
    /// When there is no such memory.
    pub async fn memory_forget(&self, key: &str) -> Result<Memory, AgentError> {
        Ok(self.inner.store.forget_memory(&MemoryRef::from(key), self.inner.now_ms()).await?)
    }
}
