//! Views, attempts and snapshots.

use std::collections::HashMap;

use async_trait::async_trait;
use limpid_core::recall::Meaning;
use limpid_core::{CallId, ConversationId, MessageId, TurnId, WindowView};
use rusqlite::{Row, named_params};

use super::failure::Outcome;
use super::row::{self, Read, Unreadable, count, get, stored};
use super::view::{from_json, to_json};
use super::{SqliteStore, Tx, conversation_row, history, leases, messages};
use crate::{
    AUTOMATIC_SNAPSHOTS, FoundMessages, Lease, Listed, NewSnapshot, NewWindowEvent, Snapshot, StoreError,
    StoredMessage, WindowEvent, Windows,
};

#[async_trait]
impl Windows for SqliteStore {
    async fn window(&self, id: &ConversationId) -> Result<WindowView, StoreError> {
        let id = id.clone();
        self.read(move |tx| Ok(current(tx, &id)?.unwrap_or_default())).await
    }

    async fn write_window(&self, lease: &Lease, new: NewWindowEvent, now_ms: i64) -> Result<WindowEvent, StoreError> {
        let lease = lease.clone();
        self.write(move |tx| {
            leases::check(tx, &lease.conversation, lease.fence)?;
            append(tx, &lease.conversation, new, now_ms)
        })
        .await
    }

    async fn window_events(&self, id: &ConversationId, limit: u32) -> Result<Listed<WindowEvent>, StoreError> {
        let id = id.clone();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM window_event WHERE owner = :owner AND conversation = :conversation
                 ORDER BY id DESC LIMIT :limit",
            )?;
            let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str(), ":limit": limit };
            row::list(&mut statement, params, "window_event", "id", event)
        })
        .await
    }

    async fn keep_snapshot(&self, id: &ConversationId, new: NewSnapshot, now_ms: i64) -> Result<Snapshot, StoreError> {
        let id = id.clone();
        self.write(move |tx| keep(tx, &id, new, now_ms)).await
    }

    async fn kept_snapshots(&self, id: &ConversationId) -> Result<Listed<Snapshot>, StoreError> {
        let id = id.clone();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM window_snapshot WHERE owner = :owner AND conversation = :conversation ORDER BY id DESC",
            )?;
            let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str() };
            row::list(&mut statement, params, "window_snapshot", "id", snapshot)
        })
        .await
    }

    async fn first_message(&self, id: &ConversationId) -> Result<Option<StoredMessage>, StoreError> {
        let id = id.clone();
        self.read(move |tx| messages::first(tx, &id)).await
    }

    async fn first_messages(
        &self,
        ids: &[ConversationId],
    ) -> Result<HashMap<ConversationId, Option<StoredMessage>>, StoreError> {
        let ids =
            serde_json::to_string(&ids.iter().map(ConversationId::as_str).collect::<Vec<_>>()).unwrap_or_default();
        self.read(move |tx| messages::first_of(tx, &ids)).await
    }

    async fn last_message(&self, id: &ConversationId) -> Result<Option<StoredMessage>, StoreError> {
        let id = id.clone();
        self.read(move |tx| messages::last(tx, &id)).await
    }

    async fn request_of(&self, id: &ConversationId, turn: &TurnId) -> Result<Option<StoredMessage>, StoreError> {
        let (id, turn) = (id.clone(), turn.clone());
        self.read(move |tx| messages::request_of(tx, &id, &turn)).await
    }

    async fn search_messages(
        &self,
        id: &ConversationId,
        words: &[String],
        meaning: Option<&Meaning>,
        limit: u32,
    ) -> Result<FoundMessages, StoreError> {
        let (id, words, meaning) = (id.clone(), words.to_vec(), meaning.cloned());
        self.search(move |tx| history::search(tx, &id, (&words, meaning.as_ref()), limit)).await
    }

    async fn call_ids(&self, id: &ConversationId) -> Result<Vec<CallId>, StoreError> {
        let id = id.clone();
        self.search(move |tx| {
            let mut statement =
                tx.sql.prepare_cached("SELECT id FROM call WHERE owner = :owner AND conversation = :conversation")?;
            let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str() };
            let rows = statement.query_map(params, |row| row.get::<_, String>(0))?;
            Ok(rows.map(|id| id.map(CallId::new)).collect::<Result<_, _>>()?)
        })
        .await
    }
}

pub(super) fn current(tx: &Tx<'_>, id: &ConversationId) -> Outcome<Option<WindowView>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT view FROM window_event WHERE owner = :owner AND conversation = :conversation AND view IS NOT NULL
         ORDER BY id DESC LIMIT 1",
    )?;
    let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str() };
    row::one(&mut statement, params, "window", id.as_str(), |row| view(&get::<String>(row, "view")?))
}

fn append(tx: &Tx<'_>, id: &ConversationId, new: NewWindowEvent, now_ms: i64) -> Outcome<WindowEvent> {
    tx.sql
        .prepare_cached(
            "INSERT INTO window_event (owner, conversation, kind, failure, newest, before, after, steps, view, at_ms)
             VALUES (:owner, :conversation, :kind, :failure, :newest, :before, :after, :steps, :view, :now)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":conversation": id.as_str(), ":kind": new.kind, ":failure": new.failure,
            ":newest": new.newest.map(|newest| newest.0), ":before": stored(new.before), ":after": stored(new.after),
            ":steps": new.steps.join("\n"), ":view": new.view.as_ref().map(to_json), ":now": now_ms,
        })?;
    Ok(WindowEvent { id: tx.sql.last_insert_rowid(), new, at_ms: now_ms })
}

fn keep(tx: &Tx<'_>, id: &ConversationId, new: NewSnapshot, now_ms: i64) -> Outcome<Snapshot> {
    conversation_row::find(tx, id)?.ok_or_else(|| conversation_row::missing(id))?;
    if let Some(kept) = same_moment(tx, id, &new)? {
        return Ok(kept);
    }
    tx.sql
        .prepare_cached(
            "INSERT INTO window_snapshot (owner, conversation, automatic, reason, newest, mode, tier, goals, strangers, view, at_ms)
             VALUES (:owner, :conversation, :automatic, :reason, :newest, :mode, :tier, :goals, :strangers, :view, :now)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":conversation": id.as_str(), ":automatic": new.automatic, ":reason": new.reason,
            ":newest": new.newest.map(|newest| newest.0), ":mode": new.mode, ":tier": new.tier,
            ":goals": new.goals.map(stored), ":strangers": new.of_strangers, ":view": to_json(&new.view), ":now": now_ms,
        })?;
    let number = tx.sql.last_insert_rowid();
    // Each side for itself: however often a stranger's text has a window shortened, the owner's moments stay.
    tx.sql
        .prepare_cached(
            "DELETE FROM window_snapshot
             WHERE owner = :owner AND conversation = :conversation AND automatic AND strangers = :strangers
               AND id NOT IN (SELECT id FROM window_snapshot WHERE owner = :owner AND conversation = :conversation
                              AND automatic AND strangers = :strangers ORDER BY id DESC LIMIT :kept)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":conversation": id.as_str(), ":strangers": new.of_strangers,
            ":kept": stored(AUTOMATIC_SNAPSHOTS),
        })?;
    Ok(Snapshot { id: number, kept: new, at_ms: now_ms })
}

/// The automatic moment that was kept at the same message: the first one, as it shows the most. A turn that is shortened many times
/// goes back to one place. Going back to a moment hides messages and leaves the newest one the newest, so that what is hidden is compared
/// as well.
fn same_moment(tx: &Tx<'_>, id: &ConversationId, new: &NewSnapshot) -> Outcome<Option<Snapshot>> {
    if !new.automatic {
        return Ok(None);
    }
    let mut statement = tx.sql.prepare_cached(
        "SELECT * FROM window_snapshot WHERE owner = :owner AND conversation = :conversation AND automatic
         AND strangers = :strangers AND newest IS :newest ORDER BY id",
    )?;
    let params = named_params! {
        ":owner": tx.owner, ":conversation": id.as_str(), ":strangers": new.of_strangers,
        ":newest": new.newest.map(|newest| newest.0),
    };
    // One that cannot be read is no reason to keep none.
    let kept = row::list(&mut statement, params, "window_snapshot", "id", snapshot)?.rows;
    Ok(kept.into_iter().find(|kept| kept.kept.view.hidden == new.view.hidden))
}

fn event(row: &Row<'_>) -> Read<WindowEvent> {
    let steps: String = get(row, "steps")?;
    Ok(WindowEvent {
        id: get(row, "id")?,
        new: NewWindowEvent {
            kind: get(row, "kind")?,
            failure: get(row, "failure")?,
            newest: get::<Option<i64>>(row, "newest")?.map(MessageId),
            before: count(row, "before")?,
            after: count(row, "after")?,
            steps: steps.lines().map(str::to_owned).collect(),
            view: get::<Option<String>>(row, "view")?.map(|text| view(&text)).transpose()?,
        },
        at_ms: get(row, "at_ms")?,
    })
}

fn snapshot(row: &Row<'_>) -> Read<Snapshot> {
    Ok(Snapshot {
        id: get(row, "id")?,
        kept: NewSnapshot {
            automatic: get(row, "automatic")?,
            reason: get(row, "reason")?,
            newest: get::<Option<i64>>(row, "newest")?.map(MessageId),
            mode: get(row, "mode")?,
            tier: get(row, "tier")?,
            goals: get::<Option<i64>>(row, "goals")?.map(i64::unsigned_abs),
            of_strangers: get(row, "strangers")?,
            view: view(&get::<String>(row, "view")?)?,
        },
        at_ms: get(row, "at_ms")?,
    })
}

fn view(text: &str) -> Read<WindowView> {
    from_json(text).map_err(|reason| Unreadable(format!("view: {reason}")))
}
