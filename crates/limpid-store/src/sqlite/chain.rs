//! Messages of requests, as a chain from the last to the first.
//!
//! Requests of one conversation begin alike, so each message is stored once with a link to its predecessor, and a
//! request only names its last one. A conversation of a thousand turns then takes a thousand rows, not a million.

use limpid_core::{CallId, RequestId};
use rusqlite::{OptionalExtension, Row, named_params};
use sha2::{Digest, Sha256};

use super::failure::Outcome;
use super::row::{self, Read, Unreadable, calls, calls_to_json, count_or_none, get, hex, sha256, stored, word};
use super::{Tx, state};
use crate::{RequestMessage, RequestPart, StoreError};

/// A message's key: the same for the same message with the same parts after the same predecessors.
pub(super) type Key = [u8; 32];

/// The keys of messages, in their order.
pub(super) fn keys(messages: &[RequestMessage]) -> Outcome<Vec<Key>> {
    let mut before = Key::default();
    messages
        .iter()
        .map(|message| {
            before = key(&before, message)?;
            Ok(before)
        })
        .collect()
}

/// Stores the messages that are not stored yet, and returns the row of the last one.
pub(super) fn insert(tx: &Tx<'_>, messages: &[RequestMessage], keys: &[Key]) -> Outcome<Option<i64>> {
    // A message that is stored has its predecessors stored, so the search ends at the first that is found.
    let mut known = 0;
    let mut tip = None;
    for (at, key) in keys.iter().enumerate().rev() {
        let row: Option<i64> = tx
            .sql
            .prepare_cached("SELECT id FROM request_message WHERE owner = ? AND key = ?")?
            .query_row((tx.owner, key), |row| row.get(0))
            .optional()?;
        if row.is_some() {
            known = at + 1;
            tip = row;
            break;
        }
    }
    for (at, (message, key)) in messages.iter().zip(keys).enumerate().skip(known) {
        tip = Some(insert_message(tx, message, key, tip, at)?);
    }
    Ok(tip)
}

/// The messages of a chain from where it parts with `keys`, and how many it has in common with them.
pub(super) fn part_ways(tx: &Tx<'_>, tip: Option<i64>, keys: &[Key]) -> Outcome<(usize, Vec<RequestMessage>)> {
    let mut rows = Vec::new();
    let mut next = tip;
    let mut common = 0;
    while let Some(id) = next {
        let (key, parent, position): (Key, Option<i64>, i64) = tx
            .sql
            .prepare_cached("SELECT key, parent, position FROM request_message WHERE owner = ? AND id = ?")?
            .query_row((tx.owner, id), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let position = usize::try_from(position).unwrap_or(usize::MAX);
        if keys.get(position) == Some(&key) {
            common = position + 1;
            break;
        }
        rows.push(id);
        next = parent;
    }
    let apart = rows.into_iter().rev().map(|id| read_message(tx, id)).collect::<Outcome<_>>()?;
    Ok((common, apart))
}

/// The messages of a request, byte for byte.
pub(super) fn read(tx: &Tx<'_>, request: &RequestId, tip: Option<i64>) -> Outcome<Vec<RequestMessage>> {
    let mut statement = tx.sql.prepare_cached(
        "WITH RECURSIVE chain (id, parent, position) AS (
           SELECT id, parent, position FROM request_message WHERE owner = :owner AND id = :tip
           UNION ALL
           SELECT m.id, m.parent, m.position FROM request_message m JOIN chain ON m.id = chain.parent
         )
         SELECT id, position FROM chain ORDER BY position",
    )?;
    let rows = statement
        .query_map(named_params! { ":owner": tx.owner, ":tip": tip }, |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<Vec<(i64, i64)>, _>>()?;
    if let Some(at) = rows.iter().zip(0..).position(|((_, position), expected)| *position != expected) {
        let reason = format!("its message {} is gone", at + 1);
        return Err(StoreError::Broken { what: "request", id: request.to_string(), reason }.into());
    }
    rows.into_iter().map(|(id, _)| read_message(tx, id)).collect()
}

/// Stores a text if it is not stored yet, and returns its hash.
pub(super) fn insert_text(tx: &Tx<'_>, text: &str) -> Outcome<[u8; 32]> {
    let hash = sha256(text);
    tx.sql.prepare_cached("INSERT OR IGNORE INTO text (owner, hash, body, bytes) VALUES (?, ?, ?, ?)")?.execute((
        tx.owner,
        hash,
        text,
        stored(text.len()),
    ))?;
    Ok(hash)
}

fn key(before: &Key, message: &RequestMessage) -> Outcome<Key> {
    let mut hash = Sha256::new();
    let mut field = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    field(before);
    field(message.role.as_str().as_bytes());
    field(calls_to_json(&message.calls)?.unwrap_or_default().as_bytes());
    field(message.call_id.as_ref().map_or("", CallId::as_str).as_bytes());
    let (leads, tail) = joins(message)?;
    for (part, lead) in message.parts.iter().zip(leads) {
        // Not the tokens: an estimate that was calibrated since does not make another message.
        for text in [lead, &part.section, &part.origin, &part.stability, part.trust.as_str(), &part.text] {
            field(text.as_bytes());
        }
    }
    field(tail.as_bytes());
    for one in &message.state {
        let span = format!("{:?}", one.span);
        for text in [&one.protocol, &one.model, &one.json, &span, one.after.as_ref().unwrap_or(&String::new())] {
            field(text.as_bytes());
        }
    }
    Ok(hash.finalize().into())
}

fn insert_message(
    tx: &Tx<'_>,
    message: &RequestMessage,
    key: &Key,
    parent: Option<i64>,
    position: usize,
) -> Outcome<i64> {
    let (leads, tail) = joins(message)?;
    tx.sql
        .prepare_cached(
            "INSERT INTO request_message (owner, key, parent, position, role, calls, call_id, tail)
             VALUES (:owner, :key, :parent, :position, :role, :calls, :call_id, :tail)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":key": key, ":parent": parent, ":position": stored(position),
            ":role": message.role.as_str(), ":calls": calls_to_json(&message.calls)?,
            ":call_id": message.call_id.as_ref().map(CallId::as_str), ":tail": tail,
        })?;
    let id = tx.sql.last_insert_rowid();
    for (at, (part, lead)) in message.parts.iter().zip(leads).enumerate() {
        let text = insert_text(tx, &part.text)?;
        tx.sql
            .prepare_cached(
                "INSERT INTO request_part (message, position, owner, section, origin, stability, trust, lead, text,
                                           tokens)
                 VALUES (:message, :position, :owner, :section, :origin, :stability, :trust, :lead, :text, :tokens)",
            )?
            .execute(named_params! {
                ":message": id, ":position": stored(at), ":owner": tx.owner, ":section": part.section,
                ":origin": part.origin, ":stability": part.stability, ":trust": part.trust.as_str(), ":lead": lead,
                ":text": text, ":tokens": part.tokens.map(stored),
            })?;
    }
    state::insert(tx, id, &message.state)?;
    Ok(id)
}

/// What stands before each part of a message, and after the last.
fn joins(message: &RequestMessage) -> Outcome<(Vec<&str>, &str)> {
    let mut rest = message.text.as_str();
    let mut leads = Vec::with_capacity(message.parts.len());
    for part in &message.parts {
        let Some((lead, after)) = rest.split_once(part.text.as_str()) else {
            let reason =
                format!("the part {} of a {} message is not in the text that is sent", part.section, message.role);
            return Err(StoreError::Invalid(reason).into());
        };
        leads.push(lead);
        rest = after;
    }
    Ok((leads, rest))
}

fn read_message(tx: &Tx<'_>, id: i64) -> Outcome<RequestMessage> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT p.*, t.body FROM request_part p LEFT JOIN text t ON t.owner = p.owner AND t.hash = p.text
         WHERE p.message = :id AND p.owner = :owner ORDER BY p.position",
    )?;
    let params = named_params! { ":owner": tx.owner, ":id": id };
    let parts = row::list(&mut statement, params, "request_part", "position", part)?;
    if let Some(broken) = parts.broken.into_iter().next() {
        let reason = format!("part {}: {}", broken.id, broken.reason);
        return Err(StoreError::Broken { what: "message of a request", id: id.to_string(), reason }.into());
    }
    let mut text = String::new();
    let mut read_parts = Vec::with_capacity(parts.rows.len());
    for (lead, part) in parts.rows {
        text.push_str(&lead);
        text.push_str(&part.text);
        read_parts.push(part);
    }
    let state = state::read(tx, id)?;
    let mut statement = tx.sql.prepare_cached("SELECT * FROM request_message WHERE owner = :owner AND id = :id")?;
    let message = row::one(&mut statement, params, "message of a request", &id.to_string(), |row| {
        Ok(RequestMessage {
            role: word(row, "role")?,
            text: text.clone() + &get::<String>(row, "tail")?,
            calls: calls(row, "calls")?,
            state: state.clone(),
            call_id: get::<Option<String>>(row, "call_id")?.map(CallId::new),
            parts: read_parts.clone(),
        })
    })?;
    message.ok_or_else(|| StoreError::NotFound { what: "message of a request", id: id.to_string() }.into())
}

/// A part with what joins it to the one before.
fn part(row: &Row<'_>) -> Read<(String, RequestPart)> {
    let hash: Key = get(row, "text")?;
    let Some(text) = get::<Option<String>>(row, "body")? else {
        return Err(Unreadable(format!("its text {} is gone", hex(&hash))));
    };
    if sha256(&text) != hash {
        return Err(Unreadable(format!("its text {} is not what was sent", hex(&hash))));
    }
    let part = RequestPart {
        section: get(row, "section")?,
        origin: get(row, "origin")?,
        stability: get(row, "stability")?,
        trust: word(row, "trust")?,
        text,
        tokens: count_or_none(row, "tokens")?,
    };
    Ok((get(row, "lead")?, part))
}
