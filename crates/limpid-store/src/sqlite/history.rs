//! Messages of a conversation that hold words of a query or are near its meaning, and what stands around them.

use std::collections::BTreeMap;

use limpid_core::ConversationId;
use limpid_core::recall::{Corpus, Meaning, Place};
use rusqlite::named_params;

use super::failure::Outcome;
use super::recall::quoted;
use super::row::list;
use super::vectors::Likenesses;
use super::{Tx, messages};
use crate::FoundMessages;

/// After a pause of so many milliseconds people sit down anew: what comes then is another session.
const PAUSE_MS: i64 = 4 * 60 * 60 * 1000;

/// Messages before and after a match that may answer it.
const AROUND: usize = 2;

/// Bytes of a word with the space behind it, near enough for an average.
const BYTES_OF_WORD: u64 = 6;

/// The messages that hold any of these words or are near the meaning, and those around them.
pub(super) fn search(
    tx: &Tx<'_>,
    id: &ConversationId,
    (words, meaning): (&[String], Option<&Meaning>),
    limit: u32,
) -> Outcome<FoundMessages> {
    let words: Vec<&String> = words.iter().filter(|word| word.contains(char::is_alphanumeric)).collect();
    let (outline, mut corpus) = outline(tx, id)?;
    for word in &words {
        let holding = matching(tx, id, word)?.len() as u64;
        corpus.holding.push(((*word).clone(), holding));
    }
    let mut found = FoundMessages { corpus, ..FoundMessages::default() };
    let mut wanted: BTreeMap<i64, Place> = BTreeMap::new();
    let likenesses = match meaning {
        Some(meaning) => Likenesses::of_messages(tx, id, meaning)?,
        None => Likenesses::default(),
    };
    for hit in hits(tx, id, &words, limit)?.into_iter().chain(likenesses.nearest()) {
        let Ok(at) = outline.binary_search_by_key(&hit, |(id, _)| *id) else { continue };
        let around = outline.get(at.saturating_sub(AROUND)..outline.len().min(at + AROUND + 1)).unwrap_or_default();
        wanted.extend(around.iter().copied().filter(|(_, place)| place.session == outline[at].1.session));
    }
    let mut statement = tx.sql.prepare_cached("SELECT * FROM message WHERE owner = ? AND id = ?")?;
    for (id, place) in wanted {
        let listed = list(&mut statement, (tx.owner, id), "message", "id", messages::message)?;
        found.messages.extend(listed.rows.into_iter().map(|row| (row, place)));
        found.broken.extend(listed.broken);
    }
    found.likeness = likenesses.of(found.messages.iter().map(|(row, _)| row.id), |id| id.0);
    Ok(found)
}

/// Every message with its place, in their order, and how much text there is.
fn outline(tx: &Tx<'_>, id: &ConversationId) -> Outcome<(Vec<(i64, Place)>, Corpus)> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT id, at_ms, octet_length(text) FROM message
         WHERE owner = :owner AND conversation = :conversation ORDER BY id",
    )?;
    let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str() };
    let mut rows = statement.query(params)?;
    let (mut outline, mut bytes) = (Vec::new(), 0);
    let (mut place, mut last_ms) = (Place { session: 0, position: 0 }, None);
    while let Some(row) = rows.next()? {
        let at_ms: i64 = row.get(1)?;
        let paused = last_ms.is_some_and(|last: i64| at_ms.saturating_sub(last) > PAUSE_MS);
        place = Place { session: place.session + i64::from(paused), position: place.position + 1 };
        outline.push((row.get(0)?, place));
        bytes += row.get::<_, i64>(2)?.unsigned_abs();
        last_ms = Some(at_ms);
    }
    let corpus = Corpus { documents: outline.len() as u64, words: bytes / BYTES_OF_WORD, holding: Vec::new() };
    Ok((outline, corpus))
}

/// The messages that hold any of these words, those that hold the rarest first.
fn hits(tx: &Tx<'_>, id: &ConversationId, words: &[&String], limit: u32) -> Outcome<Vec<i64>> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let query = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" OR ");
    let mut statement = tx.sql.prepare_cached(
        "SELECT message.id FROM message_fts JOIN message ON message.id = message_fts.rowid
         WHERE message_fts MATCH :query AND message.owner = :owner AND message.conversation = :conversation
         ORDER BY message_fts.rank LIMIT :limit",
    )?;
    let params = named_params! {
        ":query": query, ":owner": tx.owner, ":conversation": id.as_str(), ":limit": limit,
    };
    let mut hits: Vec<i64> = statement.query_map(params, |row| row.get(0))?.collect::<Result<_, _>>()?;
    if hits.is_empty() {
        for word in words.iter().filter(|word| !word.is_ascii()) {
            hits.extend(matching(tx, id, word)?.into_iter().rev().take(limit as usize));
        }
    }
    Ok(hits)
}

/// The messages that hold one word. The index cuts scripts without spaces at punctuation only: their words are looked
/// for in the text itself.
fn matching(tx: &Tx<'_>, id: &ConversationId, word: &str) -> Outcome<Vec<i64>> {
    let mut statement = if word.is_ascii() {
        tx.sql.prepare_cached(
            "SELECT message.id FROM message_fts JOIN message ON message.id = message_fts.rowid
             WHERE message_fts MATCH :word AND message.owner = :owner AND message.conversation = :conversation
             ORDER BY message.id",
        )?
    } else {
        tx.sql.prepare_cached(
            "SELECT id FROM message WHERE owner = :owner AND conversation = :conversation AND instr(text, :word) > 0
             ORDER BY id",
        )?
    };
    let word = if word.is_ascii() { quoted(word) } else { word.to_owned() };
    let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str(), ":word": word };
    let ids = statement.query_map(params, |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(ids)
}
