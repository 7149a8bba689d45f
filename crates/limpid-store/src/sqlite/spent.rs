//! What requests have used, and whose text began the work that they are for.

use limpid_core::{Money, TurnId};
use rusqlite::{OptionalExtension as _, named_params};

use super::Tx;
use super::failure::Outcome;
use crate::SpentRow;

/// Whether a stranger's text began the work in a conversation (`c`, and `a` if it is an agent's) of a request or a turn (`r`): that of
/// guests, of agents that such a text had a part in, the look at what came in (as the heartbeat names its runs for that), and a task that
/// such a text led to. What the owner's own work reads later began nothing, so what an agent came back with goes by whatever its tree
/// began with.
macro_rules! by_strangers {
    () => {
        "coalesce(c.strangers, 0) OR coalesce(a.by_strangers, c.kind = 'run' AND (
           c.id GLOB 'run-heartbeat-*-news' OR c.id GLOB 'run-heartbeat-*-probe'
           OR EXISTS (SELECT 1 FROM inbound i LEFT JOIN agent back ON back.id = i.agent
                      JOIN inbound first ON first.owner = i.owner AND first.turn = coalesce(back.root, i.turn)
                      WHERE i.owner = r.owner AND i.turn = r.turn AND first.agent IS NULL
                        AND first.trust IN ('guest', 'outside'))), 0)"
    };
}

/// The agent that worked in the conversation of a request or a turn (`r`): where one goes on, the newest of then.
macro_rules! agent_of_then {
    () => {
        "LEFT JOIN agent a ON a.id = (SELECT id FROM agent
            WHERE owner = r.owner AND coalesce(works_in, own) = r.conversation
            ORDER BY made_ms <= r.sent_ms DESC, iif(made_ms <= r.sent_ms, id, -id) DESC LIMIT 1)"
    };
}

/// The conversations' kinds are spelled out for SQLite: those that nobody begins, but for agents of chats; those of strangers are none of the owner's.
const SPENT: &str = concat!(
    "SELECT r.path AS path, coalesce(c.strangers, 0) OR coalesce(a.in_background, c.kind IN ('task', 'run'), 0)
            AS in_background, ",
    by_strangers!(),
    " AS by_strangers,
        total(coalesce(input, estimate, 0)) + total(coalesce(output, 0)) AS tokens, total(cost) AS money
    FROM request r LEFT JOIN conversation c ON c.owner = r.owner AND c.id = r.conversation ",
    agent_of_then!(),
    " WHERE r.owner = :owner AND r.sent_ms >= :since AND (:turn IS NULL OR r.turn = :turn)
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
);

const BEGUN: &str = concat!(
    "SELECT ",
    by_strangers!(),
    " FROM (SELECT owner, conversation, id AS turn, 9223372036854775807 AS sent_ms FROM turn
            WHERE owner = :owner AND id = :turn) r
         LEFT JOIN conversation c ON c.owner = r.owner AND c.id = r.conversation ",
    agent_of_then!()
);

/// See [`crate::RequestLog::spent`].
pub(super) fn spent(tx: &Tx<'_>, since_ms: i64, turn: Option<&TurnId>) -> Outcome<Vec<SpentRow>> {
    let mut statement = tx.sql.prepare_cached(SPENT)?;
    let params = named_params! { ":owner": tx.owner, ":since": since_ms, ":turn": turn.map(TurnId::as_str) };
    let rows = statement.query_map(params, |row| {
        Ok(SpentRow {
            path: row.get("path")?,
            in_background: row.get("in_background")?,
            by_strangers: row.get("by_strangers")?,
            tokens: row.get::<_, f64>("tokens")? as u64,
            money: Money(row.get::<_, f64>("money")? as u64),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// See [`crate::RequestLog::begun_by_strangers`].
pub(super) fn begun_by_strangers(tx: &Tx<'_>, turn: &TurnId) -> Outcome<bool> {
    let mut statement = tx.sql.prepare_cached(BEGUN)?;
    let params = named_params! { ":owner": tx.owner, ":turn": turn.as_str() };
    Ok(statement.query_row(params, |row| row.get(0)).optional()?.unwrap_or_default())
}
