//! Conversations in whose titles or messages words are.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use limpid_core::ConversationId;
use limpid_core::by_side::by_side;
use limpid_core::snippet::holds;
use rusqlite::named_params;

use super::Tx;
use super::conversation_row::{self, conversation};
use super::conversations::OF_STRANGERS;
use super::failure::Outcome;
use super::messages::message;
use super::recall::quoted;
use super::row::{self, Unreadable};
use crate::{Broken, ConversationKind, FoundConversation, Listed, StoredMessage};

/// Messages that are looked at, the newest of either side.
const LOOKED_AT: u32 = 3000;

/// The newest message of each conversation.
type Said = BTreeMap<ConversationId, StoredMessage>;

/// What is looked for.
#[derive(Clone, Copy)]
struct Search<'a> {
    words: &'a [String],
    /// Whether in conversations of strangers.
    strangers: bool,
    /// Whether among the messages that a stranger's text led to, or among the others.
    foreign: bool,
    /// Conversations that are found at most.
    limit: usize,
}

/// See [`crate::Conversations::find_conversations`].
pub(super) fn find(tx: &Tx<'_>, words: &[String], limit: u32) -> Outcome<Listed<FoundConversation>> {
    let mut found = Listed { rows: Vec::new(), broken: Vec::new() };
    let words: Vec<String> = words.iter().filter(|word| word.contains(char::is_alphanumeric)).cloned().collect();
    if words.is_empty() {
        return Ok(found);
    }
    // However much strangers say, it pushes nothing of the owner's out.
    for (strangers, limit) in [(false, limit), (true, limit.min(OF_STRANGERS))] {
        let search = Search { words: &words, strangers, foreign: false, limit: limit as usize };
        let mut rows = BTreeMap::new();
        for conversation in titled(tx, search, &mut found.broken)? {
            rows.insert(conversation.id.clone(), (FoundConversation { conversation, message: None }, false));
        }
        let (own, led) = said(tx, search, &mut found.broken)?;
        let said = own.into_iter().map(|row| (row, false)).chain(led.into_iter().map(|row| (row, true)));
        for ((id, message), is_led) in said {
            match rows.entry(id) {
                // What a stranger's text led to comes second.
                Entry::Occupied(mut row) => {
                    let (row, _) = row.get_mut();
                    row.message = row.message.take().or(Some(message));
                }
                Entry::Vacant(row) => {
                    if let Some(conversation) = conversation_row::find(tx, row.key())? {
                        row.insert((FoundConversation { conversation, message: Some(message) }, is_led));
                    }
                }
            }
        }
        let mut rows: Vec<_> = rows.into_values().collect();
        rows.sort_by_key(|(row, _)| newest_first(row));
        let rows = by_side(rows, limit as usize, |(_, is_led)| *is_led);
        found.rows.extend(rows.into_iter().map(|(row, _)| row));
    }
    found.rows.sort_by_key(newest_first);
    Ok(found)
}

fn newest_first(row: &FoundConversation) -> Reverse<(i64, String)> {
    Reverse((row.conversation.updated_ms, row.conversation.id.to_string()))
}

/// The conversations whose title holds all words.
fn titled(tx: &Tx<'_>, search: Search<'_>, broken: &mut Vec<Broken>) -> Outcome<Vec<crate::Conversation>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT * FROM conversation WHERE owner = :owner AND kind <> :run AND strangers = :strangers AND title <> ''",
    )?;
    let run = ConversationKind::Run.as_str();
    let params = named_params! { ":owner": tx.owner, ":run": run, ":strangers": search.strangers };
    let is_wanted = |own: &crate::Conversation| holds(&own.title, search.words);
    let listed = row::list_some(&mut statement, params, ("conversation", "id"), conversation, is_wanted, usize::MAX)?;
    broken.extend(listed.broken);
    Ok(listed.rows)
}

/// What holds all words, apart by whether a stranger's text led to it: however often that repeats a word, it keeps nothing else from being
/// looked at.
fn said(tx: &Tx<'_>, search: Search<'_>, broken: &mut Vec<Broken>) -> Outcome<(Said, Said)> {
    let foreign = Search { foreign: true, ..search };
    let (mut own, mut led) = (indexed(tx, search, broken)?, indexed(tx, foreign, broken)?);
    // The index cuts scripts without spaces at punctuation only.
    if own.is_empty() && search.words.iter().any(|word| !word.is_ascii()) {
        own = written(tx, search, broken)?;
        if led.is_empty() {
            led = written(tx, foreign, broken)?;
        }
    }
    Ok((own, led))
}

fn indexed(tx: &Tx<'_>, search: Search<'_>, broken: &mut Vec<Broken>) -> Outcome<Said> {
    // The last word may not be whole yet.
    let query = search.words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ") + "*";
    let sql = "SELECT m.* FROM message_fts JOIN message m ON m.id = message_fts.rowid
               JOIN conversation c ON c.owner = m.owner AND c.id = m.conversation
               WHERE message_fts MATCH :words AND m.owner = :owner AND m.role IN ('user', 'assistant')
                 AND c.kind <> :run AND c.strangers = :strangers AND (m.trust IN ('guest', 'outside')) = :foreign
               ORDER BY message_fts.rowid DESC LIMIT :most";
    newest(tx, (sql, &query), search, broken)
}

fn written(tx: &Tx<'_>, search: Search<'_>, broken: &mut Vec<Broken>) -> Outcome<Said> {
    let sql = "SELECT m.* FROM message m JOIN conversation c ON c.owner = m.owner AND c.id = m.conversation
               WHERE instr(m.text, :words) > 0 AND m.owner = :owner AND m.role IN ('user', 'assistant')
                 AND c.kind <> :run AND c.strangers = :strangers AND (m.trust IN ('guest', 'outside')) = :foreign
               ORDER BY m.id DESC LIMIT :most";
    let rare = search.words.iter().find(|word| !word.is_ascii()).map_or("", String::as_str);
    newest(tx, (sql, rare), search, broken)
}

/// The newest message of each conversation among those of a query. What was put around a message for a model is found by the index
/// too, and is nothing that was said.
fn newest(tx: &Tx<'_>, (sql, query): (&str, &str), search: Search<'_>, broken: &mut Vec<Broken>) -> Outcome<Said> {
    let mut statement = tx.sql.prepare_cached(sql)?;
    let run = ConversationKind::Run.as_str();
    let mut rows = statement.query(named_params! {
        ":words": query, ":owner": tx.owner, ":run": run, ":strangers": search.strangers, ":foreign": search.foreign,
        ":most": LOOKED_AT,
    })?;
    let mut found = BTreeMap::new();
    while found.len() < search.limit
        && let Some(row) = rows.next()?
    {
        let id = ConversationId::new(row.get::<_, String>("conversation")?);
        if found.contains_key(&id) {
            continue;
        }
        match message(row) {
            Ok(message) if message.typed.as_ref().is_none_or(|typed| holds(typed, search.words)) => {
                found.insert(id, message);
            }
            Ok(_) => {}
            Err(Unreadable(reason)) => {
                let id = row.get::<_, i64>("id")?.to_string();
                broken.push(Broken { table: "message", id, reason });
            }
        }
    }
    Ok(found)
}
