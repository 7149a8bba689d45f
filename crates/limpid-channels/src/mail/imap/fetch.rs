//! Fetching messages and their heads.

use std::collections::HashSet;

use async_imap::types::Fetch;
use futures_util::TryStreamExt;
use limpid_formats::Heads;

use super::Imap;
use crate::mail::link::LETTER;
use crate::mail::{Mail, MailError, MailId};

/// Bytes from which a head is made: its lines and the beginning of the text.
const HEAD: u32 = 32 * 1024;

impl Imap<'_> {
    /// The heads of messages that are still there, oldest first.
    pub(super) async fn heads(&mut self, validity: u32, uids: &[u32]) -> Result<Heads, MailError> {
        if uids.is_empty() {
            return Ok(Heads::default());
        }
        let fetched = self.fetch(uids, HEAD, "UID INTERNALDATE").await?;
        self.are_gone(uids, &fetched).await?;
        let mut messages: Vec<_> = fetched
            .iter()
            .filter_map(|fetch| Some((fetch.uid?, fetch.body()?, arrived(fetch))))
            .map(|(uid, bytes, at_ms)| (MailId { validity, uid }, at_ms, bytes.to_vec()))
            .collect();
        // The oldest are begun first, in whichever order the server gives them.
        messages.sort_by_key(|(id, ..)| id.uid);
        Ok(self.parser.heads(messages).await)
    }

    /// Holds that the messages of which a fetch gave nothing are there no more. The library takes a NO to a fetch for its end, and what is
    /// left out would be passed over for good.
    async fn are_gone(&mut self, uids: &[u32], fetched: &[Fetch]) -> Result<(), MailError> {
        let given: HashSet<u32> = fetched.iter().filter_map(|fetch| fetch.uid).collect();
        let missing: Vec<String> = uids.iter().filter(|uid| !given.contains(uid)).map(u32::to_string).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let there = self.search(&format!("UID {}", missing.join(","))).await?;
        match there.first() {
            None => Ok(()),
            Some(first) => Err(self.said(format_args!(
                "it does not give the message with number {first}, which it has; where that stays so, move it to another folder"
            ))),
        }
    }

    /// A whole message; none when it is gone.
    pub(super) async fn whole(&mut self, id: MailId) -> Result<Option<Mail>, MailError> {
        let fetched = self.fetch(&[id.uid], LETTER, "UID INTERNALDATE RFC822.SIZE").await?;
        let Some((fetch, bytes)) = fetched.iter().find_map(with_body) else { return Ok(None) };
        let mail = self.parser.mail(id, bytes, arrived(fetch)).await;
        let mail = mail.map_err(|broken| {
            self.said(format_args!("the message cannot be shown: {broken}; another mail program may open it"))
        })?;
        Ok(Some(Mail { cut: mail.cut || fetch.size.is_some_and(|size| size > LETTER), ..mail }))
    }

    /// Marks a message as read.
    pub(super) async fn mark_read(&mut self, uid: u32) -> Result<(), MailError> {
        self.session.select(&self.account.folder).await.map_err(|error| self.failed(&error))?;
        let marked = self.session.run_command_and_check_ok(format!("UID STORE {uid} +FLAGS.SILENT (\\Seen)")).await;
        marked.map_err(|error| self.failed(&error))
    }

    /// The beginnings of messages, `bytes` of each, with what else is asked of them. A server may tell of other messages in between, or of one
    /// again and again; none of that is held.
    async fn fetch(&mut self, uids: &[u32], bytes: u32, also: &str) -> Result<Vec<Fetch>, MailError> {
        let set = uids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let mut wanted: HashSet<u32> = uids.iter().copied().collect();
        let is_wanted = |fetch: &Fetch| {
            std::future::ready(fetch.body().is_some() && fetch.uid.is_some_and(|uid| wanted.remove(&uid)))
        };
        let fetched = match self.session.uid_fetch(set, format!("({also} BODY.PEEK[]<0.{bytes}>)")).await {
            Ok(fetched) => fetched.try_filter(is_wanted).try_collect().await,
            Err(error) => Err(error),
        };
        fetched.map_err(|error| self.failed(&error))
    }
}

fn with_body(fetch: &Fetch) -> Option<(&Fetch, &[u8])> {
    Some((fetch, fetch.body()?))
}

fn arrived(fetch: &Fetch) -> Option<i64> {
    fetch.internal_date().map(|date| date.timestamp_millis())
}
