//! Turns and their journals.

use async_trait::async_trait;
use limpid_core::{CallId, ConversationId, TurnId};
use rusqlite::{Row, named_params};

use super::failure::{Outcome, is_taken};
use super::row::{self, Read, Unreadable, count, get, hex, parsed, word};
use super::{SqliteStore, Tx, chain, conversations, deliveries, goals, inbound, inbox, leases, messages, requests};
use crate::{
    Kept, Lease, Listed, NewEvent, NewTurn, StoreError, StoredMessage, Turn, TurnEnd, TurnEvent, TurnOutcome,
    TurnWrite, Turns, Written,
};

#[async_trait]
impl Turns for SqliteStore {
    async fn begin_turn(
        &self,
        lease: &Lease,
        new: NewTurn,
        writes: Vec<TurnWrite>,
    ) -> Result<Vec<Written>, StoreError> {
        let lease = lease.clone();
        self.write(move |tx| {
            begin(tx, &lease, &new)?;
            apply_all(tx, &lease.conversation, &new.id, writes, new.now_ms)
        })
        .await
    }

    async fn commit(
        &self,
        lease: &Lease,
        turn: &TurnId,
        writes: Vec<TurnWrite>,
        now_ms: i64,
    ) -> Result<Vec<Written>, StoreError> {
        let (lease, turn) = (lease.clone(), turn.clone());
        self.write(move |tx| {
            leases::check(tx, &lease.conversation, lease.fence)?;
            check_open(tx, &lease.conversation, &turn)?;
            apply_all(tx, &lease.conversation, &turn, writes, now_ms)
        })
        .await
    }

    async fn turn(&self, id: &TurnId) -> Result<Option<Turn>, StoreError> {
        let id = id.clone();
        self.read(move |tx| find(tx, &id)).await
    }

    async fn turn_events(&self, id: &TurnId) -> Result<Listed<TurnEvent>, StoreError> {
        let id = id.clone();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT e.*, t.body AS shared_text FROM turn_event e
                 LEFT JOIN text t ON t.owner = e.owner AND t.hash = e.shared
                 WHERE e.owner = :owner AND e.turn = :turn ORDER BY e.seq",
            )?;
            let params = named_params! { ":owner": tx.owner, ":turn": id.as_str() };
            row::list(&mut statement, params, "turn_event", "seq", event)
        })
        .await
    }

    async fn result_of_call(
        &self,
        conversation: &ConversationId,
        call: &CallId,
    ) -> Result<Option<StoredMessage>, StoreError> {
        let (conversation, call) = (conversation.clone(), call.clone());
        self.read(move |tx| {
            // The result stands right behind its call, in the same turn.
            let mut statement = tx.sql.prepare_cached(
                "SELECT m.* FROM call c
                 JOIN message a ON a.id = c.message
                 JOIN message m ON m.owner = a.owner AND m.turn = a.turn AND m.id > a.id
                 WHERE c.owner = :owner AND c.conversation = :conversation AND c.id = :call AND m.call_id = :call
                 ORDER BY m.id LIMIT 1",
            )?;
            let params = named_params! {
                ":owner": tx.owner, ":conversation": conversation.as_str(), ":call": call.as_str(),
            };
            row::one(&mut statement, params, "message", call.as_str(), messages::message)
        })
        .await
    }

    async fn hidden_turns(&self, conversation: &ConversationId) -> Result<Vec<TurnId>, StoreError> {
        let conversation = conversation.clone();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT id FROM turn WHERE owner = ? AND conversation = ? AND hidden_ms IS NOT NULL ORDER BY hidden_ms",
            )?;
            let ids = statement.query_map((tx.owner, conversation.as_str()), |row| row.get::<_, String>(0))?;
            Ok(ids.map(|id| id.map(TurnId::new)).collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn unfinished_turns(&self) -> Result<Listed<Turn>, StoreError> {
        self.read(|tx| {
            let mut statement =
                tx.sql.prepare_cached("SELECT * FROM turn WHERE owner = :owner AND outcome IS NULL ORDER BY seq")?;
            row::list(&mut statement, named_params! { ":owner": tx.owner }, "turn", "id", turn)
        })
        .await
    }
}

fn begin(tx: &Tx<'_>, lease: &Lease, new: &NewTurn) -> Outcome<()> {
    leases::check(tx, &lease.conversation, lease.fence)?;
    let inserted = tx
        .sql
        .prepare_cached("INSERT INTO turn (owner, id, conversation, path, began_ms) VALUES (?, ?, ?, ?, ?)")?
        .execute((tx.owner, new.id.as_str(), lease.conversation.as_str(), &new.path, new.now_ms));
    match inserted {
        Err(error) if is_taken(&error) => {
            return Err(StoreError::Exists { what: "turn", id: new.id.to_string() }.into());
        }
        inserted => inserted?,
    };
    inbound::take(tx, &lease.conversation, &new.id, &new.inbound)
}

fn check_open(tx: &Tx<'_>, conversation: &ConversationId, id: &TurnId) -> Outcome<()> {
    match find(tx, id)? {
        Some(turn) if turn.conversation != *conversation => one_of(0, conversation, id),
        Some(Turn { end: Some(_), .. }) => Err(StoreError::Invalid(format!("turn {id} has ended")).into()),
        Some(_) => Ok(()),
        None => Err(StoreError::NotFound { what: "turn", id: id.to_string() }.into()),
    }
}

fn apply_all(
    tx: &Tx<'_>,
    conversation: &ConversationId,
    turn: &TurnId,
    writes: Vec<TurnWrite>,
    now_ms: i64,
) -> Outcome<Vec<Written>> {
    let last = writes.len().saturating_sub(1);
    if writes.iter().position(|write| matches!(write, TurnWrite::End(..))).is_some_and(|at| at < last) {
        return Err(StoreError::Invalid(format!("turn {turn} cannot be written to after its end")).into());
    }
    writes.into_iter().map(|write| apply(tx, conversation, turn, write, now_ms)).collect()
}

fn apply(tx: &Tx<'_>, conversation: &ConversationId, turn: &TurnId, write: TurnWrite, now_ms: i64) -> Outcome<Written> {
    match write {
        TurnWrite::Event(event) => append_event(tx, turn, &event, now_ms).map(Written::Event),
        TurnWrite::Take(taken) => {
            inbound::take(tx, conversation, turn, &taken)?;
            Ok(Written::Done)
        }
        TurnWrite::Messages(batch) => messages::append(tx, conversation, turn, &batch, now_ms).map(Written::Messages),
        TurnWrite::Request(mut new) => {
            new.conversation = Some(conversation.clone());
            new.turn = Some(turn.clone());
            requests::record(tx, &new).map(Written::Request)
        }
        TurnWrite::Conversation(changes) => {
            conversations::change(tx, conversation, &changes, now_ms)?;
            Ok(Written::Done)
        }
        TurnWrite::RequestEnd(id, end) => {
            requests::end(tx, &id, Some(turn), &end)?;
            Ok(Written::Done)
        }
        TurnWrite::Goals(more) => {
            goals::append(tx, conversation, &more)?;
            Ok(Written::Done)
        }
        TurnWrite::Shown(items) => {
            inbox::note_shown(tx, conversation, turn, &items)?;
            Ok(Written::Done)
        }
        TurnWrite::Tell(new, pending_notifications) => {
            deliveries::tell(tx, turn, &new, &pending_notifications).map(Written::Told)
        }
        TurnWrite::End(outcome, detail) => {
            inbox::end_of_turn(tx, turn, outcome == TurnOutcome::Answered, now_ms)?;
            tx.sql
                .prepare_cached(
                    "UPDATE turn SET outcome = ?3, detail = ?4, ended_ms = ?5 WHERE owner = ?1 AND id = ?2",
                )?
                .execute((tx.owner, turn.as_str(), outcome.as_str(), detail, now_ms))?;
            tx.sql
                .prepare_cached("DELETE FROM turn_event WHERE owner = ? AND turn = ? AND NOT kept")?
                .execute((tx.owner, turn.as_str()))?;
            Ok(Written::Done)
        }
    }
}

/// Takes a turn out of what is sent. The clock may jump back, so the time is later than that of any other such turn.
pub(super) fn hide(tx: &Tx<'_>, conversation: &ConversationId, turn: &TurnId, now_ms: i64) -> Outcome<()> {
    let changed = tx
        .sql
        .prepare_cached(
            "UPDATE turn SET hidden_ms = max(?4, 1 + coalesce((
               SELECT max(hidden_ms) FROM turn WHERE owner = ?1 AND conversation = ?2 AND hidden_ms IS NOT NULL), 0))
             WHERE owner = ?1 AND conversation = ?2 AND id = ?3",
        )?
        .execute((tx.owner, conversation.as_str(), turn.as_str(), now_ms))?;
    one_of(changed, conversation, turn)
}

/// Puts back a turn that was taken out.
pub(super) fn unhide(tx: &Tx<'_>, conversation: &ConversationId, turn: &TurnId) -> Outcome<()> {
    let changed = tx
        .sql
        .prepare_cached("UPDATE turn SET hidden_ms = NULL WHERE owner = ? AND conversation = ? AND id = ?")?
        .execute((tx.owner, conversation.as_str(), turn.as_str()))?;
    one_of(changed, conversation, turn)
}

fn one_of(changed: usize, conversation: &ConversationId, turn: &TurnId) -> Outcome<()> {
    let id = || format!("{turn} in conversation {conversation}");
    if changed == 0 { Err(StoreError::NotFound { what: "turn", id: id() }.into()) } else { Ok(()) }
}

/// Deletes what the journals of a background run's turns keep, once the end of the run is recorded.
pub(super) fn forget_run(tx: &Tx<'_>, conversation: &ConversationId) -> Outcome<()> {
    tx.sql
        .prepare_cached(
            "DELETE FROM turn_event WHERE owner = :owner AND turn IN (
               SELECT t.id FROM turn t JOIN conversation c ON c.owner = t.owner AND c.id = t.conversation
               WHERE t.owner = :owner AND c.id = :conversation AND c.kind = 'run' AND t.outcome IS NOT NULL)",
        )?
        .execute(named_params! { ":owner": tx.owner, ":conversation": conversation.as_str() })?;
    Ok(())
}

fn append_event(tx: &Tx<'_>, turn: &TurnId, new: &NewEvent, now_ms: i64) -> Outcome<u64> {
    let shared = new.shared.as_deref().map(|text| chain::insert_text(tx, text)).transpose()?;
    let seq: i64 = tx
        .sql
        .prepare_cached(
            "INSERT INTO turn_event (owner, turn, seq, kind, trust, kept, shared, at_ms, payload)
             VALUES (:owner, :turn,
               1 + coalesce((SELECT seq FROM turn_event WHERE owner = :owner AND turn = :turn
                             ORDER BY seq DESC LIMIT 1), 0),
               :kind, :trust, :kept, :shared, :now, :payload)
             RETURNING seq",
        )?
        .query_row(
            named_params! {
                ":owner": tx.owner, ":turn": turn.as_str(), ":kind": new.kind, ":payload": new.payload,
                ":trust": new.trust.as_str(), ":kept": new.kept == Kept::Afterwards, ":shared": shared,
                ":now": now_ms,
            },
            |row| row.get(0),
        )?;
    Ok(seq.unsigned_abs())
}

fn find(tx: &Tx<'_>, id: &TurnId) -> Outcome<Option<Turn>> {
    let mut statement = tx.sql.prepare_cached("SELECT * FROM turn WHERE owner = :owner AND id = :id")?;
    let params = named_params! { ":owner": tx.owner, ":id": id.as_str() };
    row::one(&mut statement, params, "turn", id.as_str(), turn)
}

fn turn(row: &Row<'_>) -> Read<Turn> {
    let end = match get::<Option<i64>>(row, "ended_ms")? {
        Some(ended_ms) => Some(TurnEnd {
            outcome: parsed(row, "outcome", TurnOutcome::parse)?,
            detail: get(row, "detail")?,
            ended_ms,
        }),
        None => None,
    };
    Ok(Turn {
        id: TurnId::new(get::<String>(row, "id")?),
        conversation: ConversationId::new(get::<String>(row, "conversation")?),
        path: get(row, "path")?,
        began_ms: get(row, "began_ms")?,
        end,
    })
}

fn event(row: &Row<'_>) -> Read<TurnEvent> {
    let shared: Option<String> = get(row, "shared_text")?;
    if let (Some(hash), None) = (get::<Option<chain::Key>>(row, "shared")?, &shared) {
        return Err(Unreadable(format!("its text {} is gone", hex(&hash))));
    }
    Ok(TurnEvent {
        seq: count(row, "seq")?,
        kind: get(row, "kind")?,
        payload: get(row, "payload")?,
        shared,
        trust: word(row, "trust")?,
        at_ms: get(row, "at_ms")?,
    })
}
