//! The one way in which memories are written, whoever asks: secrets stay out, and who said it, where and when is written
//! down with it.

use std::sync::Arc;

use limpid_config::{Redactor, TextKind};
use limpid_core::said::is_said;
use limpid_core::{Category, ConversationId, Memory, Role, Trust};
use limpid_store::{Author, MemoryChange, MemoryRef, NewMemory, NewPromotion, Promotion, Store, StoredMemory};
use limpid_tools::ToolContext;

use crate::error::AgentError;
use crate::host::Host;

/// Bytes of the longest memory that a stranger's text may lead to.
const LONGEST_CONTENT: usize = 16 * 1024;

/// Bytes of the longest key of such a memory.
const LONGEST_KEY: usize = 512;

/// Writes memories.
#[derive(Clone)]
pub struct MemoryWriter {
    store: Arc<dyn Store>,
    host: Host,
    redactor: Redactor,
}

/// Who writes.
#[derive(Clone, Debug)]
pub struct WriteSource {
    /// The least trusted text that whoever writes has read.
    pub trust: Trust,
    /// `turn:ID`, or a place of the owner's.
    pub source: String,
    /// The conversation of the turn.
    conversation: Option<ConversationId>,
    /// Whether the owner makes their own what is written: by hand, or by a yes to this very call.
    adopts: bool,
    /// Whether a stranger's text may have led to how a memory is named.
    led: bool,
    /// When, in milliseconds since 1970.
    pub now_ms: i64,
}

impl WriteSource {
    /// The model, in a turn.
    pub fn turn(context: &ToolContext) -> Self {
        Self {
            trust: context.trust,
            source: format!("turn:{}", context.turn),
            conversation: Some(context.conversation.clone()),
            adopts: false,
            led: context.trust.is_foreign(),
            now_ms: context.now_ms(),
        }
    }

    /// The conversation of the turn.
    pub(crate) fn conversation(&self) -> Option<&ConversationId> {
        self.conversation.as_ref()
    }

    /// The model, with the owner's yes to this very call where there is one.
    pub fn approved_turn(context: &ToolContext) -> Self {
        let trust = if context.approved { Trust::Owner } else { context.trust };
        Self { trust, adopts: context.approved, ..Self::turn(context) }
    }
}

/// What is to be kept.
#[derive(Clone, Debug)]
pub struct MemoryNote {
    /// Its name.
    pub key: String,
    /// What is known.
    pub content: String,
    /// Its kind.
    pub category: Category,
    /// Where the model says it comes from; it stands behind the turn.
    pub origin: Option<String>,
}

impl MemoryWriter {
    /// Writes into a store.
    pub fn new(store: Arc<dyn Store>, host: Host, redactor: Redactor) -> Self {
        Self { store, host, redactor }
    }

    /// What is written into.
    pub fn database(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The owner, by hand, at this moment; `source` is where they said it.
    pub fn owner(&self, source: &str) -> WriteSource {
        let now_ms = self.host.now_ms();
        WriteSource {
            trust: Trust::Owner,
            source: source.to_owned(),
            conversation: None,
            adopts: true,
            led: false,
            now_ms,
        }
    }

    /// The time, in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        self.host.now_ms()
    }

    /// Who holds this process's leases.
    pub(crate) fn holder(&self) -> &str {
        self.host.holder()
    }

    /// Stores something; a key that is known gets the new content.
    ///
    /// # Errors
    /// When key or content is blank, a turn may not change what is there, or the store cannot be written.
    pub async fn store(&self, note: MemoryNote, by: &WriteSource) -> Result<StoredMemory, AgentError> {
        let key = note.key.trim().to_owned();
        if key.is_empty() {
            return Err(AgentError::Invalid("the key of a memory must not be blank".to_owned()));
        }
        let content = self.checked("the content", note.content)?;
        check_length(&key, &content, by)?;
        let known = self.store.memory(&MemoryRef::Key(key.clone())).await?;
        if known.is_none() && MemoryRef::number(&key).is_some() {
            let why = "the key of a memory must not be a number, because numbers name memories; use a word";
            return Err(AgentError::Invalid(why.to_owned()));
        }
        if let Some(known) = &known {
            Self::guard(known, by)?;
            if by.adopts && by.trust < known.trust {
                let memory = self.update(&MemoryRef::Key(key), Some(content), Some(note.category), by).await?;
                return Ok(StoredMemory { memory, fresh: false });
            }
        }
        let author = self.author(&content, by).await?;
        let source = match note.origin.filter(|origin| !origin.trim().is_empty()) {
            Some(origin) => format!("{} {}", by.source, self.redactor.clean(origin)),
            None => by.source.clone(),
        };
        let new = NewMemory {
            key: Some(key),
            content,
            category: note.category,
            trust: by.trust,
            author,
            source: Some(source),
            now_ms: by.now_ms,
        };
        Ok(self.store.store_memory(new).await?)
    }

    /// Corrects a memory's content, its category, or both.
    ///
    /// # Errors
    /// When there is no such memory, the content is blank, a turn may not change it, or the store cannot be written.
    pub async fn update(
        &self,
        which: &MemoryRef,
        content: Option<String>,
        category: Option<Category>,
        by: &WriteSource,
    ) -> Result<Memory, AgentError> {
        let known = self.known(which, by).await?;
        let content = match content {
            Some(content) => Some(self.checked("the content", content)?),
            None => None,
        };
        check_length("", content.as_deref().unwrap_or_default(), by)?;
        let author = self.author(content.as_deref().unwrap_or(&known.content), by).await?;
        let change = MemoryChange {
            content: content.map(|content| (content, by.trust)),
            adopts: by.adopts,
            led: by.led,
            category,
            author,
            source: Some(by.source.clone()),
            now_ms: by.now_ms,
        };
        Ok(self.store.update_memory(which, change).await?)
    }

    /// Forgets a memory.
    ///
    /// # Errors
    /// When there is no such memory, a turn may not change it, or the store cannot be written.
    pub async fn forget(&self, which: &MemoryRef, by: &WriteSource) -> Result<Memory, AgentError> {
        let known = self.known(which, by).await?;
        Ok(self.store.forget_memory(&known.id.into(), by.now_ms).await?)
    }

    /// Takes a memory into the soul. Whoever has read text of strangers only proposes it.
    ///
    /// # Errors
    /// When there is no such memory, it has fewer than 5 hits, the addition is blank, or the store cannot be written.
    pub async fn promote(&self, which: &MemoryRef, text: String, by: &WriteSource) -> Result<Promotion, AgentError> {
        let addition = self.checked("the addition", text)?;
        let known = self.store.memory(which).await?;
        let trust = known.map_or(by.trust, |memory| by.trust.join(memory.trust));
        let new = NewPromotion { addition, trust, source: Some(by.source.clone()), now_ms: by.now_ms };
        let promoted = if trust.is_foreign() {
            self.store.propose_promotion(which, new).await
        } else {
            self.store.promote_memory(which, new).await
        };
        Ok(promoted?)
    }

    /// A text that somebody typed or a model wrote, without known secrets.
    pub fn clean_said(&self, text: String) -> String {
        self.redactor.clean(text)
    }

    /// The text of a file with this label, without known secrets.
    pub fn clean(&self, trust: Trust, text: String) -> String {
        self.redactor.clean_as(TextKind::of_file(trust), text)
    }

    /// A text to keep, without known secrets; `what` names it in the error when it is blank.
    fn checked(&self, what: &str, content: String) -> Result<String, AgentError> {
        if content.trim().is_empty() {
            return Err(AgentError::Invalid(format!("{what} must not be blank")));
        }
        Ok(self.redactor.clean(content))
    }

    async fn known(&self, which: &MemoryRef, by: &WriteSource) -> Result<Memory, AgentError> {
        let known = self.store.memory(which).await?.ok_or_else(|| {
            let name = match which {
                MemoryRef::Id(id) => id.to_string(),
                MemoryRef::Key(key) => key.clone(),
            };
            AgentError::Store(limpid_store::StoreError::NotFound { what: "memory", id: name })
        })?;
        Self::guard(&known, by)?;
        Ok(known)
    }

    /// Whoever has read text of strangers does not change what the owner has.
    fn guard(memory: &Memory, by: &WriteSource) -> Result<(), AgentError> {
        if by.trust.is_foreign() && !memory.trust.is_foreign() {
            return Err(AgentError::Invalid(format!(
                "{} is the owner's, and this turn has read text of strangers, so it was left as it is; the owner can \
                 change it, or it can be kept under another key",
                memory.key
            )));
        }
        Ok(())
    }

    /// WriteSource hand it is said; in a turn it is said when the owner's own words say it, else the model inferred it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn author(&self, content: &str, by: &WriteSource) -> Result<Author, AgentError> {
        let Some(conversation) = &by.conversation else { return Ok(Author::Said) };
        if by.trust.is_foreign() {
            return Ok(Author::Inferred);
        }
        let messages = self.store.messages(conversation, None).await?.rows;
        let said = messages
            .iter()
            .filter(|row| row.message.role == Role::User && !row.message.trust.is_foreign())
            .map(|row| row.typed.as_deref().unwrap_or(&row.message.text));
        let said = is_said(content, said);
        Ok(if said { Author::Said } else { Author::Inferred })
    }
}

/// Refuses long texts that a stranger may have led to: each word goes into the index, while others wait to write.
fn check_length(key: &str, content: &str, by: &WriteSource) -> Result<(), AgentError> {
    if by.trust.is_foreign() && (key.len() > LONGEST_KEY || content.len() > LONGEST_CONTENT) {
        return Err(AgentError::Invalid(format!(
            "after a stranger's text a memory may have a key of {LONGEST_KEY} bytes (this has {}) and at most {LONGEST_CONTENT} bytes of \
             content (this has {}); write longer text into a file",
            key.len(),
            content.len()
        )));
    }
    Ok(())
}
