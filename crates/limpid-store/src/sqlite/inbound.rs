//! Messages that were accepted: kept from the moment they arrive, taken by one turn.

use limpid_core::{AgentId, ConversationId, MessageId, TurnId};
use rusqlite::{OptionalExtension as _, Row, named_params};

use super::Tx;
use super::conversation_row::missing;
use super::failure::{Outcome, is_orphan};
use super::row::{self, Read, get, word};
use crate::{Accepted, Base, Inbound, InboundId, NewInbound, StoreError, TypedOrCalled};

/// Keeps what somebody says in a conversation, with the time at which something was said there last, or finds it when it was delivered
/// before.
pub(super) fn accept_said(tx: &Tx<'_>, new: &NewInbound) -> Outcome<Accepted> {
    let accepted = accept(tx, new)?;
    if accepted.fresh {
        set_said_ms(tx, new)?;
    }
    Ok(accepted)
}

/// Where the owner's next line goes follows what was said, not what agents came back with.
fn set_said_ms(tx: &Tx<'_>, new: &NewInbound) -> Outcome<()> {
    tx.sql
        .prepare_cached("UPDATE conversation SET said_ms = max(said_ms, ?) WHERE owner = ? AND id = ?")?
        .execute((new.now_ms, tx.owner, new.conversation.as_str()))?;
    Ok(())
}

/// Keeps a message that arrived, or finds it when it was delivered before.
pub(super) fn accept(tx: &Tx<'_>, new: &NewInbound) -> Outcome<Accepted> {
    match delivered_before(tx, new)? {
        Some(inbound) => Ok(Accepted { inbound, fresh: false }),
        None => keep(tx, new),
    }
}

/// The message of its conversation that has the key of this one.
fn delivered_before(tx: &Tx<'_>, new: &NewInbound) -> Outcome<Option<Inbound>> {
    let Some(key) = &new.key else { return Ok(None) };
    let mut known = tx
        .sql
        .prepare_cached("SELECT * FROM inbound WHERE owner = :owner AND key = :key AND conversation = :conversation")?;
    let params = named_params! { ":owner": tx.owner, ":key": key, ":conversation": new.conversation.as_str() };
    row::one(&mut known, params, "accepted message", key, read)
}

/// The newest conversation that a message of this key and text began, with nothing but what was handed in before it.
pub(super) fn begun_by(
    tx: &Tx<'_>,
    (key, since_ms): (&str, i64),
    text: &str,
    handed_in: Option<&str>,
) -> Outcome<Option<ConversationId>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT conversation FROM inbound AS began
         WHERE owner = :owner AND key = :key AND text = :text AND accepted_ms >= :since
           AND (SELECT text FROM inbound WHERE owner = :owner AND id = began.handed_in) IS :handed_in
           AND NOT EXISTS (SELECT 1 FROM inbound AS earlier
                           WHERE earlier.owner = :owner AND earlier.conversation = began.conversation
                             AND earlier.id < began.id AND earlier.id IS NOT began.handed_in)
         ORDER BY id DESC LIMIT 1",
    )?;
    let params =
        named_params! { ":owner": tx.owner, ":key": key, ":text": text, ":handed_in": handed_in, ":since": since_ms };
    let found = statement.query_row(params, |row| row.get::<_, String>(0)).optional()?;
    Ok(found.map(ConversationId::new))
}

fn keep(tx: &Tx<'_>, new: &NewInbound) -> Outcome<Accepted> {
    let inserted = tx
        .sql
        .prepare_cached(
            "INSERT INTO inbound (owner, conversation, key, text, trust, typed, base, accepted_ms)
             VALUES (:owner, :conversation, :key, :text, :trust, :typed, :base, :now)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":conversation": new.conversation.as_str(), ":key": new.key, ":text": new.text,
            ":trust": new.trust.as_str(), ":typed": new.typed, ":base": base_text(&new.base),
            ":now": new.now_ms,
        });
    match inserted {
        Err(error) if is_orphan(&error) => return Err(missing(&new.conversation).into()),
        inserted => inserted?,
    };
    let inbound = Inbound {
        id: InboundId(tx.sql.last_insert_rowid()),
        conversation: new.conversation.clone(),
        key: new.key.clone(),
        text: new.text.clone(),
        trust: new.trust,
        base: new.base.clone(),
        agent: None,
        turn: None,
        message: None,
        accepted_ms: new.now_ms,
    };
    Ok(Accepted { inbound, fresh: true })
}

/// Keeps what somebody says and what they handed in with it, unless it was delivered before.
pub(super) fn accept_said_with(
    tx: &Tx<'_>,
    handed_in: &NewInbound,
    new: &NewInbound,
) -> Outcome<(Option<Accepted>, Accepted)> {
    if let Some(inbound) = delivered_before(tx, new)? {
        return Ok((None, Accepted { inbound, fresh: false }));
    }
    let (before, accepted) = (keep(tx, handed_in)?, keep(tx, new)?);
    set_said_ms(tx, new)?;
    let (before_id, id) = (before.inbound.id.0, accepted.inbound.id.0);
    tx.sql.prepare_cached("UPDATE inbound SET handed_in = ? WHERE id = ?")?.execute((before_id, id))?;
    Ok((Some(before), accepted))
}

/// What the owner typed in a conversation, oldest first.
pub(super) fn typed(tx: &Tx<'_>, id: &ConversationId) -> Outcome<Vec<String>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT text FROM inbound WHERE owner = :owner AND conversation = :conversation AND typed = 1 ORDER BY id",
    )?;
    let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str() };
    let texts = statement.query_map(params, |row| row.get(0))?;
    Ok(texts.collect::<Result<_, _>>()?)
}

/// What the owner typed and has not taken out again, and what the model called, in the conversation's order; with the message that each is.
pub(super) fn typed_and_called(tx: &Tx<'_>, id: &ConversationId) -> Outcome<Vec<(MessageId, TypedOrCalled)>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT coalesce(message, 9223372036854775807) AS at, id, text, NULL AS calls, NULL AS in_turn FROM inbound
         WHERE owner = :owner AND conversation = :conversation AND typed = 1
         AND NOT EXISTS (SELECT 1 FROM turn WHERE turn.owner = inbound.owner AND turn.conversation = inbound.conversation
                         AND turn.id = inbound.turn AND turn.hidden_ms IS NOT NULL)
         UNION ALL
         SELECT id, 0, NULL, calls, turn FROM message
         WHERE owner = :owner AND conversation = :conversation AND calls IS NOT NULL
         ORDER BY at, 2",
    )?;
    let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str() };
    let said = statement.query_map(params, |row| {
        let said = match row.get::<_, Option<String>>("text")? {
            Some(text) => TypedOrCalled::Typed(text),
            None => {
                let turn = TurnId::new(row.get::<_, String>("in_turn")?);
                TypedOrCalled::Called(turn, row::calls(row, "calls").unwrap_or_default())
            }
        };
        Ok((MessageId(row.get("at")?), said))
    })?;
    Ok(said.collect::<Result<_, _>>()?)
}

/// Gives accepted messages of a conversation to a turn.
pub(super) fn take(tx: &Tx<'_>, id: &ConversationId, turn: &TurnId, taken: &[InboundId]) -> Outcome<()> {
    for inbound in taken {
        let changed = tx
            .sql
            .prepare_cached(
                "UPDATE inbound SET turn = :turn
                 WHERE owner = :owner AND conversation = :conversation AND id = :id AND turn IS NULL",
            )?
            .execute(named_params! {
                ":owner": tx.owner, ":conversation": id.as_str(), ":id": inbound.0, ":turn": turn.as_str(),
            })?;
        if changed == 0 {
            let reason = format!("accepted message {} does not wait for a turn of conversation {id}", inbound.0);
            return Err(StoreError::Invalid(reason).into());
        }
    }
    Ok(())
}

/// Says which message of the conversation an accepted one became; takes it for the turn where no turn had it.
pub(super) fn link(
    tx: &Tx<'_>,
    id: &ConversationId,
    turn: &TurnId,
    inbound: InboundId,
    message: MessageId,
) -> Outcome<()> {
    let changed = tx
        .sql
        .prepare_cached(
            "UPDATE inbound SET turn = :turn, message = :message
             WHERE owner = :owner AND conversation = :conversation AND id = :id AND message IS NULL
               AND (turn IS NULL OR turn = :turn)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":conversation": id.as_str(), ":id": inbound.0, ":turn": turn.as_str(),
            ":message": message.0,
        })?;
    if changed == 0 {
        let reason =
            format!("accepted message {} is not this turn's, or stands in the conversation already", inbound.0);
        return Err(StoreError::Invalid(reason).into());
    }
    Ok(())
}

/// A base as its column has it.
fn base_text(base: &Base) -> Option<&str> {
    match base {
        Base::Anywhere => None,
        Base::Workspace => Some(""),
        Base::Folder(folder) => Some(folder),
    }
}

/// Reads an accepted message's row.
pub(super) fn read(row: &Row<'_>) -> Read<Inbound> {
    Ok(Inbound {
        id: InboundId(get(row, "id")?),
        conversation: ConversationId::new(get::<String>(row, "conversation")?),
        key: get(row, "key")?,
        text: get(row, "text")?,
        trust: word(row, "trust")?,
        base: match get::<Option<String>>(row, "base")? {
            None => Base::Anywhere,
            Some(folder) => Some(folder).filter(|folder| !folder.is_empty()).into(),
        },
        agent: get::<Option<i64>>(row, "agent")?.map(AgentId),
        turn: get::<Option<String>>(row, "turn")?.map(TurnId::new),
        message: get::<Option<i64>>(row, "message")?.map(MessageId),
        accepted_ms: get(row, "accepted_ms")?,
    })
}
