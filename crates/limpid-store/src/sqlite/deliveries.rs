//! Messages that nobody waits for.

use std::collections::HashMap;

use async_trait::async_trait;
use limpid_core::{ConversationId, TurnId};
use rusqlite::{Row, named_params};

use super::conversation_row::{check_no_strangers, missing};
use super::failure::{Outcome, is_orphan};
use super::row::{self, Read, get, parsed, word};
use super::{SqliteStore, Tx, leases, messages, pushes};
use crate::{
    Deliveries, Delivery, DeliveryId, DeliveryOrigin, DraftId, Lease, Listed, NewDelivery, NewMessage,
    PendingNotifications, Push, PushOutcome, StoreError, TurnOutcome,
};

/// The path of a turn that is a delivery.
const PATH: &str = "delivery";

#[async_trait]
impl Deliveries for SqliteStore {
    async fn enqueue(&self, new: NewDelivery) -> Result<bool, StoreError> {
        self.write(move |tx| insert_delivery(tx, &new)).await
    }

    async fn pending_deliveries(&self, conversation: Option<&ConversationId>) -> Result<Listed<Delivery>, StoreError> {
        let conversation = conversation.cloned();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM delivery WHERE owner = :owner AND settled_ms IS NULL
                   AND (:conversation IS NULL OR conversation = :conversation) ORDER BY id",
            )?;
            let conversation = conversation.as_ref().map(ConversationId::as_str);
            let params = named_params! { ":owner": tx.owner, ":conversation": conversation };
            row::list(&mut statement, params, "delivery", "id", delivery)
        })
        .await
    }

    async fn conversations_with_deliveries(&self) -> Result<Vec<ConversationId>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT DISTINCT conversation FROM delivery WHERE owner = :owner AND settled_ms IS NULL",
            )?;
            let rows = statement.query_map(named_params! { ":owner": tx.owner }, |row| row.get::<_, String>(0))?;
            rows.map(|id| Ok(ConversationId::new(id?))).collect()
        })
        .await
    }

    async fn deliver(
        &self,
        lease: &Lease,
        id: DeliveryId,
        messages: Vec<NewMessage>,
        pending_notifications: PendingNotifications,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let lease = lease.clone();
        self.write(move |tx| {
            let delivered = deliver(tx, &lease, id, &messages, now_ms)?;
            if delivered {
                pushes::begin(tx, id, &pending_notifications, now_ms)?;
            }
            Ok(delivered)
        })
        .await
    }

    async fn end_push(
        &self,
        id: DeliveryId,
        by: &str,
        outcome: PushOutcome,
        detail: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let (by, detail) = (by.to_owned(), detail.to_owned());
        self.write(move |tx| pushes::end(tx, id, &by, (outcome, &detail), now_ms)).await
    }

    async fn open_pushes(&self) -> Result<Listed<Push>, StoreError> {
        self.read(pushes::open).await
    }

    async fn unread_deliveries(&self) -> Result<Listed<Delivery>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM delivery WHERE owner = :owner AND turn IS NOT NULL AND read_ms IS NULL ORDER BY id",
            )?;
            row::list(&mut statement, named_params! { ":owner": tx.owner }, "delivery", "id", delivery)
        })
        .await
    }

    async fn mark_read(&self, conversation: &ConversationId, now_ms: i64) -> Result<u64, StoreError> {
        let id = conversation.clone();
        self.write(move |tx| mark_read(tx, &id, now_ms)).await
    }

    async fn mark_delivery_read(&self, id: DeliveryId, now_ms: i64) -> Result<bool, StoreError> {
        self.write(move |tx| mark_delivery_read(tx, id, now_ms)).await
    }

    async fn deliveries(&self, limit: u32) -> Result<Listed<Delivery>, StoreError> {
        self.read(move |tx| {
            let mut statement =
                tx.sql.prepare_cached("SELECT * FROM delivery WHERE owner = :owner ORDER BY id DESC LIMIT :limit")?;
            let params = named_params! { ":owner": tx.owner, ":limit": limit };
            row::list(&mut statement, params, "delivery", "id", delivery)
        })
        .await
    }

    async fn turns_that_tell_of_drafts(
        &self,
        conversation: &ConversationId,
    ) -> Result<HashMap<TurnId, DraftId>, StoreError> {
        let conversation = conversation.clone();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT turn, draft FROM delivery
                 WHERE owner = :owner AND conversation = :conversation AND draft IS NOT NULL AND turn IS NOT NULL",
            )?;
            let params = named_params! { ":owner": tx.owner, ":conversation": conversation.as_str() };
            let rows = statement.query_map(params, |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?;
            rows.map(|row| row.map(|(turn, draft)| (TurnId::new(turn), DraftId(draft))).map_err(Into::into)).collect()
        })
        .await
    }
}

/// Keeps a message until it is delivered; false when its key is known. Other records that it belongs with are written
/// in the same transaction. Every delivery begins here.
pub(super) fn insert_delivery(tx: &Tx<'_>, new: &NewDelivery) -> Outcome<bool> {
    check_no_strangers(tx, &new.conversation)?;
    let inserted = tx
        .sql
        .prepare_cached(
            "INSERT INTO delivery (owner, key, conversation, origin, title, text, trust, draft, made_ms)
             VALUES (:owner, :key, :conversation, :origin, :title, :text, :trust, :draft, :now)
             ON CONFLICT (owner, key) DO NOTHING",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":key": new.key, ":conversation": new.conversation.as_str(),
            ":origin": new.origin.as_str(), ":title": new.title, ":text": new.text, ":trust": new.trust.as_str(),
            ":draft": new.draft.map(|draft| draft.0), ":now": new.now_ms,
        });
    match inserted {
        Err(error) if is_orphan(&error) => Err(missing(&new.conversation).into()),
        Err(error) => Err(error.into()),
        Ok(rows) => Ok(rows == 1),
    }
}

fn deliver(tx: &Tx<'_>, lease: &Lease, id: DeliveryId, batch: &[NewMessage], now_ms: i64) -> Outcome<bool> {
    let conversation = &lease.conversation;
    leases::check(tx, conversation, lease.fence)?;
    let number = id.0.to_string();
    let found = {
        let mut statement = tx.sql.prepare_cached("SELECT * FROM delivery WHERE owner = :owner AND id = :id")?;
        row::one(&mut statement, named_params! { ":owner": tx.owner, ":id": id.0 }, "delivery", &number, delivery)?
    };
    let found = found.ok_or(StoreError::NotFound { what: "delivery", id: number })?;
    if found.new.conversation != *conversation {
        let reason = format!("delivery {} goes to conversation {}", id.0, found.new.conversation);
        return Err(StoreError::Invalid(reason).into());
    }
    if found.settled_ms.is_some() {
        return Ok(false);
    }
    let turn = (!batch.is_empty()).then(|| TurnId::new(format!("d{}", id.0)));
    if let Some(turn) = &turn {
        tx.sql
            .prepare_cached(
                "INSERT INTO turn (owner, id, conversation, path, began_ms, outcome, ended_ms)
                 VALUES (:owner, :id, :conversation, :path, :now, :outcome, :now)",
            )?
            .execute(named_params! {
                ":owner": tx.owner, ":id": turn.as_str(), ":conversation": conversation.as_str(), ":path": PATH,
                ":now": now_ms, ":outcome": TurnOutcome::Answered.as_str(),
            })?;
        messages::append(tx, conversation, turn, batch, now_ms)?;
        is_unread(tx, conversation)?;
    }
    settle(tx, id, turn.as_ref(), now_ms)?;
    Ok(true)
}

/// Keeps the answer of a turn as a delivery that is settled and unread; none when its key is known.
pub(super) fn tell(
    tx: &Tx<'_>,
    turn: &TurnId,
    new: &NewDelivery,
    pending_notifications: &PendingNotifications,
) -> Outcome<Option<DeliveryId>> {
    if !insert_delivery(tx, new)? {
        return Ok(None);
    }
    let id = DeliveryId(tx.sql.last_insert_rowid());
    settle(tx, id, Some(turn), new.now_ms)?;
    is_unread(tx, &new.conversation)?;
    pushes::begin(tx, id, pending_notifications, new.now_ms)?;
    Ok(Some(id))
}

fn settle(tx: &Tx<'_>, id: DeliveryId, turn: Option<&TurnId>, now_ms: i64) -> Outcome<()> {
    tx.sql.prepare_cached("UPDATE delivery SET settled_ms = ?3, turn = ?4 WHERE owner = ?1 AND id = ?2")?.execute((
        tx.owner,
        id.0,
        now_ms,
        turn.map(TurnId::as_str),
    ))?;
    Ok(())
}

fn is_unread(tx: &Tx<'_>, conversation: &ConversationId) -> Outcome<()> {
    tx.sql
        .prepare_cached("UPDATE conversation SET unread = unread + 1 WHERE owner = ? AND id = ?")?
        .execute((tx.owner, conversation.as_str()))?;
    Ok(())
}

fn mark_read(tx: &Tx<'_>, id: &ConversationId, now_ms: i64) -> Outcome<u64> {
    let read = tx
        .sql
        .prepare_cached(
            "UPDATE delivery SET read_ms = ?3
             WHERE owner = ?1 AND conversation = ?2 AND turn IS NOT NULL AND read_ms IS NULL",
        )?
        .execute((tx.owner, id.as_str(), now_ms))?;
    tx.sql
        .prepare_cached("UPDATE conversation SET unread = 0 WHERE owner = ? AND id = ? AND unread > 0")?
        .execute((tx.owner, id.as_str()))?;
    Ok(read as u64)
}

fn mark_delivery_read(tx: &Tx<'_>, id: DeliveryId, now_ms: i64) -> Outcome<bool> {
    let params = named_params! { ":owner": tx.owner, ":id": id.0, ":now": now_ms };
    let read = tx
        .sql
        .prepare_cached(
            "UPDATE delivery SET read_ms = :now
             WHERE owner = :owner AND id = :id AND turn IS NOT NULL AND read_ms IS NULL",
        )?
        .execute(params)?;
    if read == 1 {
        tx.sql
            .prepare_cached(
                "UPDATE conversation SET unread = unread - 1
                 WHERE owner = ?1 AND unread > 0
                   AND id = (SELECT conversation FROM delivery WHERE owner = ?1 AND id = ?2)",
            )?
            .execute((tx.owner, id.0))?;
    }
    Ok(read == 1)
}

fn delivery(row: &Row<'_>) -> Read<Delivery> {
    Ok(Delivery {
        id: DeliveryId(get(row, "id")?),
        new: NewDelivery {
            key: get(row, "key")?,
            conversation: ConversationId::new(get::<String>(row, "conversation")?),
            origin: parsed(row, "origin", DeliveryOrigin::parse)?,
            title: get(row, "title")?,
            text: get(row, "text")?,
            trust: word(row, "trust")?,
            draft: get::<Option<i64>>(row, "draft")?.map(DraftId),
            now_ms: get(row, "made_ms")?,
        },
        settled_ms: get(row, "settled_ms")?,
        turn: get::<Option<String>>(row, "turn")?.map(TurnId::new),
        read_ms: get(row, "read_ms")?,
    })
}
