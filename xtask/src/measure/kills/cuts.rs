//! What was under way when the last process was killed, read from its store before anybody carries it on.

use std::path::Path;

use limpid_runtime::Home;
use rusqlite::{Connection, OpenFlags};

/// What a store may hold that was begun and has not ended, each with words for it.
const UNDER_WAY: [&str; 5] = [
    "SELECT CASE WHEN path = 'task' THEN 'task' WHEN path = 'heartbeat' THEN 'heartbeat' ELSE 'chat' END || ' turn, after '
         || coalesce((SELECT kind FROM turn_event AS event
                      WHERE event.owner = turn.owner AND event.turn = turn.id ORDER BY seq DESC LIMIT 1), 'nothing')
     FROM turn WHERE outcome IS NULL",
    "SELECT 'run of a task, ' || kind FROM task_run JOIN task ON task.id = task_run.task WHERE ended_ms IS NULL",
    "SELECT 'run of the heartbeat' FROM heartbeat WHERE run_key IS NOT NULL",
    "SELECT 'draft, ' || state FROM draft_event AS step
     WHERE state IN ('approved', 'sending') AND id = (SELECT max(id) FROM draft_event
                                                            WHERE owner = step.owner AND draft = step.draft)",
    "SELECT 'delivery' FROM delivery WHERE settled_ms IS NULL",
];

/// What was under way, in words.
pub(super) fn read(home: &Path) -> Result<Vec<String>, String> {
    let failed = |error: rusqlite::Error| format!("what was cut: {error}");
    let file = Home::new(home).database();
    // Whoever only reads leaves the file as the killed process left it.
    let sql = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
    let mut found = Vec::new();
    for query in UNDER_WAY {
        let mut statement = sql.prepare(query).map_err(failed)?;
        let rows = statement.query_map([], |row| row.get(0)).map_err(failed)?;
        found.extend(rows.collect::<Result<Vec<String>, _>>().map_err(failed)?);
    }
    Ok(found)
}
