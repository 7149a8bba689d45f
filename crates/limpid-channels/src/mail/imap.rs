//! Reading by IMAP, one connection a call. Messages are named by UID alone; a sequence number is never used, since it
//! changes with every message that somebody expunges.

mod fetch;
mod login;
mod wait;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;

use async_imap::Session;
use async_imap::imap_proto::{MailboxDatum, Response, Status};
use async_imap::types::NameAttribute;
use futures_util::{StreamExt as _, TryStreamExt as _};
use limpid_core::mail::{Folder, LISTED, Mark, Plan, Query, plan};

use super::link::Link;
use super::{Account, Mail, MailError, MailHead, MailId, MailQuery, Poll, Said, tls};
use limpid_formats::{Heads, Parser};

/// Names that folders of sent mail have on servers that do not say which one it is.
const SENT: [&str; 5] = ["Sent", "Sent Items", "Sent Messages", "INBOX.Sent", "Gesendet"];

/// Folders of an account that are looked through.
const FOLDERS: usize = 10_000;

/// A connection that is logged in.
pub(super) struct Imap<'a> {
    account: &'a Account,
    parser: &'a Parser,
    session: Session<Link>,
}

impl<'a> Imap<'a> {
    /// Connects and logs in.
    pub(super) async fn open(account: &'a Account, parser: &'a Parser) -> Result<Self, MailError> {
        Ok(Self { account, parser, session: login::session(account).await? })
    }
}

impl Imap<'_> {
    /// Says goodbye. Whatever becomes of it, the work is done.
    pub(super) async fn leave(mut self) {
        let _ = tokio::time::timeout(tls::CONNECT, self.session.logout()).await;
    }

    /// Fetches what came since the mark.
    pub(super) async fn poll(&mut self, mark: Option<Mark>, last_poll_ms: i64) -> Result<Poll, MailError> {
        // One number, where a search names each letter: of a very full folder that is more than a connection may say.
        let counted = self.session.status(&self.account.folder, "(UNSEEN)").await;
        let folder = self.folder().await?;
        let (mark, heads, renumbered) = match plan(mark, folder, last_poll_ms) {
            Plan::Begin(mark) => (mark, Vec::new(), false),
            Plan::Search(query) => {
                let step = query.settle(self.search(&criteria(&query)).await?);
                let Heads { mut done, late } = self.heads(folder.validity, &step.uids).await?;
                // What others left no time for is as if it had not come yet.
                let first = late.iter().map(|head| head.id.uid).min();
                done.retain(|head| first.is_none_or(|first| head.id.uid < first));
                let mark = first.map_or(step.mark, |first| query.before(first));
                (mark, done, query.renumbered().is_some())
            }
        };
        let unread = match counted.ok().and_then(|status| status.unseen) {
            Some(unread) => unread,
            None => u32::try_from(self.search("UNSEEN").await?.len()).unwrap_or(u32::MAX),
        };
        Ok(Poll { mark, heads, renumbered, unread })
    }

    /// Finds messages, newest first.
    pub(super) async fn find(&mut self, query: &MailQuery) -> Result<Vec<MailHead>, MailError> {
        let folder = self.folder().await?;
        let mut uids: Vec<u32> = self.search(&words(query)?).await?.into_iter().collect();
        uids.sort_unstable_by(|a, b| b.cmp(a));
        uids.truncate(if query.limit == 0 { LISTED } else { query.limit });
        let Heads { done, late } = self.heads(folder.validity, &uids).await?;
        let mut heads = [done, late].concat();
        heads.sort_by_key(|head| Reverse(head.id.uid));
        Ok(heads)
    }

    /// The head of one message; none when it is gone, or has another number now.
    pub(super) async fn head(&mut self, id: MailId) -> Result<Option<MailHead>, MailError> {
        if self.folder().await?.validity != id.validity {
            return Ok(None);
        }
        let Heads { done, late } = self.heads(id.validity, &[id.uid]).await?;
        Ok(done.into_iter().chain(late).next())
    }

    /// Fetches one message whole.
    pub(super) async fn read(&mut self, id: MailId, mark_read: bool) -> Result<Mail, MailError> {
        if self.folder().await?.validity != id.validity {
            return Err(MailError::NotFound(id.to_string()));
        }
        let mail = self.whole(id).await?.ok_or_else(|| MailError::NotFound(id.to_string()))?;
        if mark_read {
            self.mark_read(id.uid).await?;
        }
        Ok(mail)
    }

    /// Copies a letter to the folder of sent mail; says which one that is.
    pub(super) async fn keep_sent(&mut self, letter: &[u8]) -> Result<String, MailError> {
        let folder = match &self.account.sent {
            Some(folder) => folder.clone(),
            None => self.sent_folder().await?,
        };
        let kept = self.session.append(&folder, Some("(\\Seen)"), None, letter).await;
        kept.map_err(|error| self.failed(&error))?;
        Ok(folder)
    }

    /// Opens the account's folder, for looking alone.
    pub(super) async fn folder(&mut self) -> Result<Folder, MailError> {
        let opened = self.session.examine(&self.account.folder).await.map_err(|error| self.failed(&error))?;
        let Some(validity) = opened.uid_validity else {
            let folder = &self.account.folder;
            return Err(self.said(format_args!("the folder {folder} has no lasting numbers (UIDVALIDITY)")));
        };
        let highest = match opened.uid_next {
            Some(next) => next.saturating_sub(1),
            None if opened.exists == 0 => 0,
            None => self.search("UID *").await?.into_iter().max().unwrap_or_default(),
        };
        Ok(Folder { validity, highest })
    }

    /// The numbers of the letters that a search finds. The library's own search takes a NO for an answer without letters, and what was not
    /// found is passed over for good.
    async fn search(&mut self, criteria: &str) -> Result<BTreeSet<u32>, MailError> {
        let asked = self.session.run_command(format!("UID SEARCH {criteria}")).await;
        let asked = asked.map_err(|error| self.failed(&error))?;
        let mut found = BTreeSet::new();
        loop {
            let answer = self.session.read_response().await.map_err(|error| self.said(error))?;
            let Some(answer) = answer else { return Err(self.said("it closed the connection")) };
            match answer.parsed() {
                Response::Done { tag, status: Status::Ok, .. } if *tag == asked => return Ok(found),
                Response::Done { tag, status, outcome } if *tag == asked => {
                    let why = outcome.information.as_deref().unwrap_or_default();
                    return Err(self.said(format_args!("it answers a search with {status:?}: {why}")));
                }
                Response::MailboxData(MailboxDatum::Search(numbers)) => found.extend(numbers),
                _ => {}
            }
        }
    }

    async fn sent_folder(&mut self) -> Result<String, MailError> {
        let listed = match self.session.list(Some(""), Some("*")).await {
            Ok(names) => names.take(FOLDERS).try_collect::<Vec<_>>().await,
            Err(error) => Err(error),
        };
        let listed = listed.map_err(|error| self.failed(&error))?;
        if let Some(name) = listed.iter().find(|name| name.attributes().contains(&NameAttribute::Sent)) {
            return Ok(name.name().to_owned());
        }
        let usual = SENT.iter().find(|usual| listed.iter().any(|name| name.name().eq_ignore_ascii_case(usual)));
        if let Some(usual) = usual {
            return Ok((*usual).to_owned());
        }
        let made = self.session.create(SENT[0]).await;
        made.map_err(|error| self.failed(&error))?;
        Ok(SENT[0].to_owned())
    }

    fn failed(&self, error: &async_imap::error::Error) -> MailError {
        self.said(error)
    }

    fn said(&self, why: impl fmt::Display) -> MailError {
        MailError::Server { server: self.account.imap.to_string(), why: Said::new(why) }
    }
}

/// What a poll searches for.
fn criteria(query: &Query) -> String {
    let first = query.after().saturating_add(1);
    match query.renumbered() {
        None => format!("UID {first}:*"),
        // The server compares days alone.
        Some(renumbered) => {
            let since = jiff::Timestamp::from_millisecond(renumbered.since_ms).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
            let since = since.to_zoned(jiff::tz::TimeZone::UTC).date();
            format!("UID {first}:{} SINCE {}", renumbered.to.max(first), day(since))
        }
    }
}

/// A person's search.
fn words(query: &MailQuery) -> Result<String, MailError> {
    let mut words = Vec::new();
    if let Some(from) = &query.from {
        words.push(format!("FROM {}", quoted(from)?));
    }
    if let Some(subject) = &query.subject {
        words.push(format!("SUBJECT {}", quoted(subject)?));
    }
    words.extend(query.since.map(|since| format!("SINCE {}", day(since))));
    if words.is_empty() {
        words.push("ALL".to_owned());
    }
    let words = words.join(" ");
    // Some servers refuse to be told, so only where it has to be said.
    Ok(if words.is_ascii() { words } else { format!("CHARSET UTF-8 {words}") })
}

fn quoted(text: &str) -> Result<String, MailError> {
    if text.chars().any(char::is_control) {
        return Err(MailError::Invalid("a search holds no line breaks or other control characters".to_owned()));
    }
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

fn day(date: jiff::civil::Date) -> String {
    date.strftime("%-d-%b-%Y").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    // KAI-090 KAI-091
    #[test]
    fn a_poll_searches_by_uid() {
        let folder = |validity, highest| Folder { validity, highest };
        let asked = |mark, folder, last| match plan(Some(mark), folder, last) {
            Plan::Search(query) => criteria(&query),
            Plan::Begin(_) => String::new(),
        };
        let mark = Mark { validity: 7, uid: 41, renumbered: None };
        assert_eq!(asked(mark, folder(7, 50), 0), "UID 42:*");
        // 2026-03-28T00:30Z, less a day.
        assert_eq!(asked(mark, folder(8, 50), 1_774_657_800_000), "UID 1:50 SINCE 27-Mar-2026");
    }

    // KAI-093
    #[test]
    fn a_search_cannot_leave_its_quotes() {
        let query = |from: &str| MailQuery { from: Some(from.to_owned()), ..MailQuery::default() };
        assert_eq!(words(&query("a\" OR \"b\\")).unwrap(), "FROM \"a\\\" OR \\\"b\\\\\"");
        assert!(words(&query("a\r\nx LOGOUT")).is_err());
        assert_eq!(words(&MailQuery::default()).unwrap(), "ALL");
        let all =
            MailQuery { subject: Some("Grüße".into()), since: Some(jiff::civil::date(2026, 3, 5)), ..query("ada") };
        assert_eq!(words(&all).unwrap(), "CHARSET UTF-8 FROM \"ada\" SUBJECT \"Grüße\" SINCE 5-Mar-2026");
    }
}
