//! A look into a mail account, what is kept of it, and waiting for more.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use limpid_channels::mail::{Account, MailError, MailHead, Mailbox, News, Poll};
use limpid_config::TextKind;
use limpid_core::inbox::Source;
use limpid_core::mail::Mark;
use limpid_store::{Inserted, MailAccount, MailUid, NewItem, PollOutcome};

use crate::error::AgentError;
use crate::mail::service::MailAccounts;

impl MailAccounts {
    /// Looks into an account and keeps what came, all or nothing. What went wrong is kept with the account too, and returned.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn poll(&self, address: &str) -> Result<Result<usize, String>, AgentError> {
        let now_ms = self.host.now_ms();
        let row = self.store.add_mail_account(address).await?;
        let polled = match self.account(Some(address)).await {
            Ok(account) => {
                let last = row.attempted_ms.unwrap_or(now_ms);
                self.mailbox.poll(&account, row.mark, last).await.map_err(|error| error.to_string())
            }
            Err(why) => Err(why.into_text()),
        };
        match polled {
            Ok(poll) => Ok(Ok(self.keep(&row, poll, now_ms).await?)),
            Err(why) => {
                let why = self.redactor.clean_as(TextKind::Failure, why);
                let outcome = PollOutcome::Failed(why.clone());
                self.store.record_poll(address, limpid_store::Poll { at_ms: now_ms, outcome }, Vec::new()).await?;
                Ok(Err(why))
            }
        }
    }

    /// What is needed to wait for mail of an account; none when the account is gone or was never read.
    ///
    /// # Errors
    /// When the account cannot be used, or the store cannot be read.
    pub async fn start_wait(&self, address: &str) -> Result<Option<MailWait>, AgentError> {
        if !self.files.addresses().iter().any(|known| known == address) {
            return Ok(None);
        }
        let account = self.account(Some(address)).await.map_err(|why| AgentError::Invalid(why.into_text()))?;
        let rows = self.store.mail_accounts().await?.rows;
        let mark = rows.into_iter().find(|row| row.address == address).and_then(|row| row.mark);
        Ok(mark.map(|mark| MailWait { mailbox: Arc::clone(&self.mailbox), account, mark }))
    }

    /// Notes that somebody here waits for mail of an account, until the result is dropped; none when somebody does.
    pub fn watch(&self, address: &str) -> Option<Watching> {
        let fresh = self.watched.lock().unwrap_or_else(PoisonError::into_inner).insert(address.to_owned());
        fresh.then(|| Watching { watched: Arc::clone(&self.watched), address: address.to_owned() })
    }

    /// Keeps what a poll brought; says how much of it was not known.
    async fn keep(&self, row: &MailAccount, poll: Poll, now_ms: i64) -> Result<usize, AgentError> {
        let mut heads = poll.heads;
        if poll.renumbered {
            let keys = heads.iter().map(|head| head.key.clone()).collect();
            let known = self.store.known_message_ids(&row.address, keys).await?;
            heads.retain(|head| !known.contains(&head.key));
        }
        let items = heads.into_iter().map(|head| self.item(&row.address, head, now_ms)).collect();
        let outcome = PollOutcome::Read { mark: poll.mark, unread: poll.unread };
        let kept = self.store.record_poll(&row.address, limpid_store::Poll { at_ms: now_ms, outcome }, items).await?;
        Ok(kept.iter().filter(|Inserted { fresh, .. }| *fresh).count())
    }

    fn item(&self, address: &str, head: MailHead, now_ms: i64) -> NewItem {
        NewItem {
            source: Source::Mail,
            account: address.to_owned(),
            key: None,
            uid: Some(MailUid { validity: head.id.validity, uid: head.id.uid }),
            message_id: Some(head.key),
            sender: self.redactor.clean(head.from),
            title: self.redactor.clean(head.subject),
            text: self.redactor.clean(head.preview),
            posted_ms: head.at_ms.unwrap_or(now_ms),
            now_ms,
        }
    }
}

/// A wait for mail of one account. It holds nothing of the accounts, so it keeps none of them alive.
pub struct MailWait {
    mailbox: Arc<dyn Mailbox>,
    account: Account,
    mark: Mark,
}

impl MailWait {
    /// Waits until the server says that mail has come, at most for `limit`.
    ///
    /// # Errors
    /// When the wait broke off.
    pub async fn run(self, limit: Duration) -> Result<News, MailError> {
        self.mailbox.wait(&self.account, self.mark, limit).await
    }
}

/// Somebody waits for mail of an account until this is dropped.
pub struct Watching {
    watched: Arc<Mutex<HashSet<String>>>,
    address: String,
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.address);
    }
}
