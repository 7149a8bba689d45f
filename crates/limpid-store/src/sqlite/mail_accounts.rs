//! Mail accounts, and how far each was read.

use async_trait::async_trait;
use limpid_core::mail::{Mark, Renumbered};
use rusqlite::{OptionalExtension, Row, named_params};

use super::failure::Outcome;
use super::row::{self, Read, get};
use super::{SqliteStore, Tx, inbox};
use crate::{Inserted, Listed, MailAccount, MailAccounts, NewItem, Poll, PollOutcome, StoreError};

#[async_trait]
impl MailAccounts for SqliteStore {
    async fn mail_accounts(&self) -> Result<Listed<MailAccount>, StoreError> {
        self.read(move |tx| {
            let mut statement =
                tx.sql.prepare_cached("SELECT * FROM mail_account WHERE owner = :owner ORDER BY address")?;
            row::list(&mut statement, named_params! { ":owner": tx.owner }, "mail_account", "address", account)
        })
        .await
    }

    async fn add_mail_account(&self, address: &str) -> Result<MailAccount, StoreError> {
        let address = address.to_owned();
        self.write(move |tx| {
            tx.sql
                .prepare_cached("INSERT INTO mail_account (owner, address) VALUES (?, ?) ON CONFLICT DO NOTHING")?
                .execute((tx.owner, &address))?;
            find(tx, &address)?.ok_or_else(|| missing(&address).into())
        })
        .await
    }

    async fn remove_mail_account(&self, address: &str) -> Result<bool, StoreError> {
        let address = address.to_owned();
        self.write(move |tx| {
            let removed = tx
                .sql
                .prepare_cached("DELETE FROM mail_account WHERE owner = ? AND address = ?")?
                .execute((tx.owner, &address))?;
            Ok(removed > 0)
        })
        .await
    }

    async fn record_poll(&self, address: &str, poll: Poll, found: Vec<NewItem>) -> Result<Vec<Inserted>, StoreError> {
        let address = address.to_owned();
        self.write(move |tx| {
            let before = find(tx, &address)?.ok_or_else(|| missing(&address))?;
            match &poll.outcome {
                PollOutcome::Read { mark, unread } => read(tx, &before, *mark, *unread, poll.at_ms)?,
                PollOutcome::Failed(why) => failed(tx, &address, why, poll.at_ms)?,
            }
            inbox::insert(tx, &found)
        })
        .await
    }

    async fn known_message_ids(&self, address: &str, ids: Vec<String>) -> Result<Vec<String>, StoreError> {
        let address = address.to_owned();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT 1 FROM inbox_item WHERE owner = ? AND account = ? AND message_id = ? AND source = 'mail'",
            )?;
            let mut known = Vec::new();
            for id in ids {
                if statement.query_row((tx.owner, &address, &id), |_| Ok(())).optional()?.is_some() {
                    known.push(id);
                }
            }
            Ok(known)
        })
        .await
    }
}

fn read(tx: &Tx<'_>, before: &MailAccount, mark: Mark, unread: u32, at_ms: i64) -> Outcome<()> {
    let same = before.mark.filter(|before| before.validity == mark.validity);
    let uid = same.map_or(mark.uid, |before| before.uid.max(mark.uid));
    let watermark = if same.is_some() { before.watermark } else { 0 };
    tx.sql
        .prepare_cached(
            "UPDATE mail_account SET validity = :validity, polled_uid = :uid, watermark = :watermark, unread = :unread,
                    renumbered_to = :to, renumbered_since_ms = :since, attempted_ms = :at, synced_ms = :at, last_error = NULL
             WHERE owner = :owner AND address = :address",
        )?
        .execute(named_params! {
            ":validity": mark.validity, ":uid": uid, ":watermark": watermark, ":unread": unread, ":at": at_ms,
            ":to": mark.renumbered.map(|renumbered| renumbered.to),
            ":since": mark.renumbered.map(|renumbered| renumbered.since_ms),
            ":owner": tx.owner, ":address": before.address,
        })?;
    Ok(())
}

fn failed(tx: &Tx<'_>, address: &str, why: &str, at_ms: i64) -> Outcome<()> {
    tx.sql
        .prepare_cached(
            "UPDATE mail_account SET attempted_ms = :at, last_error = substr(:why, 1, 2000)
             WHERE owner = :owner AND address = :address",
        )?
        .execute(named_params! { ":at": at_ms, ":why": why, ":owner": tx.owner, ":address": address })?;
    Ok(())
}

fn find(tx: &Tx<'_>, address: &str) -> Outcome<Option<MailAccount>> {
    let mut statement =
        tx.sql.prepare_cached("SELECT * FROM mail_account WHERE owner = :owner AND address = :address")?;
    let params = named_params! { ":owner": tx.owner, ":address": address };
    row::one(&mut statement, params, "mail account", address, account)
}

fn missing(address: &str) -> StoreError {
    StoreError::NotFound { what: "mail account", id: address.to_owned() }
}

fn account(row: &Row<'_>) -> Read<MailAccount> {
    let (validity, uid): (Option<u32>, Option<u32>) = (get(row, "validity")?, get(row, "polled_uid")?);
    let (to, since_ms): (Option<u32>, Option<i64>) = (get(row, "renumbered_to")?, get(row, "renumbered_since_ms")?);
    let renumbered = to.zip(since_ms).map(|(to, since_ms)| Renumbered { to, since_ms });
    Ok(MailAccount {
        address: get(row, "address")?,
        mark: validity.zip(uid).map(|(validity, uid)| Mark { validity, uid, renumbered }),
        watermark: get(row, "watermark")?,
        unread: get(row, "unread")?,
        attempted_ms: get(row, "attempted_ms")?,
        synced_ms: get(row, "synced_ms")?,
        last_error: get(row, "last_error")?,
    })
}
