//! Where the present content of a memory comes from, read from its events.

use limpid_core::{ConversationId, MemoryId};
use rusqlite::{Row, named_params};

use super::Tx;
use super::failure::Outcome;
use super::row::{self, Read, get, parsed};
use crate::{Author, Provenance};

/// The provenance of each memory that has one.
pub(super) fn of(tx: &Tx<'_>, ids: &[MemoryId]) -> Outcome<Vec<(MemoryId, Provenance)>> {
    // What was said outweighs what was inferred in the same words; of equals the last one counts.
    let mut statement = tx.sql.prepare_cached(
        "SELECT e.author, e.source, e.at_ms, t.conversation
         FROM memory m
         JOIN memory_event e ON e.owner = m.owner AND e.memory = m.id
         LEFT JOIN turn t ON t.owner = e.owner AND e.source LIKE 'turn:%'
              -- Where the model says it comes from may stand behind the turn.
              AND t.id = substr(e.source, 6, instr(e.source || ' ', ' ') - 6)
         WHERE m.owner = :owner AND m.id = :memory AND e.author IS NOT NULL
           AND json_extract(e.after, '$.content') = m.content
         ORDER BY e.author = 'said' DESC, e.id DESC LIMIT 1",
    )?;
    let mut found = Vec::new();
    for id in ids {
        let params = named_params! { ":owner": tx.owner, ":memory": id.0 };
        let row = row::one(&mut statement, params, "memory event", &id.to_string(), provenance)?;
        found.extend(row.map(|provenance| (*id, provenance)));
    }
    Ok(found)
}

fn provenance(row: &Row<'_>) -> Read<Provenance> {
    Ok(Provenance {
        author: parsed(row, "author", Author::parse)?,
        source: get(row, "source")?,
        conversation: get::<Option<String>>(row, "conversation")?.map(ConversationId::new),
        at_ms: get(row, "at_ms")?,
    })
}
