//! Messages: append-only, calls and results in pairs.

use std::collections::HashMap;

use limpid_core::message::{QUOTES_A_STRANGER, unpaired};
use limpid_core::{CallId, ConversationId, Message, MessageId, RequestId, Trust, TurnId};
use rusqlite::{Row, named_params};

use super::failure::{Outcome, is_taken};
use super::row::{self, Read, calls, calls_to_json, get, stored, word};
use super::{Tx, inbound, state};
use crate::{Broken, Listed, NewMessage, StoreError, StoredMessage};

/// Appends messages, calls and results in pairs, and links accepted messages to what they became.
pub(super) fn append(
    tx: &Tx<'_>,
    id: &ConversationId,
    turn: &TurnId,
    batch: &[NewMessage],
    now_ms: i64,
) -> Outcome<Vec<MessageId>> {
    // What is stored is in pairs, so the batch alone tells whether all of it will be; ids are compared with all.
    let messages: Vec<Message> = batch.iter().map(|new| new.message.clone()).collect();
    if let Some(call) = unpaired(&messages) {
        return Err(StoreError::Unpaired { call: call.clone() }.into());
    }
    let ids = batch.iter().map(|new| append_one(tx, id, turn, new, now_ms)).collect::<Outcome<Vec<_>>>()?;
    tx.sql
        .prepare_cached(
            "UPDATE conversation SET messages = messages + :count, updated_ms = max(updated_ms, :now)
             WHERE owner = :owner AND id = :id",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":id": id.as_str(), ":count": stored(ids.len()), ":now": now_ms,
        })?;
    Ok(ids)
}

/// The messages after one, or all; see [`crate::Conversations::messages`].
pub(super) fn read(tx: &Tx<'_>, id: &ConversationId, after: Option<MessageId>) -> Outcome<Listed<StoredMessage>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT * FROM message WHERE owner = :owner AND conversation = :conversation AND id > :after ORDER BY id",
    )?;
    let after = after.map_or(0, |id| id.0);
    let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str(), ":after": after };
    let mut listed = row::list(&mut statement, params, "message", "id", message)?;
    if !listed.broken.is_empty() {
        leave_out_unpaired(&mut listed);
    }
    state::fill(tx, id, after, &mut listed)?;
    Ok(listed)
}

/// As many messages as are read on the caller's own thread: a start of the program then opens the file once less.
const SHORT: usize = 50;

/// The same, unless they are more than a few.
pub(super) fn read_short(
    tx: &Tx<'_>,
    id: &ConversationId,
    after: Option<MessageId>,
) -> Outcome<Option<Listed<StoredMessage>>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT count(*) FROM (SELECT 1 FROM message WHERE owner = :owner AND conversation = :conversation
                               AND id > :after LIMIT :most)",
    )?;
    let most = SHORT + 1;
    let params = named_params! {
        ":owner": tx.owner, ":conversation": id.as_str(), ":after": after.map_or(0, |id| id.0), ":most": most as i64,
    };
    let count: i64 = statement.query_row(params, |row| row.get(0))?;
    if count as usize > SHORT { Ok(None) } else { read(tx, id, after).map(Some) }
}

/// The person's first message.
pub(super) fn first(tx: &Tx<'_>, id: &ConversationId) -> Outcome<Option<StoredMessage>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT * FROM message WHERE owner = :owner AND conversation = :conversation AND role = 'user'
         ORDER BY id LIMIT 1",
    )?;
    let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str() };
    row::one(&mut statement, params, "message", id.as_str(), message)
}

/// The person's first messages in conversations, whose ids are a JSON list; none where one cannot be read.
pub(super) fn first_of(tx: &Tx<'_>, ids: &str) -> Outcome<HashMap<ConversationId, Option<StoredMessage>>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT message.* FROM json_each(:ids) AS wanted JOIN message ON message.id =
           (SELECT id FROM message AS begun WHERE begun.owner = :owner AND begun.conversation = wanted.value
            AND begun.role = 'user' ORDER BY begun.id LIMIT 1)",
    )?;
    let mut rows = statement.query(named_params! { ":owner": tx.owner, ":ids": ids })?;
    let mut first = HashMap::new();
    while let Some(row) = rows.next()? {
        first.insert(ConversationId::new(row.get::<_, String>("conversation")?), message(row).ok());
    }
    Ok(first)
}

/// The newest message of a conversation.
pub(super) fn last(tx: &Tx<'_>, id: &ConversationId) -> Outcome<Option<StoredMessage>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT * FROM message WHERE owner = :owner AND conversation = :conversation ORDER BY id DESC LIMIT 1",
    )?;
    let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str() };
    Ok(row::list(&mut statement, params, "message", "id", message)?.rows.pop())
}

/// The person's message that a turn of a conversation began with.
pub(super) fn request_of(tx: &Tx<'_>, id: &ConversationId, turn: &TurnId) -> Outcome<Option<StoredMessage>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT * FROM message WHERE owner = :owner AND turn = :turn AND conversation = :conversation AND role = 'user'
         ORDER BY id LIMIT 1",
    )?;
    let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str(), ":turn": turn.as_str() };
    row::one(&mut statement, params, "message", turn.as_str(), message)
}

/// The label of the least trusted message up to one; a label that cannot be read is a stranger's.
pub(super) fn trust_until(tx: &Tx<'_>, id: &ConversationId, last: MessageId) -> Outcome<Trust> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT DISTINCT iif(role = 'user' AND instr(text, :quotes) > 0, 'outside', trust) FROM message
         WHERE owner = :owner AND conversation = :conversation AND id <= :last",
    )?;
    let quotes = QUOTES_A_STRANGER;
    let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str(), ":last": last.0, ":quotes": quotes };
    let labels = statement.query_map(params, |row| row.get::<_, String>(0))?;
    labels
        .map(|label| Ok(label?.parse().unwrap_or(Trust::Outside)))
        .try_fold(Trust::Owner, |all, label: Outcome<Trust>| Ok(all.join(label?)))
}

/// An index has the messages that no stranger's text led to, so that however often a page has a tool called, it neither pushes out one
/// that the owner uses nor makes looking for these slow. Calls that cannot be read count for nothing.
const TOOL_USES: &str = "SELECT json_extract(call.value, '$.name') AS name, count(*) AS uses
    FROM (SELECT calls FROM message WHERE owner = :owner AND trust IN ('owner', 'file')
          ORDER BY id DESC LIMIT :newest) AS recent,
         json_each(iif(json_valid(recent.calls), recent.calls, '[]')) AS call
    WHERE typeof(name) = 'text'
    GROUP BY name ORDER BY name";

/// How often each tool was called in the newest messages that no stranger's text led to.
pub(super) fn tool_uses(tx: &Tx<'_>, newest: u32) -> Outcome<Vec<(String, u64)>> {
    let mut statement = tx.sql.prepare_cached(TOOL_USES)?;
    let rows = statement.query_map(named_params! { ":owner": tx.owner, ":newest": newest }, |row| {
        Ok((row.get::<_, String>("name")?, row.get::<_, i64>("uses")?.unsigned_abs()))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The same, unless the store holds more than a few messages.
pub(super) fn tool_uses_of_few(tx: &Tx<'_>, newest: u32) -> Outcome<Option<Vec<(String, u64)>>> {
    let mut statement =
        tx.sql.prepare_cached("SELECT coalesce((SELECT max(id) FROM message) - (SELECT min(id) FROM message), 0)")?;
    let apart: i64 = statement.query_row([], |row| row.get(0))?;
    if apart as usize > SHORT { Ok(None) } else { tool_uses(tx, newest).map(Some) }
}

fn append_one(tx: &Tx<'_>, id: &ConversationId, turn: &TurnId, new: &NewMessage, now_ms: i64) -> Outcome<MessageId> {
    let message = &new.message;
    tx.sql
        .prepare_cached(
            "INSERT INTO message (owner, conversation, turn, role, text, typed, trust, boundary, calls, call_id, request,
                                  at_ms)
             VALUES (:owner, :conversation, :turn, :role, :text, :typed, :trust, :boundary, :calls, :call_id, :request,
                     :now)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":conversation": id.as_str(), ":turn": turn.as_str(), ":role": message.role.as_str(),
            ":text": message.text, ":typed": new.typed, ":trust": message.trust.as_str(),
            ":boundary": message.boundary, ":calls": calls_to_json(&message.calls)?,
            ":call_id": message.call_id.as_ref().map(CallId::as_str),
            ":request": new.request.as_ref().map(RequestId::as_str), ":now": now_ms,
        })?;
    let number = MessageId(tx.sql.last_insert_rowid());
    for call in &message.calls {
        let inserted = tx
            .sql
            .prepare_cached("INSERT INTO call (owner, conversation, id, message) VALUES (?, ?, ?, ?)")?
            .execute((tx.owner, id.as_str(), call.id.as_str(), number.0));
        match inserted {
            Err(error) if is_taken(&error) => return Err(StoreError::Unpaired { call: call.id.clone() }.into()),
            inserted => inserted?,
        };
    }
    state::append(tx, id, number, &message.state)?;
    if let Some(inbound) = new.inbound {
        inbound::link(tx, id, turn, inbound, number)?;
    }
    Ok(number)
}

/// Leaves out calls and results whose counterpart was broken, so that what is left can be sent to a model.
fn leave_out_unpaired(listed: &mut Listed<StoredMessage>) {
    loop {
        let messages: Vec<Message> = listed.rows.iter().map(|stored| stored.message.clone()).collect();
        let Some(call) = unpaired(&messages) else { return };
        let concerned = |stored: &StoredMessage| {
            stored.message.call_id.as_ref() == Some(call) || stored.message.calls.iter().any(|one| one.id == *call)
        };
        let (out, kept) = listed.rows.drain(..).partition(concerned);
        listed.rows = kept;
        let out: Vec<StoredMessage> = out;
        listed.broken.extend(out.into_iter().map(|stored| Broken {
            table: "message",
            id: stored.id.to_string(),
            reason: format!("call {call} lost its other half"),
        }));
    }
}

/// Reads a message's row, which is all of it but its state.
pub(super) fn message(row: &Row<'_>) -> Read<StoredMessage> {
    Ok(StoredMessage {
        id: MessageId(get(row, "id")?),
        turn: TurnId::new(get::<String>(row, "turn")?),
        message: Message {
            role: word(row, "role")?,
            text: get(row, "text")?,
            trust: word(row, "trust")?,
            calls: calls(row, "calls")?,
            // It has a table of its own.
            state: Vec::new(),
            call_id: get::<Option<String>>(row, "call_id")?.map(CallId::new),
            boundary: get(row, "boundary")?,
        },
        typed: get(row, "typed")?,
        request: get::<Option<String>>(row, "request")?.map(RequestId::new),
        at_ms: get(row, "at_ms")?,
    })
}

/// Whether a result of this tool in a conversation is this one, in Limpid's own words.
pub(super) fn has_own_result(tx: &Tx<'_>, id: &ConversationId, tool: &str, result: &str) -> Outcome<bool> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT r.call_id, m.calls FROM message r
         JOIN call c ON c.owner = r.owner AND c.conversation = r.conversation AND c.id = r.call_id
         JOIN message m ON m.id = c.message
         WHERE r.owner = :owner AND r.conversation = :conversation AND r.role = 'tool'
           AND r.trust = :ours AND r.text = :result",
    )?;
    let ours = Trust::Owner.as_str();
    let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str(), ":ours": ours, ":result": result };
    let mut rows = statement.query(params)?;
    while let Some(row) = rows.next()? {
        let call: String = row.get("call_id")?;
        let calls = calls(row, "calls").unwrap_or_default();
        if calls.iter().any(|one| one.name == tool && one.id.as_str() == call) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SqliteOptions, SqliteStore};

    // SEC-093 SEC-102
    #[test]
    fn what_the_owner_uses_is_found_however_many_messages_strangers_led_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("limpid.db");
        drop(SqliteStore::open(&path, SqliteOptions::default()).unwrap());
        let sql = rusqlite::Connection::open(&path).unwrap();
        let mut plan = sql.prepare(&format!("EXPLAIN QUERY PLAN {TOOL_USES}")).unwrap();
        let params = named_params! { ":owner": "o", ":newest": 5 };
        let steps = plan.query_map(params, |row| row.get::<_, String>("detail")).unwrap();
        let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
        assert!(steps.contains(&"SEARCH message USING INDEX message_of_the_owner (owner=?)".to_owned()), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("ORDER BY")), "they are in their order: {steps:?}");
    }
}
