//! Items that came in.

mod day;
mod dropped;

use async_trait::async_trait;
use limpid_core::inbox::{QUEUE, Source, matches, raised};
use limpid_core::{ConversationId, TurnId};
use rusqlite::{OptionalExtension, Row, named_params};

use super::failure::Outcome;
use super::row::{self, Read, get, stored, word};
use super::{SqliteStore, Tx};
use crate::{
    Admission, DayShare, DroppedItems, Inbox, InboxItem, Inserted, ItemFilter, ItemId, Listed, MailUid, NewItem,
    StoreError,
};

pub(super) use dropped::put_aside;

#[async_trait]
impl Inbox for SqliteStore {
    async fn insert_items(&self, new: Vec<NewItem>) -> Result<Vec<Inserted>, StoreError> {
        self.write(move |tx| insert(tx, &new)).await
    }

    async fn hand_in(&self, new: NewItem, bytes: u64, share: DayShare) -> Result<Admission, StoreError> {
        self.write(move |tx| hand_in(tx, &new, bytes, share)).await
    }

    async fn pending(&self, source: Source) -> Result<Listed<InboxItem>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM inbox_item_named WHERE owner = :owner AND source = :source AND waits = 1 ORDER BY id",
            )?;
            let params = named_params! { ":owner": tx.owner, ":source": source.as_str() };
            row::list(&mut statement, params, "inbox_item", "id", item)
        })
        .await
    }

    async fn items(&self, filter: ItemFilter) -> Result<Listed<InboxItem>, StoreError> {
        self.search(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM inbox_item_named WHERE owner = :owner AND (:source IS NULL OR source = :source)
                   AND (:account IS NULL OR account = :account) AND (NOT :unseen OR shown_ms IS NULL)
                   AND (:since IS NULL OR posted_ms >= :since)
                   AND (:uids = '[]' OR uid IN (SELECT value FROM json_each(:uids)))
                   AND (:turn IS NULL OR id NOT IN
                         (SELECT item FROM inbox_shown WHERE owner = :owner AND turn = :turn))
                 ORDER BY id DESC",
            )?;
            let params = named_params! {
                ":owner": tx.owner, ":source": filter.source.map(Source::as_str), ":account": filter.account,
                ":unseen": filter.unseen, ":since": filter.since_ms, ":uids": serde_json::to_string(&filter.uids).map_err(|error| StoreError::Invalid(error.to_string()))?,
                ":turn": filter.not_shown_in.as_ref().map(TurnId::as_str),
            };
            // Words are compared in Rust, since SQLite knows the two cases of ASCII letters alone.
            let is_wanted = |item: &InboxItem| {
                let texts = [item.new.sender.as_str(), &item.new.title, &item.new.text];
                filter.query.as_ref().is_none_or(|query| matches(query, &texts))
            };
            let most = if filter.limit == 0 { usize::MAX } else { filter.limit };
            row::list_some(&mut statement, params, ("inbox_item", "id"), item, is_wanted, most)
        })
        .await
    }

    async fn item(&self, id: ItemId) -> Result<Option<InboxItem>, StoreError> {
        self.read(move |tx| {
            let mut statement =
                tx.sql.prepare_cached("SELECT * FROM inbox_item_named WHERE owner = :owner AND id = :id")?;
            let params = named_params! { ":owner": tx.owner, ":id": id.0 };
            row::one(&mut statement, params, "inbox item", &id.0.to_string(), item)
        })
        .await
    }

    async fn mark_shown(&self, ids: &[ItemId], now_ms: i64) -> Result<usize, StoreError> {
        let ids = ids.to_vec();
        self.write(move |tx| {
            let mut changed = 0;
            for id in ids {
                changed += tx
                    .sql
                    .prepare_cached(
                        "UPDATE inbox_item SET shown_ms = ?, waits = 0 WHERE owner = ? AND id = ? AND shown_ms IS NULL
                           AND NOT EXISTS (SELECT 1 FROM inbox_put_aside AS aside
                                           WHERE aside.owner = inbox_item.owner AND aside.source = inbox_item.source
                                             AND aside.newest >= inbox_item.id)",
                    )?
                    .execute((now_ms, tx.owner, id.0))?;
            }
            Ok(changed)
        })
        .await
    }

    async fn shown_items(&self, conversation: &ConversationId) -> Result<Vec<ItemId>, StoreError> {
        let conversation = conversation.clone();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT DISTINCT item FROM inbox_shown WHERE owner = ? AND conversation = ? ORDER BY item",
            )?;
            let rows = statement.query_map((tx.owner, conversation.as_str()), |row| row.get(0).map(ItemId))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn dropped_items(&self) -> Result<Vec<DroppedItems>, StoreError> {
        self.search(dropped::dropped_items).await
    }

    async fn consume(&self, ids: &[ItemId], now_ms: i64) -> Result<(), StoreError> {
        let ids = ids.to_vec();
        self.write(move |tx| consume_items(tx, &ids, now_ms)).await
    }
}

/// Keeps items that are not known, and lets the oldest stop waiting where too many do.
pub(super) fn insert(tx: &Tx<'_>, new: &[NewItem]) -> Outcome<Vec<Inserted>> {
    let inserted = new.iter().map(|new| insert_one(tx, new)).collect::<Outcome<_>>()?;
    let_the_oldest_go(tx)?;
    Ok(inserted)
}

/// Keeps what was handed in, while its sender has room: counted in the transaction that writes it, so that no other
/// process is missed.
fn hand_in(tx: &Tx<'_>, new: &NewItem, bytes: u64, share: DayShare) -> Outcome<Admission> {
    if let Some(id) = known(tx, new)? {
        return Ok(Admission::Kept(Inserted { id, fresh: false }));
    }
    if let Some(until_ms) = day::full_until(tx, new, bytes, share)? {
        return Ok(Admission::Full { until_ms });
    }
    let id = add(tx, new, Some(bytes))?;
    let_the_oldest_go(tx)?;
    Ok(Admission::Kept(Inserted { id, fresh: true }))
}

fn let_the_oldest_go(tx: &Tx<'_>) -> Outcome<()> {
    for source in Source::ALL {
        tx.sql
            .prepare_cached(
                "UPDATE inbox_item SET waits = 0 WHERE waits = 1 AND id IN
                   (SELECT id FROM inbox_item WHERE owner = :owner AND source = :source AND waits = 1
                    ORDER BY id DESC LIMIT -1 OFFSET :queue)",
            )?
            .execute(named_params! { ":owner": tx.owner, ":source": source.as_str(), ":queue": stored(QUEUE) })?;
    }
    Ok(())
}

/// Takes items in for a heartbeat, inside the transaction of its end.
pub(crate) fn consume_items(tx: &Tx<'_>, ids: &[ItemId], now_ms: i64) -> Outcome<()> {
    for id in ids {
        tx.sql
            .prepare_cached(
                "UPDATE inbox_item SET waits = 0, shown_ms = coalesce(shown_ms, :now),
                        consumed_ms = coalesce(consumed_ms, :now)
                 WHERE owner = :owner AND id = :id",
            )?
            .execute(named_params! { ":now": now_ms, ":owner": tx.owner, ":id": id.0 })?;
        raise_watermark(tx, *id)?;
    }
    Ok(())
}

/// Notes which items a turn has shown to the model.
pub(super) fn note_shown(tx: &Tx<'_>, conversation: &ConversationId, turn: &TurnId, items: &[ItemId]) -> Outcome<()> {
    for item in items {
        tx.sql
            .prepare_cached(
                "INSERT INTO inbox_shown (owner, turn, item, conversation) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            )?
            .execute((tx.owner, turn.as_str(), item.0, conversation.as_str()))?;
    }
    Ok(())
}

/// Settles what a turn has shown: after an answer it is seen, otherwise it is as if it had not been shown. What a turn of
/// a run in the background has shown is settled with the end of that run, which may still find that it failed.
pub(super) fn end_of_turn(tx: &Tx<'_>, turn: &TurnId, answered: bool, now_ms: i64) -> Outcome<()> {
    let in_a_run = "SELECT 1 FROM turn JOIN conversation ON conversation.owner = turn.owner
                      AND conversation.id = turn.conversation
                    WHERE turn.owner = ? AND turn.id = ? AND conversation.kind = 'run'";
    if tx.sql.prepare_cached(in_a_run)?.exists((tx.owner, turn.as_str()))? {
        return Ok(());
    }
    if answered {
        tx.sql
            .prepare_cached(
                "UPDATE inbox_item SET shown_ms = ?, waits = 0 WHERE owner = ? AND shown_ms IS NULL
                   AND id IN (SELECT item FROM inbox_shown WHERE owner = ? AND turn = ?)",
            )?
            .execute((now_ms, tx.owner, tx.owner, turn.as_str()))?;
    }
    tx.sql
        .prepare_cached("DELETE FROM inbox_shown WHERE owner = ? AND turn = ?")?
        .execute((tx.owner, turn.as_str()))?;
    Ok(())
}

/// Settles what a run in the background has shown, inside the transaction of its end.
pub(super) fn end_of_run(tx: &Tx<'_>, conversation: &ConversationId, went_well: bool, now_ms: i64) -> Outcome<()> {
    if went_well {
        tx.sql
            .prepare_cached(
                "UPDATE inbox_item SET shown_ms = ?, waits = 0 WHERE owner = ? AND shown_ms IS NULL
                   AND id IN (SELECT item FROM inbox_shown WHERE owner = ? AND conversation = ?)",
            )?
            .execute((now_ms, tx.owner, tx.owner, conversation.as_str()))?;
    }
    tx.sql
        .prepare_cached("DELETE FROM inbox_shown WHERE owner = ? AND conversation = ?")?
        .execute((tx.owner, conversation.as_str()))?;
    Ok(())
}

/// Raises the watermark of the account that an item stands in, when its number is one of the account as it is.
fn raise_watermark(tx: &Tx<'_>, id: ItemId) -> Outcome<()> {
    let found: Option<(String, u32, u32)> = tx
        .sql
        .prepare_cached(
            "SELECT account.address, account.watermark, item.uid FROM inbox_item AS item
             JOIN mail_account AS account ON account.owner = item.owner AND account.address = item.account
             WHERE item.owner = ? AND item.id = ? AND item.source = 'mail' AND item.validity = account.validity",
        )?
        .query_row((tx.owner, id.0), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    if let Some((address, watermark, uid)) = found {
        tx.sql.prepare_cached("UPDATE mail_account SET watermark = ? WHERE owner = ? AND address = ?")?.execute((
            raised(watermark, [uid]),
            tx.owner,
            address,
        ))?;
    }
    Ok(())
}

fn insert_one(tx: &Tx<'_>, new: &NewItem) -> Outcome<Inserted> {
    if let Some(id) = known(tx, new)? {
        return Ok(Inserted { id, fresh: false });
    }
    Ok(Inserted { id: add(tx, new, None)?, fresh: true })
}

/// Writes an item that is not known, with the bytes that it was handed in as.
fn add(tx: &Tx<'_>, new: &NewItem, bytes: Option<u64>) -> Outcome<ItemId> {
    tx.sql
        .prepare_cached(
            "INSERT INTO inbox_item (owner, source, account, key, validity, uid, message_id, sender, title, text,
                                     posted_ms, arrived_ms, handed_bytes)
             VALUES (:owner, :source, :account, :key, :validity, :uid, :message, :sender, :title, :text, :posted, :now,
                     :bytes)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":source": new.source.as_str(), ":account": new.account, ":key": new.key,
            ":validity": new.uid.map(|uid| uid.validity), ":uid": new.uid.map(|uid| uid.uid),
            ":message": new.message_id, ":sender": new.sender, ":title": new.title, ":text": new.text,
            ":posted": new.posted_ms, ":now": new.now_ms, ":bytes": bytes.map(stored),
        })?;
    Ok(ItemId(tx.sql.last_insert_rowid()))
}

/// The item that is the same as a new one, by its key or its number in the account.
fn known(tx: &Tx<'_>, new: &NewItem) -> Outcome<Option<ItemId>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT id FROM inbox_item
         WHERE owner = :owner AND source = :source AND account = :account
           AND ((:key IS NOT NULL AND key = :key)
                OR (:uid IS NOT NULL AND validity = :validity AND uid = :uid))
         ORDER BY id LIMIT 1",
    )?;
    let params = named_params! {
        ":owner": tx.owner, ":source": new.source.as_str(), ":account": new.account, ":key": new.key,
        ":validity": new.uid.map(|uid| uid.validity), ":uid": new.uid.map(|uid| uid.uid),
    };
    Ok(statement.query_row(params, |row| row.get(0)).optional()?.map(ItemId))
}

fn item(row: &Row<'_>) -> Read<InboxItem> {
    let (validity, uid): (Option<u32>, Option<u32>) = (get(row, "validity")?, get(row, "uid")?);
    Ok(InboxItem {
        id: ItemId(get(row, "id")?),
        new: NewItem {
            source: word(row, "source")?,
            account: get(row, "account")?,
            key: get(row, "key")?,
            uid: validity.zip(uid).map(|(validity, uid)| MailUid { validity, uid }),
            message_id: get(row, "message_id")?,
            sender: get(row, "sender")?,
            title: get(row, "title")?,
            text: get(row, "text")?,
            posted_ms: get(row, "posted_ms")?,
            now_ms: get(row, "arrived_ms")?,
        },
        waits: get(row, "waits")?,
        shown_ms: get(row, "shown_ms")?,
        consumed_ms: get(row, "consumed_ms")?,
    })
}
