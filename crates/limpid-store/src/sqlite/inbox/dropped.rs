//! Items that were too many to wait: counted, and put aside as one, however many they are.

use limpid_core::inbox::Source;
use rusqlite::named_params;

use super::super::Tx;
use super::super::failure::Outcome;
use crate::{DroppedItems, ItemId};

/// What stopped waiting and was neither shown nor put aside, by source.
pub(super) fn dropped_items(tx: &Tx<'_>) -> Outcome<Vec<DroppedItems>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT count(*), coalesce(max(id), 0) FROM inbox_item
         WHERE owner = :owner AND source = :source AND waits = 0 AND shown_ms IS NULL AND consumed_ms IS NULL
           AND id > coalesce((SELECT max(newest) FROM inbox_put_aside WHERE owner = :owner AND source = :source), 0)",
    )?;
    let mut dropped = Vec::new();
    for source in Source::ALL {
        let params = named_params! { ":owner": tx.owner, ":source": source.as_str() };
        let (count, newest): (u32, i64) = statement.query_row(params, |row| Ok((row.get(0)?, row.get(1)?)))?;
        if count > 0 {
            dropped.push(DroppedItems { source, count, newest: ItemId(newest) });
        }
    }
    Ok(dropped)
}

/// Puts aside what was too many to wait, inside the transaction of a heartbeat's end: one row for each source.
pub(in crate::sqlite) fn put_aside(tx: &Tx<'_>, dropped: &[DroppedItems], now_ms: i64) -> Outcome<()> {
    for DroppedItems { source, newest, .. } in dropped {
        if *source == Source::Mail {
            raise_watermarks(tx, *newest)?;
        }
        tx.sql
            .prepare_cached(
                "INSERT INTO inbox_put_aside (owner, source, newest, at_ms) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            )?
            .execute((tx.owner, source.as_str(), newest.0, now_ms))?;
    }
    Ok(())
}

/// Raises the watermark of each account to the highest number among its letters that are put aside, those numbered as
/// it is. The index of numbers is walked from its end, where what waits stands before the first of them.
fn raise_watermarks(tx: &Tx<'_>, newest: ItemId) -> Outcome<()> {
    tx.sql
        .prepare_cached(
            "UPDATE mail_account SET watermark = max(watermark, coalesce(
               (SELECT max(item.uid) FROM inbox_item AS item
                WHERE item.owner = mail_account.owner AND item.source = 'mail' AND item.account = mail_account.address
                  AND item.validity = mail_account.validity AND item.uid > mail_account.watermark AND item.id <= :newest
                  AND item.waits = 0 AND item.shown_ms IS NULL AND item.consumed_ms IS NULL), 0))
             WHERE owner = :owner",
        )?
        .execute(named_params! { ":owner": tx.owner, ":newest": newest.0 })?;
    Ok(())
}
