//! What the request log forgets: old requests, and texts that nothing uses any more.

use rusqlite::named_params;

use super::failure::Outcome;
use super::{Tx, transcripts};
use crate::{Pruned, Retention};

/// Deletes requests by age, then by size.
pub(super) fn prune(tx: &Tx<'_>, retention: Retention) -> Outcome<Pruned> {
    let mut pruned = Pruned::default();
    if let Some(before) = retention.before_ms {
        pruned.requests += delete(tx, "sent_ms < :bound", before)?;
        collect(tx, &mut pruned)?;
    }
    if let Some(max_bytes) = retention.max_bytes {
        shrink(tx, max_bytes, &mut pruned)?;
    }
    transcripts::forget_shells(tx)?;
    Ok(pruned)
}

/// Requests that a stranger's text is in. One that was cut off before its answer came has no label and counts as the owner's.
const OF_STRANGERS: &str = "(coalesce(r.trust, 'owner') NOT IN ('owner', 'file'))";

/// Deletes the oldest requests until the request log is small enough: those with strangers' texts first while these hold more than half
/// of the room, so that however much is sent because of a page, half of it is left to the owner's.
fn shrink(tx: &Tx<'_>, max_bytes: u64, pruned: &mut Pruned) -> Outcome<()> {
    while ledger_bytes(tx)? > max_bytes {
        // A sixteenth at a time: texts are shared, so what one request frees is only known when it is gone.
        let count: i64 = tx
            .sql
            .prepare_cached("SELECT count(*) FROM request WHERE owner = ?")?
            .query_row([tx.owner], |row| row.get(0))?;
        let some = (count / 16).max(1);
        let mut deleted = 0;
        if bytes_of_strangers(tx)? > max_bytes / 2 {
            deleted = delete_oldest(tx, OF_STRANGERS, some)?;
        }
        // Where turns that are under way keep theirs, the log must not outgrow the disk all the same.
        if deleted == 0 {
            deleted = delete_oldest(tx, "TRUE", some)?;
        }
        if deleted == 0 {
            break;
        }
        pruned.requests += deleted;
        collect(tx, pruned)?;
    }
    Ok(())
}

/// Deletes so many requests of a kind, the oldest first.
fn delete_oldest(tx: &Tx<'_>, kind: &str, most: i64) -> Outcome<u64> {
    let some = format!(
        "seq IN (SELECT r.seq FROM request r LEFT JOIN turn t ON t.owner = r.owner AND t.id = r.turn
                 WHERE r.owner = :owner AND (r.turn IS NULL OR t.outcome IS NOT NULL) AND {kind}
                 ORDER BY r.seq LIMIT :bound)"
    );
    delete(tx, &some, most)
}

fn delete(tx: &Tx<'_>, which: &str, bound: i64) -> Outcome<u64> {
    let sql = format!(
        "DELETE FROM request WHERE owner = :owner AND {which}
           AND (turn IS NULL OR turn IN (SELECT id FROM turn WHERE owner = :owner AND outcome IS NOT NULL))"
    );
    let deleted = tx.sql.prepare_cached(&sql)?.execute(named_params! { ":owner": tx.owner, ":bound": bound })?;
    Ok(deleted as u64)
}

/// Deletes messages that no request leads to, and texts that no part, no request, no message and no journal has.
pub(super) fn collect(tx: &Tx<'_>, pruned: &mut Pruned) -> Outcome<()> {
    tx.sql
        .prepare_cached(
            "WITH RECURSIVE live (id) AS (
               SELECT tip FROM request WHERE owner = :owner AND tip IS NOT NULL
               UNION
               SELECT m.parent FROM request_message m JOIN live ON m.id = live.id WHERE m.parent IS NOT NULL
             )
             DELETE FROM request_message WHERE owner = :owner AND id NOT IN live",
        )?
        .execute(named_params! { ":owner": tx.owner })?;
    let mut statement = tx.sql.prepare_cached(
        "DELETE FROM text WHERE owner = :owner
           AND NOT EXISTS (SELECT 1 FROM request_part p WHERE p.owner = :owner AND p.text = text.hash)
           AND NOT EXISTS (SELECT 1 FROM request r WHERE r.owner = :owner AND r.tools = text.hash)
           AND NOT EXISTS (SELECT 1 FROM request_state s WHERE s.owner = :owner AND s.json = text.hash)
           AND NOT EXISTS (SELECT 1 FROM message_state s WHERE s.owner = :owner AND s.json = text.hash)
           AND hash NOT IN (SELECT shared FROM turn_event WHERE owner = :owner AND shared IS NOT NULL)
         RETURNING bytes",
    )?;
    let freed = statement.query_map(named_params! { ":owner": tx.owner }, |row| row.get::<_, i64>(0))?;
    for bytes in freed {
        pruned.texts += 1;
        pruned.bytes += bytes?.unsigned_abs();
    }
    Ok(())
}

/// Bytes of the request log's texts, replies included. What messages keep as well is not the request log's to forget.
fn ledger_bytes(tx: &Tx<'_>) -> Outcome<u64> {
    let bytes: i64 = tx
        .sql
        .prepare_cached(
            "SELECT (SELECT coalesce(sum(bytes), 0) FROM text WHERE owner = :owner
                       AND NOT EXISTS (SELECT 1 FROM message_state s WHERE s.owner = :owner AND s.json = text.hash))
                  + (SELECT coalesce(sum(octet_length(reply) + octet_length(reasoning)), 0)
                     FROM request WHERE owner = :owner)",
        )?
        .query_row(named_params! { ":owner": tx.owner }, |row| row.get(0))?;
    Ok(bytes.unsigned_abs())
}

/// The bytes among these that nothing but strangers' requests has: they are free when these are gone.
fn bytes_of_strangers(tx: &Tx<'_>) -> Outcome<u64> {
    let sql = format!(
        "WITH RECURSIVE own (id) AS (
           SELECT r.tip FROM request r WHERE r.owner = :owner AND r.tip IS NOT NULL AND NOT {OF_STRANGERS}
           UNION
           SELECT m.parent FROM request_message m JOIN own ON m.id = own.id WHERE m.parent IS NOT NULL
         )
         SELECT (SELECT coalesce(sum(bytes), 0) FROM text WHERE owner = :owner
                   AND NOT EXISTS (SELECT 1 FROM message_state s WHERE s.owner = :owner AND s.json = text.hash)
                   AND hash NOT IN (SELECT shared FROM turn_event WHERE owner = :owner AND shared IS NOT NULL)
                   AND hash NOT IN (SELECT p.text FROM request_part p JOIN own ON p.message = own.id)
                   AND hash NOT IN (SELECT s.json FROM request_state s JOIN own ON s.message = own.id)
                   AND hash NOT IN (SELECT r.tools FROM request r WHERE r.owner = :owner AND NOT {OF_STRANGERS}))
              + (SELECT coalesce(sum(octet_length(r.reply) + octet_length(r.reasoning)), 0)
                 FROM request r WHERE r.owner = :owner AND {OF_STRANGERS})"
    );
    let bytes: i64 = tx.sql.prepare_cached(&sql)?.query_row(named_params! { ":owner": tx.owner }, |row| row.get(0))?;
    Ok(bytes.unsigned_abs())
}
