//! Mail accounts without servers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use limpid_channels::mail::{
    Account, Letter, Login, Mail, MailError, MailHead, MailId, MailQuery, Mailbox, News, Offered, Poll, Said, Secret,
};
use limpid_core::mail::{Folder, Mark, Plan, plan};
use limpid_formats::Parser;

/// Why a server lets nobody in.
pub type Refusal = fn(&Account) -> MailError;

/// A folder in memory, and the letters that were sent.
pub struct FakeMailbox {
    pub validity: Mutex<u32>,
    /// Texts of messages by their UIDs.
    pub messages: Mutex<Vec<(u32, String)>>,
    pub letters: Arc<Mutex<Vec<Letter>>>,
    /// Letters that a copy was kept of.
    pub copies: Mutex<Vec<Letter>>,
    /// Why a letter is not taken, when it is not.
    pub at_letter: Mutex<Option<Refusal>>,
    /// Why no copy is kept, when none is.
    pub at_copy: Mutex<Option<Refusal>>,
    /// Why every call fails, when it does.
    pub broken: Mutex<Option<String>>,
    /// Why a login fails, when it does.
    pub at_login: Mutex<Option<Refusal>>,
    /// Access tokens that somebody logged in with.
    pub tokens: Mutex<Vec<String>>,
    /// The access token that is not taken any more.
    pub refused: Mutex<Option<Secret>>,
    /// Letters that are being read now, and the most that were at one time.
    pub reading: Mutex<(usize, usize)>,
}

impl FakeMailbox {
    pub fn new() -> Self {
        Self {
            validity: Mutex::new(7),
            messages: Mutex::default(),
            letters: Arc::default(),
            copies: Mutex::default(),
            at_letter: Mutex::default(),
            at_copy: Mutex::default(),
            broken: Mutex::default(),
            at_login: Mutex::default(),
            tokens: Mutex::default(),
            refused: Mutex::default(),
            reading: Mutex::default(),
        }
    }

    /// Puts a message in; gives its UID.
    pub fn deliver(&self, text: &str) -> u32 {
        let mut messages = self.messages.lock().unwrap();
        let uid = messages.last().map_or(1, |(uid, _)| uid + 1);
        messages.push((uid, text.replace('\n', "\r\n")));
        uid
    }

    fn fails(&self, account: &Account) -> Result<(), MailError> {
        match &*self.broken.lock().unwrap() {
            Some(why) => Err(MailError::Server { server: account.imap.to_string(), why: Said::new(why) }),
            None => Ok(()),
        }
    }

    async fn mail(&self, uid: u32) -> Option<Mail> {
        let validity = *self.validity.lock().unwrap();
        let (_, text) = self.messages.lock().unwrap().iter().find(|(found, _)| *found == uid)?.clone();
        let id = MailId { validity, uid };
        Some(Parser::in_this_process().mail(id, text.as_bytes(), Some(1_774_699_200_000)).await.unwrap())
    }

    async fn heads(&self, uids: &[u32]) -> Vec<MailHead> {
        let mut heads = Vec::new();
        for uid in uids {
            heads.extend(self.mail(*uid).await.map(|mail| mail.head));
        }
        heads
    }
}

/// A letter that the folder's server would take.
struct FakeOffer {
    letters: Arc<Mutex<Vec<Letter>>>,
    letter: Letter,
    refused: Option<MailError>,
}

#[async_trait]
impl Offered for FakeOffer {
    async fn hand_over(self: Box<Self>) -> Result<(), MailError> {
        if let Some(refused) = self.refused {
            return Err(refused);
        }
        self.letters.lock().unwrap().push(self.letter);
        Ok(())
    }
}

#[async_trait]
impl Mailbox for FakeMailbox {
    async fn poll(&self, account: &Account, mark: Option<Mark>, last_poll_ms: i64) -> Result<Poll, MailError> {
        self.fails(account)?;
        let uids: Vec<u32> = self.messages.lock().unwrap().iter().map(|(uid, _)| *uid).collect();
        let folder =
            Folder { validity: *self.validity.lock().unwrap(), highest: uids.last().copied().unwrap_or_default() };
        let unread = uids.len() as u32;
        Ok(match plan(mark, folder, last_poll_ms) {
            Plan::Begin(mark) => Poll { mark, heads: Vec::new(), renumbered: false, unread },
            Plan::Search(query) => {
                let step = query.settle(uids);
                let heads = self.heads(&step.uids).await;
                Poll { mark: step.mark, heads, renumbered: query.renumbered().is_some(), unread }
            }
        })
    }

    async fn wait(&self, account: &Account, _: Mark, _: Duration) -> Result<News, MailError> {
        self.fails(account)?;
        Ok(News::Unsupported)
    }

    async fn read(&self, account: &Account, id: MailId, _: bool) -> Result<Mail, MailError> {
        self.fails(account)?;
        {
            let mut reading = self.reading.lock().unwrap();
            reading.0 += 1;
            reading.1 = reading.1.max(reading.0);
        }
        // Whoever may come in meanwhile comes in.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        let mail = self.mail(id.uid).await;
        self.reading.lock().unwrap().0 -= 1;
        mail.ok_or_else(|| MailError::NotFound(id.to_string()))
    }

    async fn head(&self, account: &Account, id: MailId) -> Result<Option<MailHead>, MailError> {
        self.fails(account)?;
        Ok(self.mail(id.uid).await.map(|mail| mail.head).filter(|head| head.id == id))
    }

    async fn search(&self, account: &Account, query: &MailQuery) -> Result<Vec<MailHead>, MailError> {
        self.fails(account)?;
        let uids: Vec<u32> = self.messages.lock().unwrap().iter().rev().map(|(uid, _)| *uid).collect();
        let fits = |head: &MailHead| query.from.as_ref().is_none_or(|from| head.from.contains(from));
        Ok(self.heads(&uids).await.into_iter().filter(fits).take(query.limit).collect())
    }

    async fn offer(&self, account: &Account, letter: &Letter) -> Result<Box<dyn Offered>, MailError> {
        self.fails(account)?;
        let at_letter = *self.at_letter.lock().unwrap();
        let refused = at_letter.map(|error| error(account));
        Ok(Box::new(FakeOffer { letters: Arc::clone(&self.letters), letter: letter.clone(), refused }))
    }

    async fn keep_copy(&self, account: &Account, letter: &Letter) -> Result<Option<String>, MailError> {
        self.fails(account)?;
        let at_copy = *self.at_copy.lock().unwrap();
        at_copy.map_or(Ok(()), |error| Err(error(account)))?;
        self.copies.lock().unwrap().push(letter.clone());
        Ok(Some("Sent".to_owned()))
    }

    async fn test(&self, account: &Account) -> Result<(), MailError> {
        self.fails(account)?;
        let at_login = *self.at_login.lock().unwrap();
        at_login.map_or(Ok(()), |error| Err(error(account)))?;
        let Login::Tokens(source) = &account.login else { return Ok(()) };
        let refused = self.refused.lock().unwrap().clone();
        let (server, user) = (account.imap.to_string(), account.user.clone());
        let no_token = |why: String| MailError::Login { server, user, why: Said::new(why) };
        let token = source.token(refused.as_ref()).await.map_err(no_token)?;
        self.tokens.lock().unwrap().push(token.reveal().to_owned());
        Ok(())
    }
}
