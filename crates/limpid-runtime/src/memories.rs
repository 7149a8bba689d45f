//! What the owner does with memories by hand. Surfaces read the store and change it only here (ARC-005).

use limpid_core::{Category, Memory, Trust};
use limpid_store::{Author, MemoryRef, NewMemory, StoredMemory};

use crate::agent::Agent;
use crate::error::AgentError;

impl Agent {
    /// Keeps what the owner says under a key; `source` is where they said it. Known secrets do not get in (SEC-032).
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
        if key.trim().is_empty() || content.trim().is_empty() {
            return Err(AgentError::Invalid("a memory needs a key and a content that are not blank".to_owned()));
        }
        let new = NewMemory {
            key: Some(key.trim().to_owned()),
            content: self.inner.redactor.clean(content.to_owned()),
            category,
            trust: Trust::Owner,
            author: Author::Said,
            source: Some(source.to_owned()),
            now_ms: self.now_ms(),
        };
        Ok(self.inner.store.store_memory(new).await?)
    }

    /// Pins a memory to every prompt, or takes it off.
    ///
    /// # Errors
    /// When there is no such memory, or the store cannot be written.
    pub async fn pin(&self, which: &MemoryRef, pinned: bool) -> Result<Memory, AgentError> {
        Ok(self.inner.store.pin_memory(which, pinned, self.now_ms()).await?)
    }

    /// Forgets a memory, and returns it as it was.
    ///
    /// # Errors
    /// When there is no such memory, or the store cannot be written.
    pub async fn forget(&self, which: &MemoryRef) -> Result<Memory, AgentError> {
        Ok(self.inner.store.forget_memory(which, self.now_ms()).await?)
    }
}
