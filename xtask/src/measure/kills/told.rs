//! What the killed process tells whoever kills it: a line for each thing that was accepted, and where it stands.

use std::io::Write as _;
use std::time::Duration;

use async_trait::async_trait;
use limpid_channels::mail::{
    Account, Letter, Mail, MailError, MailHead, MailId, MailQuery, MailServers, Mailbox, News, Offered, Poll,
};
use limpid_core::mail::Mark;

/// Tells a line: a kind and a key.
pub(super) fn tell(kind: &str, key: &str) {
    // One write, so that a line is whole or not there. Whoever reads may be gone.
    let _ = std::io::stdout().lock().write_all(format!("{kind} {key}\n").as_bytes());
}

/// The accounts' own servers; a look into an account is told when it begins and when it has ended.
pub(super) struct ToldMail(pub(super) MailServers);

#[async_trait]
impl Mailbox for ToldMail {
    async fn poll(&self, account: &Account, mark: Option<Mark>, last_poll_ms: i64) -> Result<Poll, MailError> {
        tell("poll", "begins");
        let polled = self.0.poll(account, mark, last_poll_ms).await;
        tell("poll", "ended");
        polled
    }

    async fn wait(&self, account: &Account, mark: Mark, limit: Duration) -> Result<News, MailError> {
        self.0.wait(account, mark, limit).await
    }

    async fn read(&self, account: &Account, id: MailId, mark_read: bool) -> Result<Mail, MailError> {
        self.0.read(account, id, mark_read).await
    }

    async fn head(&self, _: &Account, _: MailId) -> Result<Option<MailHead>, MailError> {
        Ok(None)
    }

    async fn search(&self, account: &Account, query: &MailQuery) -> Result<Vec<MailHead>, MailError> {
        self.0.search(account, query).await
    }

    async fn offer(&self, account: &Account, letter: &Letter) -> Result<Box<dyn Offered>, MailError> {
        self.0.offer(account, letter).await
    }

    async fn keep_copy(&self, account: &Account, letter: &Letter) -> Result<Option<String>, MailError> {
        self.0.keep_copy(account, letter).await
    }

    async fn test(&self, account: &Account) -> Result<(), MailError> {
        self.0.test(account).await
    }
}
