//! Conversations, their messages and what was accepted for them.

use async_trait::async_trait;
use limpid_core::{CallId, ConversationId, Message, MessageId, RequestId, TurnId, message::unpaired};
use rusqlite::{Row, named_params};

use super::failure::{Outcome, is_orphan, is_taken};
use super::row::{self, Read, calls, calls_to_json, count, get, parsed, stored, word};
use super::{SqliteStore, Tx, leases};
use crate::{
    Accepted, Acquired, Broken, Conversation, ConversationChange, ConversationKind, Conversations, Fence, Inbound,
    InboundId, Lease, Listed, NewConversation, NewInbound, NewMessage, StoreError, StoredMessage,
};

#[async_trait]
impl Conversations for SqliteStore {
    async fn create_conversation(&self, new: NewConversation) -> Result<Conversation, StoreError> {
        self.write(move |tx| create(tx, &new)).await
    }

    async fn conversation(&self, id: &ConversationId) -> Result<Option<Conversation>, StoreError> {
        let id = id.clone();
        self.read(move |tx| find(tx, &id)).await
    }

    async fn last_conversation(&self, kind: ConversationKind) -> Result<Option<Conversation>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM conversation WHERE owner = :owner AND kind = :kind
                 ORDER BY updated_ms DESC, seq DESC LIMIT 1",
            )?;
            let params = named_params! { ":owner": tx.owner, ":kind": kind.as_str() };
            row::one(&mut statement, params, "conversation", "last", conversation)
        })
        .await
    }

    async fn conversations(&self, limit: u32) -> Result<Listed<Conversation>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM conversation WHERE owner = :owner ORDER BY updated_ms DESC, seq DESC LIMIT :limit",
            )?;
            let params = named_params! { ":owner": tx.owner, ":limit": limit };
            row::list(&mut statement, params, "conversation", "id", conversation)
        })
        .await
    }

    async fn change_conversation(
        &self,
        id: &ConversationId,
        changes: Vec<ConversationChange>,
        now_ms: i64,
    ) -> Result<Conversation, StoreError> {
        let id = id.clone();
        self.write(move |tx| change(tx, &id, &changes, now_ms)).await
    }

    async fn messages(
        &self,
        id: &ConversationId,
        after: Option<MessageId>,
    ) -> Result<Listed<StoredMessage>, StoreError> {
        let id = id.clone();
        self.read(move |tx| messages(tx, &id, after)).await
    }

    async fn accept(&self, new: NewInbound) -> Result<Accepted, StoreError> {
        self.write(move |tx| accept(tx, &new)).await
    }

    async fn waiting(&self, id: &ConversationId) -> Result<Listed<Inbound>, StoreError> {
        let id = id.clone();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM inbound WHERE owner = :owner AND conversation = :conversation AND turn IS NULL
                 ORDER BY id",
            )?;
            let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str() };
            row::list(&mut statement, params, "inbound", "id", inbound)
        })
        .await
    }

    async fn acquire(
        &self,
        id: &ConversationId,
        holder: &str,
        now_ms: i64,
        ttl_ms: i64,
    ) -> Result<Acquired, StoreError> {
        let (id, holder) = (id.clone(), holder.to_owned());
        self.write(move |tx| leases::acquire(tx, &id, &holder, now_ms, ttl_ms)).await
    }

    async fn renew(&self, lease: &Lease, now_ms: i64, ttl_ms: i64) -> Result<Lease, StoreError> {
        let lease = lease.clone();
        self.write(move |tx| leases::renew(tx, lease, now_ms, ttl_ms)).await
    }

    async fn release(&self, id: &ConversationId, fence: Fence) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |tx| leases::release(tx, &id, fence)).await
    }
}

/// Appends messages, calls and results in pairs (ARC-012), and links accepted messages to what they became.
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

/// One conversation.
pub(super) fn find(tx: &Tx<'_>, id: &ConversationId) -> Outcome<Option<Conversation>> {
    let mut statement = tx.sql.prepare_cached("SELECT * FROM conversation WHERE owner = :owner AND id = :id")?;
    let params = named_params! { ":owner": tx.owner, ":id": id.as_str() };
    row::one(&mut statement, params, "conversation", id.as_str(), conversation)
}

/// The error for a conversation that is not there.
pub(super) fn missing(id: &ConversationId) -> StoreError {
    StoreError::NotFound { what: "conversation", id: id.to_string() }
}

fn create(tx: &Tx<'_>, new: &NewConversation) -> Outcome<Conversation> {
    let inserted = tx
        .sql
        .prepare_cached(
            "INSERT INTO conversation (owner, id, kind, title, profile, mode, model, created_ms, updated_ms)
             VALUES (:owner, :id, :kind, :title, :profile, :mode, :model, :now, :now)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":id": new.id.as_str(), ":kind": new.kind.as_str(), ":title": new.title,
            ":profile": new.profile, ":mode": new.mode, ":model": new.model, ":now": new.now_ms,
        });
    match inserted {
        Err(error) if is_taken(&error) => {
            Err(StoreError::Exists { what: "conversation", id: new.id.to_string() }.into())
        }
        Err(error) => Err(error.into()),
        Ok(_) => find(tx, &new.id)?.ok_or_else(|| missing(&new.id).into()),
    }
}

fn change(tx: &Tx<'_>, id: &ConversationId, changes: &[ConversationChange], now_ms: i64) -> Outcome<Conversation> {
    for change in changes {
        let (column, value) = match change {
            ConversationChange::Title(title) => ("title", Some(title)),
            ConversationChange::Profile(profile) => ("profile", Some(profile)),
            ConversationChange::Mode(mode) => ("mode", mode.as_ref()),
            ConversationChange::Model(model) => ("model", model.as_ref()),
            ConversationChange::Session(session) => ("session", session.as_ref()),
        };
        let sql = format!(
            "UPDATE conversation SET {column} = :value, updated_ms = max(updated_ms, :now)
             WHERE owner = :owner AND id = :id"
        );
        tx.sql
            .prepare_cached(&sql)?
            .execute(named_params! { ":owner": tx.owner, ":id": id.as_str(), ":value": value, ":now": now_ms })?;
    }
    find(tx, id)?.ok_or_else(|| missing(id).into())
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
    if let Some(inbound) = new.inbound {
        link(tx, id, turn, inbound, number)?;
    }
    Ok(number)
}

/// Says which message of the conversation an accepted one became; takes it for the turn where no turn had it.
fn link(tx: &Tx<'_>, id: &ConversationId, turn: &TurnId, inbound: InboundId, message: MessageId) -> Outcome<()> {
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

fn messages(tx: &Tx<'_>, id: &ConversationId, after: Option<MessageId>) -> Outcome<Listed<StoredMessage>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT * FROM message WHERE owner = :owner AND conversation = :conversation AND id > :after ORDER BY id",
    )?;
    let after = after.map_or(0, |id| id.0);
    let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str(), ":after": after };
    let mut listed = row::list(&mut statement, params, "message", "id", message)?;
    if !listed.broken.is_empty() {
        leave_out_unpaired(&mut listed);
    }
    Ok(listed)
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

fn accept(tx: &Tx<'_>, new: &NewInbound) -> Outcome<Accepted> {
    if let Some(key) = &new.key {
        let mut known = tx.sql.prepare_cached("SELECT * FROM inbound WHERE owner = :owner AND key = :key")?;
        let params = named_params! { ":owner": tx.owner, ":key": key };
        if let Some(inbound) = row::one(&mut known, params, "accepted message", key, inbound)? {
            return Ok(Accepted { inbound, fresh: false });
        }
    }
    let inserted = tx
        .sql
        .prepare_cached(
            "INSERT INTO inbound (owner, conversation, key, text, trust, accepted_ms)
             VALUES (:owner, :conversation, :key, :text, :trust, :now)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":conversation": new.conversation.as_str(), ":key": new.key, ":text": new.text,
            ":trust": new.trust.as_str(), ":now": new.now_ms,
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
        turn: None,
        message: None,
        accepted_ms: new.now_ms,
    };
    Ok(Accepted { inbound, fresh: true })
}

fn conversation(row: &Row<'_>) -> Read<Conversation> {
    Ok(Conversation {
        id: ConversationId::new(get::<String>(row, "id")?),
        kind: parsed(row, "kind", ConversationKind::parse)?,
        title: get(row, "title")?,
        profile: get(row, "profile")?,
        mode: get(row, "mode")?,
        model: get(row, "model")?,
        session: get(row, "session")?,
        messages: count(row, "messages")?,
        created_ms: get(row, "created_ms")?,
        updated_ms: get(row, "updated_ms")?,
    })
}

fn message(row: &Row<'_>) -> Read<StoredMessage> {
    Ok(StoredMessage {
        id: MessageId(get(row, "id")?),
        turn: TurnId::new(get::<String>(row, "turn")?),
        message: Message {
            role: word(row, "role")?,
            text: get(row, "text")?,
            trust: word(row, "trust")?,
            calls: calls(row, "calls")?,
            call_id: get::<Option<String>>(row, "call_id")?.map(CallId::new),
            boundary: get(row, "boundary")?,
        },
        typed: get(row, "typed")?,
        request: get::<Option<String>>(row, "request")?.map(RequestId::new),
        at_ms: get(row, "at_ms")?,
    })
}

fn inbound(row: &Row<'_>) -> Read<Inbound> {
    Ok(Inbound {
        id: InboundId(get(row, "id")?),
        conversation: ConversationId::new(get::<String>(row, "conversation")?),
        key: get(row, "key")?,
        text: get(row, "text")?,
        trust: word(row, "trust")?,
        turn: get::<Option<String>>(row, "turn")?.map(TurnId::new),
        message: get::<Option<i64>>(row, "message")?.map(MessageId),
        accepted_ms: get(row, "accepted_ms")?,
    })
}
