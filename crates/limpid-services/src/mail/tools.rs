//! Tools of mail. What they read was written by strangers and comes back so labelled, so that it stands in a fence.

mod check;
mod compose;
mod read;
mod reply;
mod search;
mod setup;

use std::sync::Arc;

use limpid_channels::mail::{Account, MailId, address};
use limpid_core::{Labelled, inbox::Source};
use limpid_core::{Sentence, ToolClass, sentence};
use limpid_store::{ItemFilter, ItemId, MailUid};
use serde_json::Value;

use crate::mail::MailAccounts;
use crate::tools::{Tool, ToolContext, echoed, trouble};

/// The group of these tools.
const GROUP: &str = "email";

/// The tools, in the order in which they are declared.
pub fn tools(mail: &Arc<MailAccounts>, result_chars: usize) -> Vec<Arc<dyn Tool>> {
    let mail = || Arc::clone(mail);
    vec![
        Arc::new(check::CheckEmail { mail: mail(), result_chars }),
        Arc::new(read::ReadEmail { mail: mail() }),
        Arc::new(search::SearchEmail { mail: mail() }),
        Arc::new(reply::ReplyEmail { mail: mail() }),
        Arc::new(compose::ComposeEmail { mail: mail() }),
        Arc::new(setup::SetupEmail { mail: mail() }),
    ]
}

/// Where a letter goes: the account, then everybody who gets it. Rules and approvals name it.
fn destination<'a>(mail: &MailAccounts, account: Option<&str>, to: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut to: Vec<String> =
        to.map(|to| address(to).unwrap_or_else(|_| to.escape_debug().to_string().to_lowercase())).collect();
    to.sort();
    to.dedup();
    let account = mail.address(account).unwrap_or_else(|_| account.unwrap_or("?").to_owned());
    (!to.is_empty()).then(|| format!("{account} to {}", to.join(", ")))
}

/// Whether these are addresses that mail can go to. Asked before the owner is, so that nobody approves what cannot leave.
fn sendable<'a>(to: impl Iterator<Item = &'a str>) -> Result<(), Sentence> {
    let mut to = to.peekable();
    if to.peek().is_none() {
        return Err("`to` names nobody. Give at least one address, such as \"ada@example.com\".".into());
    }
    to.try_for_each(|to| address(to).map(drop).map_err(trouble))
}

/// Texts of an argument that is a text or a list of them.
fn texts<'a>(arguments: &'a Value, name: &str) -> Vec<&'a str> {
    match &arguments[name] {
        Value::String(text) => vec![text],
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// What a tool says of an error of a mail server, which may have chosen the words.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` gives it away")]
fn server_trouble(error: limpid_channels::mail::MailError) -> Sentence {
    Labelled::outside(error.to_string()).into()
}

/// A message that a call names: what the account's server calls it, or `i17` for mail that was handed in.
enum Named {
    OnServer(MailId),
    Kept(ItemId),
}

/// Finds the message that a call names.
async fn named(mail: &MailAccounts, account: &Account, id: &str) -> Result<Named, Sentence> {
    let wrong = || sentence!("`{}` is no number of a mail; check_email and search_email show them", echoed(id));
    if let Some(number) = id.trim().strip_prefix('i') {
        return Ok(Named::Kept(ItemId(number.parse().map_err(|_| wrong())?)));
    }
    let uid: u32 = id.trim().parse().map_err(|_| wrong())?;
    let rows = mail.store.mail_accounts().await.map_err(trouble)?.rows;
    let mark = rows.into_iter().find(|row| row.address == account.address).and_then(|row| row.mark);
    let Some(mark) = mark else {
        return Err(sentence!("{} was never read; call check_email first", echoed(&account.address)));
    };
    Ok(Named::OnServer(MailId { validity: mark.validity, uid }))
}

/// Says that a call shows messages.
async fn shown(mail: &MailAccounts, account: &str, ids: &[MailId], context: &ToolContext) -> Result<(), Sentence> {
    let filter = ItemFilter {
        source: Some(Source::Mail),
        account: Some(account.to_owned()),
        unseen: true,
        ..ItemFilter::default()
    };
    let unseen = mail.store.items(filter).await.map_err(trouble)?.rows;
    let is_one = |uid: Option<MailUid>| {
        uid.is_some_and(|uid| ids.iter().any(|id| id.uid == uid.uid && id.validity == uid.validity))
    };
    let seen = unseen.iter().filter(|item| is_one(item.new.uid)).map(|item| item.id.0);
    context.shown.add(seen);
    Ok(())
}

/// One message on one line: number, sender, time, subject, beginning.
fn line(id: &str, (from, subject, preview): (&str, &str, &str), at_ms: Option<i64>, context: &ToolContext) -> String {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let named = |text: &str, absent: &str| if text.trim().is_empty() { absent.to_owned() } else { one_line(text) };
    let at = at_ms.map(|at| when(at, context)).unwrap_or_default();
    format!("{id} | {} | {at} | {} | {}", named(from, "unknown"), named(subject, "no subject"), one_line(preview))
}

fn when(at_ms: i64, context: &ToolContext) -> String {
    let at = jiff::Timestamp::from_millisecond(at_ms).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.to_zoned(context.zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// What the tools that look have in common.
macro_rules! reads_mail {
    ($name:literal, $arguments:ty) => {
        fn name(&self) -> &'static str {
            $name
        }

        fn group(&self) -> &'static str {
            super::GROUP
        }

        fn class(&self) -> limpid_core::ToolClass {
            limpid_core::ToolClass::Read
        }

        fn schema(&self) -> serde_json::Map<String, serde_json::Value> {
            crate::tools::schema_of::<$arguments>()
        }

        fn is_repeatable(&self) -> bool {
            true
        }

        fn is_available(&self) -> bool {
            self.mail.is_set_up()
        }

        fn timeout(&self) -> Option<std::time::Duration> {
            Some(super::TIME)
        }
    };
}

/// How long a call may take that speaks to a server or two.
const TIME: std::time::Duration = std::time::Duration::from_secs(150);

/// The class of letters.
const SENDS: ToolClass = ToolClass::Send;

use reads_mail;
