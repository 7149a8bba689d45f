//! Conversations that their owner deletes for good: what goes, and what stands for it where sums are made.

use limpid_core::ConversationId;
use rusqlite::{Statement, ToSql, named_params};

use super::conversation_row::{find, missing};
use super::failure::Outcome;
use super::{Tx, prune};
use crate::{ConversationKind, StoreError};

/// Why a conversation is not deleted now: each asks for one row that is in the way.
const IN_THE_WAY: [&str; 6] = [
    "SELECT 1 FROM turn WHERE owner = :owner AND conversation = :id AND outcome IS NULL",
    "SELECT 1 FROM inbound WHERE owner = :owner AND conversation = :id AND turn IS NULL",
    "SELECT 1 FROM lease WHERE owner = :owner AND conversation = :id AND holder <> '' AND until_ms > :now",
    "SELECT 1 FROM agent WHERE owner = :owner AND chat = :id AND ended_ms IS NULL",
    "SELECT 1 FROM draft d JOIN draft_event e ON e.id = (SELECT max(id) FROM draft_event WHERE draft = d.id)
     WHERE d.owner = :owner AND d.conversation = :id AND e.state IN ('approved', 'sending')",
    "SELECT 1 FROM task t JOIN task_run r ON r.task = t.id
     WHERE t.owner = :owner AND t.conversation = :id AND r.outcome IS NULL",
];

/// What goes with the agents of a conversation. They and the messages that tell of their ends name each other.
const AGENTS: [&str; 2] = [
    "UPDATE inbound SET agent = NULL
     WHERE owner = :owner AND agent IN (SELECT id FROM agent WHERE owner = :owner AND chat = :id)",
    "DELETE FROM agent WHERE owner = :owner AND chat = :id",
];

/// What goes of a conversation, in an order in which nothing refers to a row that is gone. Of its requests stays what they cost; of
/// its tasks everything but where their results go.
const PARTS: [&str; 26] = [
    "DELETE FROM planned_need WHERE owner = :owner
       AND task IN (SELECT id FROM planned_task WHERE owner = :owner AND chat = :id)",
    "DELETE FROM planned_task WHERE owner = :owner AND chat = :id",
    "DELETE FROM draft_event WHERE owner = :owner
       AND draft IN (SELECT id FROM draft WHERE owner = :owner AND conversation = :id)",
    "DELETE FROM draft_edit WHERE owner = :owner
       AND draft IN (SELECT id FROM draft WHERE owner = :owner AND conversation = :id)",
    "DELETE FROM draft WHERE owner = :owner AND conversation = :id",
    "DELETE FROM push WHERE owner = :owner
       AND delivery IN (SELECT id FROM delivery WHERE owner = :owner AND conversation = :id)",
    "DELETE FROM delivery WHERE owner = :owner AND conversation = :id",
    "DELETE FROM inbound WHERE owner = :owner AND conversation = :id",
    "DELETE FROM call WHERE owner = :owner AND conversation = :id",
    "DELETE FROM message_state WHERE owner = :owner AND conversation = :id",
    "DELETE FROM message WHERE owner = :owner AND conversation = :id",
    "DELETE FROM turn_event WHERE owner = :owner
       AND turn IN (SELECT id FROM turn WHERE owner = :owner AND conversation = :id)",
    "DELETE FROM window_event WHERE owner = :owner AND conversation = :id",
    "DELETE FROM window_snapshot WHERE owner = :owner AND conversation = :id",
    "DELETE FROM goal_event WHERE owner = :owner AND conversation = :id",
    "DELETE FROM setting_event WHERE owner = :owner AND conversation = :id",
    "DELETE FROM skill_choice WHERE owner = :owner AND conversation = :id",
    "DELETE FROM inbox_shown WHERE owner = :owner AND conversation = :id",
    "DELETE FROM raised_label WHERE owner = :owner AND act = 'mine' AND subject = :id",
    "DELETE FROM lease WHERE owner = :owner AND conversation = :id",
    "UPDATE task SET conversation = NULL, revision = revision + 1 WHERE owner = :owner AND conversation = :id",
    "UPDATE request SET turn = NULL WHERE owner = :owner
       AND turn IN (SELECT id FROM turn WHERE owner = :owner AND conversation = :id)",
    "UPDATE request SET conversation = :stands_in, tip = NULL, reply = '', reasoning = '', calls = NULL,
            failure_message = CASE WHEN failure_message IS NULL THEN NULL ELSE '' END
     WHERE owner = :owner AND conversation = :id",
    "DELETE FROM turn WHERE owner = :owner AND conversation = :id",
    "DELETE FROM conversation WHERE owner = :owner AND id = :id",
    "DELETE FROM conversation WHERE owner = :owner AND id = :stands_in
       AND NOT EXISTS (SELECT 1 FROM request WHERE owner = :owner AND conversation = :stands_in)",
];

/// Deletes a conversation and those that its agents worked in; see [`crate::Conversations::delete_conversation`].
pub(super) fn delete(tx: &Tx<'_>, id: &ConversationId, now_ms: i64) -> Outcome<()> {
    let found = find(tx, id)?.filter(|own| own.kind != ConversationKind::Run).ok_or_else(|| missing(id))?;
    let params = named_params! { ":owner": tx.owner, ":id": found.id.as_str(), ":now": now_ms };
    for sql in IN_THE_WAY {
        let mut statement = tx.sql.prepare_cached(sql)?;
        let named = named(&statement, params)?;
        if statement.exists(&named[..])? {
            let why = "Limpid is still at work in this conversation. Stop it or wait until it is done, then delete it.";
            return Err(StoreError::Invalid(why.to_owned()).into());
        }
    }
    let id = found.id.as_str();
    let places = places(tx, id)?;
    for place in &places {
        tx.sql
            .prepare_cached("UPDATE conversation SET gone = 1 WHERE owner = ? AND id = ?")?
            .execute((tx.owner, &place.id))?;
    }
    for sql in AGENTS {
        tx.sql.prepare_cached(sql)?.execute(named_params! { ":owner": tx.owner, ":id": id })?;
    }
    for place in &places {
        let stands_in = stand_in(tx, place)?;
        let params = named_params! { ":owner": tx.owner, ":id": place.id, ":stands_in": stands_in };
        for sql in PARTS {
            let mut statement = tx.sql.prepare_cached(sql)?;
            let named = named(&statement, params)?;
            statement.execute(&named[..])?;
        }
    }
    prune::collect(tx, &mut crate::Pruned::default())
}

/// Those of the parameters that a statement names.
fn named<'p>(statement: &Statement<'_>, all: &[Named<'p>]) -> Outcome<Vec<Named<'p>>> {
    let mut named = Vec::new();
    for one in all {
        if statement.parameter_index(one.0)?.is_some() {
            named.push(*one);
        }
    }
    Ok(named)
}

/// A parameter with its name.
type Named<'p> = (&'p str, &'p dyn ToSql);

/// A conversation that goes.
struct Place {
    id: String,
    /// Whether what it cost counts as work that nobody began.
    in_background: bool,
    strangers: bool,
}

/// The conversation, and the hidden ones of its agents.
fn places(tx: &Tx<'_>, id: &str) -> Outcome<Vec<Place>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT c.id, c.strangers, coalesce(a.in_background, c.kind IN ('task', 'run')) AS in_background
         FROM conversation c LEFT JOIN agent a ON a.owner = c.owner AND a.own = c.id AND a.chat = :id
         WHERE c.owner = :owner AND (c.id = :id OR a.id IS NOT NULL)",
    )?;
    let rows = statement.query_map(named_params! { ":owner": tx.owner, ":id": id }, |row| {
        Ok(Place { id: row.get("id")?, in_background: row.get("in_background")?, strangers: row.get("strangers")? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A row that stands for the conversation where what requests cost is summed, by whose work it was.
fn stand_in(tx: &Tx<'_>, place: &Place) -> Outcome<String> {
    let kind = if place.in_background { ConversationKind::Run } else { ConversationKind::Chat }.as_str();
    let id = format!("deleted-{kind}{}", if place.strangers { "-program" } else { "" });
    tx.sql
        .prepare_cached(
            "INSERT INTO conversation (owner, id, kind, title, profile, strangers, gone, created_ms, updated_ms)
             VALUES (:owner, :id, :kind, '', '', :strangers, 1, 0, 0) ON CONFLICT (owner, id) DO NOTHING",
        )?
        .execute(named_params! { ":owner": tx.owner, ":id": id, ":kind": kind, ":strangers": place.strangers })?;
    Ok(id)
}
