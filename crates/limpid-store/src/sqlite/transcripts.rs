//! Transcripts of runs that are no longer in a log. What people said is never deleted; the table of messages sees to it.

use rusqlite::named_params;

use super::Tx;
use super::failure::{Outcome, is_orphan};

/// What a transcript consists of, in an order in which nothing refers to a row that is gone.
const PARTS: [&str; 11] = [
    "DELETE FROM planned_need WHERE task IN (SELECT p.id FROM planned_task p WHERE p.owner = :owner AND p.chat = :conversation
       AND NOT EXISTS (SELECT 1 FROM planned_task q JOIN agent a ON a.planned = q.id
                       WHERE q.owner = p.owner AND q.turn = p.turn AND q.call = p.call))",
    "DELETE FROM planned_task WHERE owner = :owner AND chat = :conversation
       AND NOT EXISTS (SELECT 1 FROM planned_task q JOIN agent a ON a.planned = q.id
                       WHERE q.owner = planned_task.owner AND q.turn = planned_task.turn AND q.call = planned_task.call)",
    "DELETE FROM inbound WHERE owner = :owner AND conversation = :conversation",
    "DELETE FROM call WHERE owner = :owner AND conversation = :conversation",
    "DELETE FROM message_state WHERE owner = :owner AND conversation = :conversation",
    "DELETE FROM message WHERE owner = :owner AND conversation = :conversation",
    "DELETE FROM turn_event WHERE owner = :owner
       AND turn IN (SELECT id FROM turn WHERE owner = :owner AND conversation = :conversation)",
    "DELETE FROM window_event WHERE owner = :owner AND conversation = :conversation",
    "DELETE FROM window_snapshot WHERE owner = :owner AND conversation = :conversation",
    "DELETE FROM lease WHERE owner = :owner AND conversation = :conversation",
    "UPDATE conversation SET messages = 0, session = NULL WHERE owner = :owner AND id = :conversation",
];

/// Deletes the transcript of a run. The rows of its conversation and turn stay while a logged request or a draft
/// names them.
pub(super) fn forget(tx: &Tx<'_>, conversation: &str) -> Outcome<()> {
    let is_run = tx
        .sql
        .prepare_cached(
            "SELECT 1 FROM conversation WHERE owner = ?1 AND id = ?2 AND kind = 'run'
               AND NOT EXISTS (SELECT 1 FROM turn WHERE owner = ?1 AND conversation = ?2 AND outcome IS NULL)",
        )?
        .exists((tx.owner, conversation))?;
    if !is_run {
        return Ok(());
    }
    for part in PARTS {
        tx.sql.prepare_cached(part)?.execute(named_params! { ":owner": tx.owner, ":conversation": conversation })?;
    }
    forget_shell(tx, conversation)
}

/// Deletes what is left of forgotten transcripts once nothing names it any more. A conversation that has a lease, even one that was
/// given back, was not forgotten: in that of the clients a turn begins and ends before the agent is kept that it is for.
pub(super) fn forget_shells(tx: &Tx<'_>) -> Outcome<()> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT c.id FROM conversation c WHERE c.owner = :owner AND c.kind = 'run' AND c.messages = 0
           AND NOT EXISTS (SELECT 1 FROM lease l WHERE l.owner = c.owner AND l.conversation = c.id)
           AND NOT EXISTS (SELECT 1 FROM inbound i WHERE i.owner = c.owner AND i.conversation = c.id)
           AND NOT EXISTS (SELECT 1 FROM request r WHERE r.owner = c.owner AND r.conversation = c.id)
           AND EXISTS (SELECT 1 FROM turn t WHERE t.owner = c.owner AND t.conversation = c.id)
           AND NOT EXISTS (SELECT 1 FROM turn t WHERE t.owner = c.owner AND t.conversation = c.id
                           AND t.outcome IS NULL)",
    )?;
    let shells = statement.query_map(named_params! { ":owner": tx.owner }, |row| row.get::<_, String>(0))?;
    for conversation in shells.collect::<Result<Vec<_>, _>>()? {
        forget_shell(tx, &conversation)?;
    }
    Ok(())
}

/// Deletes the rows of a conversation and its turns, unless something refers to them.
fn forget_shell(tx: &Tx<'_>, conversation: &str) -> Outcome<()> {
    for sql in
        ["DELETE FROM turn WHERE owner = ? AND conversation = ?", "DELETE FROM conversation WHERE owner = ? AND id = ?"]
    {
        match tx.sql.prepare_cached(sql)?.execute((tx.owner, conversation)) {
            Ok(_) => {}
            // Something still names it.
            Err(error) if is_orphan(&error) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
