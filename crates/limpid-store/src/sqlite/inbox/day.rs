//! How much of what is handed in for a source is kept within a day, counted from what is kept: one day for all
//! processes of a home.

use rusqlite::named_params;

use super::super::Tx;
use super::super::failure::Outcome;
use super::super::row::stored;
use crate::{DayShare, NewItem};

/// A day, in milliseconds.
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// What was kept within a day.
struct Kept {
    items: i64,
    bytes: i64,
    oldest_ms: Option<i64>,
}

/// Whether one more of so many bytes is too much of its sender, who gets half of what the others leave; then, when it
/// may be less.
pub(super) fn full_until(tx: &Tx<'_>, new: &NewItem, bytes: u64, share: DayShare) -> Outcome<Option<i64>> {
    let (all, own) = kept(tx, new)?;
    let half = |most: i64, others: i64| most.saturating_sub(others).max(0).saturating_add(1) / 2;
    let items = half(share.items.into(), all.items - own.items);
    let most = half(stored(share.bytes), all.bytes - own.bytes);
    if own.items < items && own.bytes.saturating_add(stored(bytes)) <= most {
        return Ok(None);
    }
    let oldest_ms = own.oldest_ms.or(all.oldest_ms).unwrap_or(new.now_ms);
    Ok(Some(oldest_ms.saturating_add(DAY_MS)))
}

/// What was handed in for the source of an item, of all senders and of its own. What seems to come from more than a day
/// ahead is left out, since the clock was set back since.
fn kept(tx: &Tx<'_>, new: &NewItem) -> Outcome<(Kept, Kept)> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT count(*), coalesce(sum(handed_bytes), 0), min(arrived_ms), coalesce(sum(sender = :sender), 0),
                coalesce(sum(iif(sender = :sender, handed_bytes, 0)), 0), min(iif(sender = :sender, arrived_ms, NULL))
         FROM inbox_item
         WHERE owner = :owner AND source = :source AND handed_bytes IS NOT NULL
           AND arrived_ms > :now - :day AND arrived_ms < :now + :day",
    )?;
    let params = named_params! {
        ":owner": tx.owner, ":source": new.source.as_str(), ":sender": new.sender, ":now": new.now_ms, ":day": DAY_MS,
    };
    Ok(statement.query_row(params, |row| {
        let all = Kept { items: row.get(0)?, bytes: row.get(1)?, oldest_ms: row.get(2)? };
        let own = Kept { items: row.get(3)?, bytes: row.get(4)?, oldest_ms: row.get(5)? };
        Ok((all, own))
    })?)
}
