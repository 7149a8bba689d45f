//! What can be done with a mail account.

use std::time::Duration;

use async_trait::async_trait;
use jiff::civil::Date;
use limpid_core::mail::Mark;
use limpid_formats::mail::{Mail, MailHead, MailId};

use super::{Account, Letter, MailError};

/// What can be done with mail accounts. Every call is a connection of its own and takes a minute at most.
#[async_trait]
pub trait Mailbox: Send + Sync {
    /// Fetches the heads of what has come since the mark, at most 50, oldest first. `last_poll_ms` is when
    /// the account was polled last.
    async fn poll(&self, account: &Account, mark: Option<Mark>, last_poll_ms: i64) -> Result<Poll, MailError>;

    /// Waits until something may have come after the mark, `limit` at most.
    async fn wait(&self, account: &Account, mark: Mark, limit: Duration) -> Result<News, MailError>;

    /// Fetches one message whole; on request it is marked as read.
    async fn read(&self, account: &Account, id: MailId, mark_read: bool) -> Result<Mail, MailError>;

    /// What a list shows of one message; none when it is gone.
    async fn head(&self, account: &Account, id: MailId) -> Result<Option<MailHead>, MailError>;

    /// Finds messages of the folder, newest first.
    async fn search(&self, account: &Account, query: &MailQuery) -> Result<Vec<MailHead>, MailError>;

    /// Logs in where the account's mail is sent, and names everybody who gets a letter. Nothing of it has left yet:
    /// whoever drops what this gives back has sent nothing.
    async fn offer(&self, account: &Account, letter: &Letter) -> Result<Box<dyn Offered>, MailError>;

    /// Copies a letter that was sent to the folder of sent mail; says which one that is. None when the server does so by
    /// itself.
    async fn keep_copy(&self, account: &Account, letter: &Letter) -> Result<Option<String>, MailError>;

    /// Logs in where mail is read and where it is sent, and leaves again.
    async fn test(&self, account: &Account) -> Result<(), MailError>;
}

/// A letter that a server is ready to take.
#[async_trait]
pub trait Offered: Send {
    /// Hands it over, once.
    ///
    /// # Errors
    /// [`MailError::Unknown`] when nobody knows whether it was sent; every other error means that it was not.
    async fn hand_over(self: Box<Self>) -> Result<(), MailError>;
}

/// What a poll brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poll {
    /// From where the next poll goes on, once what came is stored.
    pub mark: Mark,
    /// What came, oldest first.
    pub heads: Vec<MailHead>,
    /// Whether some of it may be known by other numbers: then what has a known key is dropped.
    pub renumbered: bool,
    /// Unread messages of the folder.
    pub unread: u32,
}

/// What waiting came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// Something may have come.
    Some,
    /// Nothing came in time.
    None,
    /// The server cannot be waited on; it is polled instead.
    Unsupported,
}

/// What to search for; all of it has to fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailQuery {
    /// A part of the sender.
    pub from: Option<String>,
    /// A part of the subject.
    pub subject: Option<String>,
    /// The first day.
    pub since: Option<Date>,
    /// Messages at most; the newest count.
    pub limit: usize,
}
