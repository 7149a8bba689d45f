//! Where else deliveries are told than in their conversations.

use rusqlite::{Row, named_params};

use super::Tx;
use super::failure::Outcome;
use super::row::{self, Read, get};
use crate::{DeliveryId, Listed, PendingNotifications, Push, PushOutcome};

/// Writes down who is to tell a delivery.
pub(super) fn begin(
    tx: &Tx<'_>,
    id: DeliveryId,
    pending_notifications: &PendingNotifications,
    now_ms: i64,
) -> Outcome<()> {
    let mut insert = tx.sql.prepare_cached(
        "INSERT INTO push (owner, delivery, by, holder, began_ms) VALUES (:owner, :delivery, :by, :holder, :now)
         ON CONFLICT DO NOTHING",
    )?;
    for by in &pending_notifications.names {
        insert.execute(named_params! {
            ":owner": tx.owner, ":delivery": id.0, ":by": by, ":holder": pending_notifications.holder, ":now": now_ms,
        })?;
    }
    Ok(())
}

/// Writes down what became of a push, once.
pub(super) fn end(
    tx: &Tx<'_>,
    id: DeliveryId,
    by: &str,
    (outcome, detail): (PushOutcome, &str),
    now_ms: i64,
) -> Outcome<bool> {
    let ended = tx
        .sql
        .prepare_cached(
            "UPDATE push SET outcome = :outcome, detail = :detail, ended_ms = :now
             WHERE owner = :owner AND delivery = :delivery AND by = :by AND outcome IS NULL",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":delivery": id.0, ":by": by, ":outcome": outcome.as_str(), ":detail": detail,
            ":now": now_ms,
        })?;
    Ok(ended == 1)
}

/// The pushes of which nothing is known yet.
pub(super) fn open(tx: &Tx<'_>) -> Outcome<Listed<Push>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT push.delivery, push.by, push.holder, delivery.title FROM push
         JOIN delivery ON delivery.id = push.delivery
         WHERE push.owner = :owner AND push.outcome IS NULL ORDER BY push.delivery, push.by",
    )?;
    row::list(&mut statement, named_params! { ":owner": tx.owner }, "push", "delivery", push)
}

fn push(row: &Row<'_>) -> Read<Push> {
    Ok(Push {
        delivery: DeliveryId(get(row, "delivery")?),
        title: get(row, "title")?,
        by: get(row, "by")?,
        holder: get(row, "holder")?,
    })
}
