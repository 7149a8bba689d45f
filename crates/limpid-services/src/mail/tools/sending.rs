//! Where letters go, as the tools that send them need it.

use std::collections::BTreeSet;

use limpid_channels::mail::address;
use limpid_core::Sentence;
use limpid_core::policy::Destination;
use serde_json::Value;

use crate::mail::service::MailAccounts;
use crate::tools::trouble;

/// Where a letter goes: the account, then everybody who gets it. Rules and approvals name it.
pub(super) fn destination<'a>(
    mail: &MailAccounts,
    account: Option<&str>,
    to: impl Iterator<Item = &'a str>,
) -> Option<Destination> {
    let bare = |to: &str| address(to).unwrap_or_else(|_| to.escape_debug().to_string().to_lowercase());
    let to: BTreeSet<String> = to.map(bare).collect();
    let from = mail.address(account).unwrap_or_else(|_| account.unwrap_or("?").to_owned());
    (!to.is_empty()).then_some(Destination::People { from: Some(from), to })
}

/// Whether these are addresses that mail can go to. Asked before the owner is, so that nobody approves what cannot leave.
pub(super) fn sendable<'a>(to: impl Iterator<Item = &'a str>) -> Result<(), Sentence> {
    let mut to = to.peekable();
    if to.peek().is_none() {
        return Err("`to` names nobody. Give at least one address, such as \"ada@example.com\".".into());
    }
    to.try_for_each(|to| address(to).map(drop).map_err(trouble))
}

/// Texts of an argument that is a text or a list of them.
pub(super) fn texts<'a>(arguments: &'a Value, name: &str) -> Vec<&'a str> {
    match &arguments[name] {
        Value::String(text) => vec![text],
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
