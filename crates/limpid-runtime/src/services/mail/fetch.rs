//! A look into a mail account, and what is kept of it.

use limpid_channels::mail::{MailHead, Poll};
use limpid_core::inbox::Source;
use limpid_store::{Inserted, MailAccount, MailUid, NewItem, PollOutcome};

use crate::services::error::AgentError;
use crate::services::mail::MailDesk;

impl MailDesk {
    /// Looks into an account and keeps what came, all or nothing. What went wrong is kept with the account too, and returned.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn poll(&self, address: &str, now_ms: i64) -> Result<Result<usize, String>, AgentError> {
        let row = self.store.add_mail_account(address).await?;
        let polled = match self.account(Some(address)).await {
            Ok(account) => {
                let last = row.attempted_ms.unwrap_or(now_ms);
                self.mailbox.poll(&account, row.mark, last).await.map_err(|error| error.to_string())
            }
            Err(why) => Err(why),
        };
        match polled {
            Ok(poll) => Ok(Ok(self.keep(&row, poll, now_ms).await?)),
            Err(why) => {
                let why = self.redactor.clean(why);
                let outcome = PollOutcome::Failed(why.clone());
                self.store.record_poll(address, limpid_store::Poll { at_ms: now_ms, outcome }, Vec::new()).await?;
                Ok(Err(why))
            }
        }
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
