//! Who may write to a conversation.

use limpid_core::ConversationId;
use rusqlite::{OptionalExtension, named_params};

use super::Tx;
use super::conversation_row::missing;
use super::failure::{Outcome, is_orphan};
use crate::{Acquired, Fence, Lease, StoreError};

/// Takes a lease that is free or has run out.
pub(super) fn acquire(tx: &Tx<'_>, id: &ConversationId, holder: &str, now_ms: i64, ttl_ms: i64) -> Outcome<Acquired> {
    let current = current(tx, id)?;
    let fence = match current {
        Some(lease) if lease.until_ms > now_ms => return Ok(Acquired::Busy(lease)),
        Some(lease) => lease.fence.0 + 1,
        None => 1,
    };
    let lease = Lease {
        conversation: id.clone(),
        holder: holder.to_owned(),
        fence: Fence(fence),
        until_ms: now_ms.saturating_add(ttl_ms),
    };
    let inserted = tx
        .sql
        .prepare_cached(
            "INSERT OR REPLACE INTO lease (owner, conversation, holder, fence, until_ms)
             VALUES (:owner, :conversation, :holder, :fence, :until)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":conversation": id.as_str(), ":holder": holder, ":fence": fence,
            ":until": lease.until_ms,
        });
    match inserted {
        Err(error) if is_orphan(&error) => Err(missing(id).into()),
        Err(error) => Err(error.into()),
        Ok(_) => Ok(Acquired::Lease(lease)),
    }
}

/// Moves the end of a lease.
pub(super) fn renew(tx: &Tx<'_>, lease: Lease, now_ms: i64, ttl_ms: i64) -> Outcome<Lease> {
    check(tx, &lease.conversation, lease.fence)?;
    let until_ms = now_ms.saturating_add(ttl_ms);
    tx.sql.prepare_cached("UPDATE lease SET until_ms = ?3 WHERE owner = ?1 AND conversation = ?2")?.execute((
        tx.owner,
        lease.conversation.as_str(),
        until_ms,
    ))?;
    Ok(Lease { until_ms, ..lease })
}

/// Gives a lease back. The fence grows, so that the former holder can write nothing more.
pub(super) fn release(tx: &Tx<'_>, id: &ConversationId, fence: Fence) -> Outcome<()> {
    tx.sql
        .prepare_cached(
            "UPDATE lease SET fence = fence + 1, holder = '', until_ms = ?4
             WHERE owner = ?1 AND conversation = ?2 AND fence = ?3",
        )?
        .execute((tx.owner, id.as_str(), fence.0, i64::MIN))?;
    Ok(())
}

/// Refuses a fence that is not the newest. A lease that has run out still holds as long as nobody has taken it.
pub(super) fn check(tx: &Tx<'_>, id: &ConversationId, fence: Fence) -> Outcome<()> {
    match current(tx, id)? {
        Some(lease) if lease.fence == fence => Ok(()),
        _ => Err(StoreError::StaleFence { conversation: id.clone() }.into()),
    }
}

/// The lease of a conversation; none when nobody holds it.
pub(super) fn held(tx: &Tx<'_>, id: &ConversationId) -> Outcome<Option<Lease>> {
    // A row without a holder only keeps the fence.
    Ok(current(tx, id)?.filter(|lease| !lease.holder.is_empty()))
}

fn current(tx: &Tx<'_>, id: &ConversationId) -> Outcome<Option<Lease>> {
    let lease = tx
        .sql
        .prepare_cached("SELECT holder, fence, until_ms FROM lease WHERE owner = ? AND conversation = ?")?
        .query_row((tx.owner, id.as_str()), |row| {
            Ok(Lease {
                conversation: id.clone(),
                holder: row.get(0)?,
                fence: Fence(row.get(1)?),
                until_ms: row.get(2)?,
            })
        })
        .optional()?;
    Ok(lease)
}
