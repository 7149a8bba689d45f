//! What providers want back with messages: of a conversation's messages, and of those of requests.

use limpid_core::state::Span;
use limpid_core::{ConversationId, MessageId, ProviderState};
use rusqlite::{Row, named_params};

use super::failure::Outcome;
use super::row::{self, Read, Unreadable, get, hex, sha256, stored};
use super::{Tx, chain};
use crate::{Broken, Listed, StoreError, StoredMessage};

/// Appends the state of a message.
pub(super) fn append(
    tx: &Tx<'_>,
    conversation: &ConversationId,
    message: MessageId,
    state: &[ProviderState],
) -> Outcome<()> {
    for (position, one) in state.iter().enumerate() {
        let json = chain::insert_text(tx, &one.json)?;
        tx.sql
            .prepare_cached(
                "INSERT INTO message_state (owner, conversation, message, position, protocol, model, json,
                                            text_from, text_to, calls_from, calls_to, after)
                 VALUES (:owner, :conversation, :message, :position, :protocol, :model, :json,
                         :text_from, :text_to, :calls_from, :calls_to, :after)",
            )?
            .execute(named_params! {
                ":owner": tx.owner, ":conversation": conversation.as_str(), ":message": message.0,
                ":position": stored(position), ":protocol": one.protocol, ":model": one.model, ":json": json,
                ":text_from": stored(one.span.text.start), ":text_to": stored(one.span.text.end),
                ":calls_from": stored(one.span.calls.start), ":calls_to": stored(one.span.calls.end),
                ":after": one.after,
            })?;
    }
    Ok(())
}

/// Gives messages of a conversation their state. State is whole or nothing: what cannot be read takes the message's
/// other state with it.
pub(super) fn fill(
    tx: &Tx<'_>,
    conversation: &ConversationId,
    after: i64,
    listed: &mut Listed<StoredMessage>,
) -> Outcome<()> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT s.*, t.body FROM message_state s LEFT JOIN text t ON t.owner = s.owner AND t.hash = s.json
         WHERE s.owner = :owner AND s.conversation = :conversation AND s.message > :after
         ORDER BY s.message, s.position",
    )?;
    let params = named_params! { ":owner": tx.owner, ":conversation": conversation.as_str(), ":after": after };
    let read = row::list(&mut statement, params, "message_state", "message", |row| {
        Ok((MessageId(get(row, "message")?), state(row)?))
    })?;
    let is_broken = |id: MessageId| read.broken.iter().any(|broken| broken.id == id.to_string());
    let mut messages = listed.rows.iter_mut().peekable();
    for (id, one) in read.rows {
        while messages.next_if(|stored| stored.id < id).is_some() {}
        if let Some(stored) = messages.peek_mut().filter(|stored| stored.id == id && !is_broken(id)) {
            stored.message.state.push(one);
        }
    }
    listed.broken.extend(read.broken);
    Ok(())
}

/// Stores the state of a message of a request.
pub(super) fn insert(tx: &Tx<'_>, message: i64, state: &[ProviderState]) -> Outcome<()> {
    for (position, one) in state.iter().enumerate() {
        let json = chain::insert_text(tx, &one.json)?;
        tx.sql
            .prepare_cached(
                "INSERT INTO request_state (message, position, owner, protocol, model, json,
                                            text_from, text_to, calls_from, calls_to, after)
                 VALUES (:message, :position, :owner, :protocol, :model, :json,
                         :text_from, :text_to, :calls_from, :calls_to, :after)",
            )?
            .execute(named_params! {
                ":message": message, ":position": stored(position), ":owner": tx.owner,
                ":protocol": one.protocol, ":model": one.model, ":json": json,
                ":text_from": stored(one.span.text.start), ":text_to": stored(one.span.text.end),
                ":calls_from": stored(one.span.calls.start), ":calls_to": stored(one.span.calls.end),
                ":after": one.after,
            })?;
    }
    Ok(())
}

/// The state of a message of a request.
pub(super) fn read(tx: &Tx<'_>, message: i64) -> Outcome<Vec<ProviderState>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT s.*, t.body FROM request_state s LEFT JOIN text t ON t.owner = s.owner AND t.hash = s.json
         WHERE s.message = :message AND s.owner = :owner ORDER BY s.position",
    )?;
    let params = named_params! { ":message": message, ":owner": tx.owner };
    let listed = row::list(&mut statement, params, "request_state", "position", state)?;
    match listed.broken.into_iter().next() {
        None => Ok(listed.rows),
        Some(Broken { id, reason, .. }) => {
            let reason = format!("state {id}: {reason}");
            Err(StoreError::Broken { what: "message of a request", id: message.to_string(), reason }.into())
        }
    }
}

fn state(row: &Row<'_>) -> Read<ProviderState> {
    let hash: chain::Key = get(row, "json")?;
    let json = get::<Option<String>>(row, "body")?
        .filter(|json| sha256(json) == hash)
        .ok_or_else(|| Unreadable(format!("the provider state {} is not what was stored", hex(&hash))))?;
    let at = |column: &str| row::count(row, column).map(|at| usize::try_from(at).unwrap_or(usize::MAX));
    Ok(ProviderState {
        protocol: get(row, "protocol")?,
        model: get(row, "model")?,
        json,
        span: Span { text: at("text_from")?..at("text_to")?, calls: at("calls_from")?..at("calls_to")? },
        after: get(row, "after")?,
    })
}
