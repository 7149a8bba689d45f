//! Messages as calls name them and results show them.

use jiff::Timestamp;
use limpid_channels::mail::MailId;
use limpid_core::inbox::Source;
use limpid_core::{Sentence, sentence};
use limpid_store::{InboxItem, ItemFilter, ItemId, MailUid, StoreError};
use serde_json::Value;

use crate::mail::service::MailAccounts;
use crate::tools::{ToolContext, echoed, trouble};

/// A message that a call names: what the account's server calls it, or `i17` for mail that was handed in.
pub(super) enum Named {
    OnServer(MailId),
    Kept(ItemId),
}

/// Finds the message that a call names.
pub(super) async fn named(mail: &MailAccounts, account: &str, id: &str) -> Result<Named, Sentence> {
    let wrong = || sentence!("`{}` is no number of a mail; check_email and search_email show them", echoed(id));
    if let Some(number) = id.trim().strip_prefix('i') {
        return Ok(Named::Kept(ItemId(number.parse().map_err(|_| wrong())?)));
    }
    let uid: u32 = id.trim().parse().map_err(|_| wrong())?;
    let rows = mail.store.mail_accounts().await.map_err(trouble)?.rows;
    let mark = rows.into_iter().find(|row| row.address == account).and_then(|row| row.mark);
    let Some(mark) = mark else {
        return Err(sentence!("{} was never read; call check_email first", echoed(account)));
    };
    Ok(Named::OnServer(MailId { validity: mark.validity, uid }))
}

/// The account and the message that a call names by `account` and `id`.
async fn named_by(mail: &MailAccounts, arguments: &Value) -> Option<(String, Named)> {
    let account = mail.address(arguments["account"].as_str()).ok()?;
    let found = named(mail, &account, arguments["id"].as_str()?).await.ok()?;
    Some((account, found))
}

/// The numbers that the message of a call has now.
pub(super) async fn numbers(mail: &MailAccounts, arguments: &Value) -> Vec<String> {
    match named_by(mail, arguments).await {
        Some((_, Named::OnServer(id))) => vec![format!("letter {} of {}", id.uid, id.validity)],
        Some((_, Named::Kept(_))) | None => Vec::new(),
    }
}

/// What a yes to a call is bound to that does something about a message: its numbers, and what its server says that it is. A
/// server may give a number to another one.
pub(super) async fn bound(mail: &MailAccounts, arguments: &Value) -> Vec<String> {
    let mut bound = numbers(mail, arguments).await;
    if let Some((account, Named::OnServer(id))) = named_by(mail, arguments).await {
        bound.extend(mail.head(&account, id).await.map(|head| head.key));
    }
    bound
}

/// What the owner is told of the message that a call names, as its server shows it now, or as it came in where that cannot be asked.
pub(super) async fn in_words(mail: &MailAccounts, arguments: &Value) -> Option<String> {
    let (account, named) = named_by(mail, arguments).await?;
    let words = |from: &str, subject: &str| format!("a letter to {account} from {from}: {subject}");
    let item = match named {
        Named::Kept(id) => kept(mail, &account, id).await.ok()?,
        Named::OnServer(id) => {
            if let Some(head) = mail.head(&account, id).await {
                return Some(mail.redactor.clean(words(&head.from, &head.subject)));
            }
            let source = Some(Source::Mail);
            let filter =
                ItemFilter { source, account: Some(account.clone()), uids: vec![id.uid], ..ItemFilter::default() };
            let is_it = |uid: MailUid| uid.uid == id.uid && uid.validity == id.validity;
            mail.store.items(filter).await.ok()?.rows.into_iter().find(|item| item.new.uid.is_some_and(is_it))
        }
    };
    let new = item?.new;
    Some(words(&new.sender, &new.title))
}

/// A message by the number that it has here. Only a call that names its account finds it: a rule may hold back that account's. Mail
/// of none of the accounts, as it is handed in, is found by each.
pub(super) async fn kept(mail: &MailAccounts, account: &str, id: ItemId) -> Result<Option<InboxItem>, StoreError> {
    let item = mail.store.item(id).await?.filter(|item| item.new.source == Source::Mail);
    let others = mail.every_address();
    let is_one_of = |item: &InboxItem| others.iter().any(|other| is_account(&item.new.account, other));
    Ok(item.filter(|item| is_account(&item.new.account, account) || !is_one_of(item)))
}

/// Whether what a program that handed a letter in calls its account is this one: `The Boss <Boss@work.example>`, too.
fn is_account(called: &str, account: &str) -> bool {
    let inner = called.rsplit_once('<').and_then(|(_, inner)| inner.split('>').next());
    inner.unwrap_or(called).trim().to_lowercase() == account.trim().to_lowercase()
}

/// Says that a call shows messages.
pub(super) async fn shown(
    mail: &MailAccounts,
    account: &str,
    ids: &[MailId],
    context: &ToolContext,
) -> Result<(), Sentence> {
    let filter = ItemFilter {
        source: Some(Source::Mail),
        account: Some(account.to_owned()),
        uids: ids.iter().map(|id| id.uid).collect(),
        unseen: true,
        ..ItemFilter::default()
    };
    if filter.uids.is_empty() {
        return Ok(());
    }
    let unseen = mail.store.items(filter).await.map_err(trouble)?.rows;
    let is_one = |uid: Option<MailUid>| {
        uid.is_some_and(|uid| ids.iter().any(|id| id.uid == uid.uid && id.validity == uid.validity))
    };
    let seen = unseen.iter().filter(|item| is_one(item.new.uid)).map(|item| item.id.0);
    context.shown.add(seen);
    Ok(())
}

/// Arguments with the number of a message in one form, as rules that hold back are compared with them.
pub(super) fn with_number(arguments: &Value) -> Value {
    let mut plain = arguments.clone();
    if let Some(id) = plain.get_mut("id") {
        let word = id.as_str().unwrap_or_default().trim();
        let (kept, digits) = word.strip_prefix('i').map_or(("", word), |digits| ("i", digits));
        *id = digits.parse::<u64>().map_or_else(|_| id.clone(), |number| Value::from(format!("{kept}{number}")));
    }
    if let Some(account) = plain.get_mut("account") {
        *account = account.as_str().map_or_else(|| account.clone(), |text| Value::from(text.trim().to_lowercase()));
    }
    plain
}

/// Arguments that name no account, with the accounts that they stand for named, one in each.
pub(super) fn with_account(arguments: &Value, accounts: Vec<String>) -> Vec<Value> {
    if arguments["account"].as_str().is_some_and(|named| !named.trim().is_empty()) {
        return Vec::new();
    }
    let named = |account| {
        let mut named = arguments.clone();
        named.as_object_mut()?.insert("account".to_owned(), Value::from(account));
        Some(named)
    };
    accounts.into_iter().filter_map(named).collect()
}

/// Letters of a sender, a subject or a beginning in a list.
const LETTERS: usize = 120;

/// A text on one line. However long one letter's are, the others of the list stay within what a result may have.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(LETTERS).collect();
    if short.len() < line.len() { short + "…" } else { short }
}

/// One message on one line: number, sender, time, subject, beginning.
pub(super) fn line(
    id: &str,
    (from, subject, preview): (&str, &str, &str),
    at_ms: Option<i64>,
    context: &ToolContext,
) -> String {
    let named = |text: &str, absent: &str| if text.trim().is_empty() { absent.to_owned() } else { one_line(text) };
    let at = at_ms.map(|at| when(at, context)).unwrap_or_default();
    format!("{id} | {} | {at} | {} | {}", named(from, "unknown"), named(subject, "no subject"), one_line(preview))
}

pub(super) fn when(at_ms: i64, context: &ToolContext) -> String {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    at.to_zoned(context.zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// What the tools that look have in common.
macro_rules! reads_mail {
    ($name:literal, $arguments:ty) => {
        fn name(&self) -> &'static str {
            $name
        }

        fn group(&self) -> &'static str {
            crate::mail::tools::group::GROUP
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
            Some(crate::mail::tools::group::TIME)
        }
    };
}
pub(super) use reads_mail;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // SEC-071
    #[test]
    fn a_letter_is_of_its_account_however_whoever_handed_it_in_writes_that() {
        for called in ["boss@work.example", " Boss@Work.example", "The Boss <boss@work.example>"] {
            assert!(is_account(called, "boss@work.example"), "{called}");
        }
        assert!(!is_account("ada@home.example", "boss@work.example") && !is_account("", "boss@work.example"));
    }

    // SEC-093
    #[test]
    fn no_letter_of_a_list_takes_the_room_of_the_others() {
        let long = one_line(&"x ".repeat(15_000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (LETTERS + 1, true));
        assert_eq!(one_line(" Lunch \r\n at  noon"), "Lunch at noon");
    }

    // SEC-071
    #[test]
    fn a_call_that_names_no_account_is_about_those_that_it_reads() {
        let of = |arguments| with_account(&arguments, vec!["a@x.org".to_owned(), "b@x.org".to_owned()]);
        for none in [json!({ "id": "1" }), json!({ "id": "1", "account": " " }), json!({ "id": "1", "account": null })]
        {
            let both = ["a@x.org", "b@x.org"].map(|account| json!({ "id": "1", "account": account }));
            assert_eq!(of(none), both);
        }
        assert!(of(json!({ "id": "1", "account": "b@x.org" })).is_empty());
    }

    // SEC-071
    #[test]
    fn a_message_has_one_number_for_rules() {
        let number = |id: &str| with_number(&json!({ "id": id, "account": " Ada@Example.com" }));
        for id in ["1", "+1", "01", " 1 "] {
            assert_eq!(number(id), json!({ "id": "1", "account": "ada@example.com" }), "{id}");
        }
        assert_eq!((number("i07")["id"].clone(), number("x")["id"].clone()), (json!("i7"), json!("x")));
    }
}
