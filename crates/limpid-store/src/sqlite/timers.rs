//! When things are due, and who works on what is.

use async_trait::async_trait;
use rusqlite::{OptionalExtension, Row, named_params};

use super::failure::Outcome;
use super::row::{self, Read, get};
use super::{SqliteStore, Tx};
use crate::{Fence, Listed, StoreError, Timer, TimerLease, Timers};

#[async_trait]
impl Timers for SqliteStore {
    async fn set_timer(&self, kind: &str, name: &str, due_ms: i64) -> Result<(), StoreError> {
        let (kind, name) = (kind.to_owned(), name.to_owned());
        self.write(move |tx| set(tx, &kind, &name, due_ms)).await
    }

    async fn undelay_timers(&self, kind: &str) -> Result<(), StoreError> {
        let kind = kind.to_owned();
        self.write(move |tx| {
            let sql = "UPDATE timer SET until_ms = NULL WHERE owner = :owner AND kind = :kind AND holder IS NULL";
            tx.sql.prepare_cached(sql)?.execute(named_params! { ":owner": tx.owner, ":kind": kind })?;
            Ok(())
        })
        .await
    }

    async fn remove_timer(&self, kind: &str, name: &str) -> Result<(), StoreError> {
        let (kind, name) = (kind.to_owned(), name.to_owned());
        self.write(move |tx| remove(tx, &kind, &name)).await
    }

    async fn timers(&self) -> Result<Listed<Timer>, StoreError> {
        self.read(move |tx| {
            let mut statement =
                tx.sql.prepare_cached("SELECT * FROM timer WHERE owner = :owner ORDER BY due_ms, kind, name")?;
            row::list(&mut statement, named_params! { ":owner": tx.owner }, "timer", "name", timer)
        })
        .await
    }

    async fn next_timer_ms(&self) -> Result<Option<i64>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT min(max(due_ms, coalesce(until_ms, due_ms))) FROM timer WHERE owner = :owner",
            )?;
            Ok(statement.query_row(named_params! { ":owner": tx.owner }, |row| row.get(0))?)
        })
        .await
    }

    async fn claim_timers(
        &self,
        now_ms: i64,
        holder: &str,
        lease_ms: i64,
        limit: u32,
    ) -> Result<Vec<TimerLease>, StoreError> {
        let holder = holder.to_owned();
        self.write(move |tx| claim(tx, None, now_ms, (&holder, lease_ms), limit)).await
    }

    async fn claim_timer(
        &self,
        kind: &str,
        name: &str,
        now_ms: i64,
        holder: &str,
        lease_ms: i64,
    ) -> Result<Option<TimerLease>, StoreError> {
        let (kind, name, holder) = (kind.to_owned(), name.to_owned(), holder.to_owned());
        let only = move |tx: &Tx<'_>| claim(tx, Some((&kind, &name)), now_ms, (&holder, lease_ms), 1);
        Ok(self.write(only).await?.pop())
    }

    async fn extend_timer(&self, lease: &TimerLease, until_ms: i64) -> Result<bool, StoreError> {
        let lease = lease.clone();
        self.write(move |tx| {
            let extended = tx
                .sql
                .prepare_cached(
                    "UPDATE timer SET until_ms = :until
                     WHERE owner = :owner AND kind = :kind AND name = :name AND fence = :fence AND holder IS NOT NULL",
                )?
                .execute(named_params! {
                    ":owner": tx.owner, ":kind": lease.kind, ":name": lease.name, ":fence": lease.fence.0,
                    ":until": until_ms,
                })?;
            Ok(extended == 1)
        })
        .await
    }

    async fn settle_timer(&self, lease: &TimerLease, next_ms: Option<i64>) -> Result<bool, StoreError> {
        let lease = lease.clone();
        self.write(move |tx| settle(tx, &lease, next_ms)).await
    }

    async fn put_off_timer(&self, lease: &TimerLease, again_ms: i64) -> Result<bool, StoreError> {
        let lease = lease.clone();
        self.write(move |tx| {
            let put_off = tx
                .sql
                .prepare_cached(
                    "UPDATE timer SET holder = NULL, until_ms = :again
                     WHERE owner = :owner AND kind = :kind AND name = :name AND fence = :fence AND holder IS NOT NULL",
                )?
                .execute(named_params! {
                    ":owner": tx.owner, ":kind": lease.kind, ":name": lease.name, ":fence": lease.fence.0,
                    ":again": again_ms,
                })?;
            Ok(put_off == 1)
        })
        .await
    }

    async fn timer_holders(&self) -> Result<Vec<String>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT DISTINCT holder FROM timer WHERE owner = ? AND holder IS NOT NULL ORDER BY 1",
            )?;
            let holders = statement.query_map([tx.owner], |row| row.get(0))?;
            Ok(holders.collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn release_timers(&self, holder: &str) -> Result<(), StoreError> {
        let holder = holder.to_owned();
        self.write(move |tx| {
            tx.sql
                .prepare_cached(
                    "UPDATE timer SET fence = fence + 1, holder = NULL, until_ms = NULL
                     WHERE owner = :owner AND holder = :holder",
                )?
                .execute(named_params! { ":owner": tx.owner, ":holder": holder })?;
            Ok(())
        })
        .await
    }
}

/// Sets when something is due; a claim of it stays.
pub(super) fn set(tx: &Tx<'_>, kind: &str, name: &str, due_ms: i64) -> Outcome<()> {
    tx.sql
        .prepare_cached(
            "INSERT INTO timer (owner, kind, name, due_ms) VALUES (:owner, :kind, :name, :due)
             ON CONFLICT (owner, kind, name) DO UPDATE SET
               due_ms = excluded.due_ms, until_ms = CASE WHEN holder IS NULL THEN NULL ELSE until_ms END",
        )?
        .execute(named_params! { ":owner": tx.owner, ":kind": kind, ":name": name, ":due": due_ms })?;
    Ok(())
}

/// Takes a timer out.
pub(super) fn remove(tx: &Tx<'_>, kind: &str, name: &str) -> Outcome<()> {
    tx.sql
        .prepare_cached("DELETE FROM timer WHERE owner = ? AND kind = ? AND name = ?")?
        .execute((tx.owner, kind, name))?;
    Ok(())
}

/// Claims what is due and free, of all timers or of one.
fn claim(
    tx: &Tx<'_>,
    only: Option<(&str, &str)>,
    now_ms: i64,
    (holder, lease_ms): (&str, i64),
    limit: u32,
) -> Outcome<Vec<TimerLease>> {
    let mut due = tx.sql.prepare_cached(
        "SELECT kind, name, due_ms, fence FROM timer
         WHERE owner = :owner AND due_ms <= :now AND (until_ms IS NULL OR until_ms <= :now)
           AND (:kind IS NULL OR (kind = :kind AND name = :name))
         ORDER BY due_ms, kind, name LIMIT :limit",
    )?;
    let (kind, name) = only.unzip();
    let params = named_params! { ":owner": tx.owner, ":now": now_ms, ":kind": kind, ":name": name, ":limit": limit };
    let due: Vec<TimerLease> = due
        .query_map(params, |row| {
            let fence = Fence(row.get::<_, i64>(3)? + 1);
            Ok(TimerLease { kind: row.get(0)?, name: row.get(1)?, due_ms: row.get(2)?, fence })
        })?
        .collect::<Result<_, _>>()?;
    let mut claim = tx.sql.prepare_cached(
        "UPDATE timer SET fence = :fence, holder = :holder, until_ms = :until
         WHERE owner = :owner AND kind = :kind AND name = :name",
    )?;
    for lease in &due {
        claim.execute(named_params! {
            ":owner": tx.owner, ":kind": lease.kind, ":name": lease.name, ":fence": lease.fence.0,
            ":holder": holder, ":until": now_ms.saturating_add(lease_ms),
        })?;
    }
    Ok(due)
}

/// Ends a claim, when it is the newest one.
pub(super) fn settle(tx: &Tx<'_>, lease: &TimerLease, next_ms: Option<i64>) -> Outcome<bool> {
    let due: Option<i64> = tx
        .sql
        .prepare_cached(
            "SELECT due_ms FROM timer
             WHERE owner = ? AND kind = ? AND name = ? AND fence = ? AND holder IS NOT NULL",
        )?
        .query_row((tx.owner, &lease.kind, &lease.name, lease.fence.0), |row| row.get(0))
        .optional()?;
    let Some(due) = due else { return Ok(false) };
    // Somebody set it to another time while it was worked on.
    let next = if due == lease.due_ms { next_ms } else { Some(due) };
    let Some(next) = next else {
        remove(tx, &lease.kind, &lease.name)?;
        return Ok(true);
    };
    tx.sql
        .prepare_cached(
            "UPDATE timer SET due_ms = :next, holder = NULL, until_ms = NULL
             WHERE owner = :owner AND kind = :kind AND name = :name",
        )?
        .execute(named_params! { ":owner": tx.owner, ":kind": lease.kind, ":name": lease.name, ":next": next })?;
    Ok(true)
}

fn timer(row: &Row<'_>) -> Read<Timer> {
    Ok(Timer {
        kind: get(row, "kind")?,
        name: get(row, "name")?,
        due_ms: get(row, "due_ms")?,
        holder: get(row, "holder")?,
    })
}
