//! Messages that nobody waits for: written once a key, put into their conversation by its actor.

mod announcement;
mod message_tool;

use std::collections::BTreeSet;
use std::mem;
use std::sync::{Arc, OnceLock};

use limpid_config::Redactor;
use limpid_core::ConversationId;
use limpid_core::quiet::without_quiet;
use limpid_store::{Delivery, DeliveryId, DeliveryOrigin, Listed, NewDelivery, Store};

pub use announcement::Announcement;
pub use message_tool::{message_tool, said_in_run};

use crate::directory::Directory;
use crate::error::AgentError;
use crate::host::Host;

/// Messages that wait for their conversation, and what the owner has not read of them.
#[derive(Clone)]
pub struct Deliveries {
    store: Arc<dyn Store>,
    directory: Directory,
    host: Host,
    redactor: Redactor,
    signal: ConversationSignal,
}

/// Wakes whoever works on a conversation. Deliveries are written below the conversations, so these connect themselves.
#[derive(Clone, Default)]
pub struct ConversationSignal(Arc<OnceLock<Box<Wake>>>);

/// Wakes whoever works on a conversation.
type Wake = dyn Fn(&ConversationId) + Send + Sync;

impl ConversationSignal {
    /// What is called with the conversation that has something to do. The first one stays.
    pub fn connect(&self, wake: impl Fn(&ConversationId) + Send + Sync + 'static) {
        let _ = self.0.set(Box::new(wake));
    }

    /// Tells a conversation that something waits for it.
    pub fn wake(&self, conversation: &ConversationId) {
        if let Some(wake) = self.0.get() {
            wake(conversation);
        }
    }
}

impl Deliveries {
    /// The deliveries of a store; `signal` wakes the conversations that they are for.
    pub fn new(
        store: Arc<dyn Store>,
        directory: Directory,
        host: Host,
        redactor: Redactor,
        signal: ConversationSignal,
    ) -> Self {
        Self { store, directory, host, redactor, signal }
    }

    /// Tells the owner something, once a key, in a conversation or where reports go: what is for them alone is left out where others
    /// read that conversation. The label is that of the title too. Says whether the key is new.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn notice(
        &self,
        conversation: Option<&ConversationId>,
        key: &str,
        told: Announcement,
    ) -> Result<bool, AgentError> {
        let conversation = match conversation {
            Some(conversation) => conversation.clone(),
            None => self.directory.reports().await?,
        };
        // Of the very conversation that is told: whatever the words are about may be read by others than these.
        let audience = self.store.conversation(&conversation).await?.map(|found| found.audience);
        let draft = told.draft;
        let (title, text) = told.words_for(audience);
        let trust = title.trust().join(text.trust());
        let fresh = self
            .store
            .enqueue(NewDelivery {
                key: key.to_owned(),
                conversation,
                origin: DeliveryOrigin::Notice,
                title: title.into_text(),
                text: text.into_text(),
                trust,
                draft,
                now_ms: self.host.now_ms(),
            })
            .await?;
        self.wake_pending().await?;
        Ok(fresh)
    }

    /// Wakes the conversations for which something waits to be delivered, and names these.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn wake_pending(&self) -> Result<BTreeSet<ConversationId>, AgentError> {
        let conversations = BTreeSet::from_iter(self.store.conversations_with_deliveries().await?);
        conversations.iter().for_each(|conversation| self.signal.wake(conversation));
        Ok(conversations)
    }

    /// What was delivered and the owner has not seen, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn unread(&self) -> Result<Listed<Delivery>, AgentError> {
        Ok(self.store.unread_deliveries().await?)
    }

    /// What is unread of the conversation that takes reports, oldest first, as it stands there.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn unread_reports(&self) -> Result<Vec<Delivery>, AgentError> {
        let mut unread = self.unread().await?.rows;
        unread.retain(|delivery| delivery.new.conversation == self.directory.reports_id());
        for delivery in &mut unread {
            for text in [&mut delivery.new.title, &mut delivery.new.text] {
                *text = visible_text(&self.redactor, mem::take(text));
            }
        }
        Ok(unread)
    }

    /// The same; it is read from here on.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn read_reports(&self) -> Result<Vec<Delivery>, AgentError> {
        let unread = self.unread_reports().await?;
        self.dismiss_reports().await?;
        Ok(unread)
    }

    /// Takes what is unread of the conversation that takes reports for read, without showing it; it stays there. Says how
    /// many reports that were.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn dismiss_reports(&self) -> Result<u64, AgentError> {
        self.mark_read(&self.directory.reports_id()).await
    }

    /// The owner has seen what a conversation holds. Says how many deliveries were unread.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn mark_read(&self, conversation: &ConversationId) -> Result<u64, AgentError> {
        Ok(self.store.mark_read(conversation, self.host.now_ms()).await?)
    }

    /// The owner has seen one delivery, whole. False: it was read before.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn mark_delivery_read(&self, delivery: i64) -> Result<bool, AgentError> {
        Ok(self.store.mark_delivery_read(DeliveryId(delivery), self.host.now_ms()).await?)
    }
}

/// A text as it is delivered: without known secrets and the word for "nothing to report".
pub fn visible_text(redactor: &Redactor, text: String) -> String {
    without_quiet(&redactor.clean(text))
}
