//! MEA-19: what a turn of plain chat adds to the database.

use std::path::Path;
use std::sync::Arc;

use limpid_model::{Model, ModelCall};
use limpid_runtime::{Agent, AgentOptions, Config, ConversationChoice, Home};
use limpid_testkit::{Said, Talker};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value, json};

use super::Table;
use super::bench::say;
use super::growth::card;
use super::program::block_on;

/// What is measured.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Database {
    /// Turns of each row
    #[arg(long, default_value_t = FULL, value_name = "N")]
    turns: u32,
}

/// Turns of the full measure; fewer write no page.
const FULL: u32 = 1_000;

/// Turns of a short conversation.
const SHORT: u32 = 20;

const QUESTION: &str = "I think of repainting the hall this weekend; which of the two greens would you take?";
const ANSWER: &str = "The lighter one. The hall has no window, and a dark green would swallow what comes from the kitchen \
                      in the evening. Paint one square metre first and look at it with the lamp on before you buy the rest.";

/// Takes the measure: its table, its numbers for programs, and whether it is large enough for a page.
pub(crate) fn measure(database: Database) -> Result<(Table, Value, bool), String> {
    let turns = database.turns.max(1);
    let mut rows = Vec::new();
    let mut answer = Map::new();
    for (name, length) in [("one conversation", turns), ("conversations of 20 turns", SHORT)] {
        let size = block_on(run(turns, length))?;
        let a_turn = |bytes: i64| format!("{:.1}", bytes as f64 / 1000.0 / f64::from(turns));
        rows.push(vec![
            name.to_owned(),
            a_turn(size.file),
            a_turn(size.messages),
            a_turn(size.file - size.messages - size.empty),
        ]);
        answer.insert(
            name.to_owned(),
            json!({
                "file": size.file, "empty": size.empty, "messages": size.messages, "turns": turns,
                "tables": size.tables.iter().map(|(name, bytes)| json!({ "name": name, "bytes": bytes })).collect::<Vec<_>>(),
            }),
        );
    }
    let table = Table {
        title: "MEA-19 Growth of the database",
        how: format!(
            "{turns} turns of plain chat with the default profile, a store on disk and a model in this process that answers \
             {} bytes to {}. KB a turn of the file after its log was taken over; the last column is without the texts of \
             the messages and without what an empty database has. `--json` lists the bytes of every table and index.",
            ANSWER.len(),
            QUESTION.len()
        ),
        target: "≤ 6 KB a turn beside the messages' own bytes",
        head: vec!["", "file", "messages", "beside them"],
        rows,
    };
    Ok((table, Value::Object(answer), turns >= FULL))
}

/// Bytes of a database.
struct Size {
    /// The file, with all that its log held.
    file: i64,
    /// The file before the first turn.
    empty: i64,
    /// The texts of all messages.
    messages: i64,
    /// Every table and index, the largest first.
    tables: Vec<(String, i64)>,
}

async fn run(turns: u32, length: u32) -> Result<Size, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let home = Home::new(folder.path());
    drop(open(&home)?);
    let empty = taken_over(&home.database())?;
    let agent = open(&home)?;
    for turn in 0..turns {
        let conversation = if turn % length == 0 { ConversationChoice::New } else { ConversationChoice::Last };
        say(&agent, conversation, &format!("{QUESTION} ({turn})")).await?;
    }
    drop(agent);
    let file = taken_over(&home.database())?;
    let (messages, tables) = look(&home.database()).map_err(|error| error.to_string())?;
    Ok(Size { file, empty, messages, tables })
}

fn open(home: &Home) -> Result<Agent, String> {
    let talker = Arc::new(Talker::new(card(), |_: &ModelCall| Said::Text(ANSWER.to_owned())));
    Agent::open(AgentOptions {
        config: Config::parse("", "limpid.toml").map_err(|error| error.to_string())?,
        model: Some(talker as Arc<dyn Model>),
        ..AgentOptions::new(home.clone())
    })
    .map_err(|error| error.to_string())
}

/// Bytes of the file once the log is empty.
fn taken_over(database: &Path) -> Result<i64, String> {
    let connection = Connection::open(database).map_err(|error| error.to_string())?;
    let busy: i64 = connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        .map_err(|error| error.to_string())?;
    if busy != 0 {
        return Err("the database is still in use, so its log cannot be taken over".to_owned());
    }
    drop(connection);
    let data = std::fs::metadata(database).map_err(|error| error.to_string())?;
    i64::try_from(data.len()).map_err(|error| error.to_string())
}

fn look(database: &Path) -> rusqlite::Result<(i64, Vec<(String, i64)>)> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let messages = connection.query_row("SELECT sum(length(CAST(text AS BLOB))) FROM message", [], |row| row.get(0))?;
    let mut tables =
        connection.prepare("SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY bytes DESC")?;
    let tables = tables.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
    Ok((messages, tables))
}
