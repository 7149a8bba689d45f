//! The accounts' own servers.

use std::time::Duration;

use async_trait::async_trait;
use limpid_core::mail::Mark;
use limpid_formats::Parser;
use limpid_formats::mail::{Mail, MailHead, MailId};
use tokio::sync::Semaphore;

use super::imap::Imap;
use super::mailbox::{MailQuery, Mailbox, News, Offered, Poll};
use super::{Account, Letter, MailError, smtp, tls};

/// The accounts' own servers, by IMAP and SMTP.
#[derive(Debug)]
pub struct MailServers {
    parser: Parser,
    /// Turns of those who fetch a whole letter: each holds it several times.
    whole: Semaphore,
}

/// Whole letters that are held at one time.
const WHOLE_AT_ONCE: usize = 2;

impl MailServers {
    /// Servers whose messages are parsed by this parser.
    pub const fn new(parser: Parser) -> Self {
        Self { parser, whole: Semaphore::const_new(WHOLE_AT_ONCE) }
    }
}

#[async_trait]
impl Mailbox for MailServers {
    async fn poll(&self, account: &Account, mark: Option<Mark>, last_poll_ms: i64) -> Result<Poll, MailError> {
        in_time(account, async {
            let mut imap = Imap::open(account, &self.parser).await?;
            let done = imap.poll(mark, last_poll_ms).await?;
            imap.leave().await;
            Ok(done)
        })
        .await
    }

    async fn wait(&self, account: &Account, mark: Mark, limit: Duration) -> Result<News, MailError> {
        Imap::open(account, &self.parser).await?.wait(mark, limit).await
    }

    async fn read(&self, account: &Account, id: MailId, mark_read: bool) -> Result<Mail, MailError> {
        // Held until the letter is parsed, which the connection's time ends.
        let _turn = self.whole.acquire().await;
        in_time(account, async {
            let mut imap = Imap::open(account, &self.parser).await?;
            let done = imap.read(id, mark_read).await?;
            imap.leave().await;
            Ok(done)
        })
        .await
    }

    async fn head(&self, account: &Account, id: MailId) -> Result<Option<MailHead>, MailError> {
        in_time(account, async {
            let mut imap = Imap::open(account, &self.parser).await?;
            let done = imap.head(id).await?;
            imap.leave().await;
            Ok(done)
        })
        .await
    }

    async fn search(&self, account: &Account, query: &MailQuery) -> Result<Vec<MailHead>, MailError> {
        in_time(account, async {
            let mut imap = Imap::open(account, &self.parser).await?;
            let done = imap.find(query).await?;
            imap.leave().await;
            Ok(done)
        })
        .await
    }

    async fn offer(&self, account: &Account, letter: &Letter) -> Result<Box<dyn Offered>, MailError> {
        let (envelope, bytes) = letter.form(account)?;
        Ok(Box::new(smtp::offer(account, &envelope, bytes).await?))
    }

    async fn keep_copy(&self, account: &Account, letter: &Letter) -> Result<Option<String>, MailError> {
        if !account.copies {
            return Ok(None);
        }
        let (_, bytes) = letter.form(account)?;
        in_time(account, async {
            let mut imap = Imap::open(account, &self.parser).await?;
            let folder = imap.keep_sent(&bytes).await?;
            imap.leave().await;
            Ok(Some(folder))
        })
        .await
    }

    async fn test(&self, account: &Account) -> Result<(), MailError> {
        in_time(account, async {
            let mut imap = Imap::open(account, &self.parser).await?;
            imap.folder().await?;
            imap.leave().await;
            Ok(())
        })
        .await?;
        smtp::test(account).await
    }
}

/// What is done over one connection, given up when it takes too long.
async fn in_time<T>(account: &Account, work: impl Future<Output = Result<T, MailError>>) -> Result<T, MailError> {
    let done = tokio::time::timeout(tls::WHOLE, work).await;
    done.unwrap_or_else(|_| Err(tls::unreachable(&account.imap, "no answer in a minute")))
}
