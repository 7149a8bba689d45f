//! `memory`.

use limpid_core::{Category, Memory};
use limpid_runtime::Agent;
use limpid_store::{Listed, MemoryRef};
use serde::Serialize;

use crate::cli::MemoryCommand;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `memory …`; no model is asked.
///
/// # Errors
/// When a key or category does not exist, or the store fails.
pub async fn run(agent: &Agent, command: &MemoryCommand) -> Result<(), Failure> {
    match command {
        MemoryCommand::List { category, json } => {
            let category = category.as_deref().map(read_category).transpose()?;
            let Listed { rows, broken } = agent.store().memories(category).await?;
            print(&rows, *json)?;
            super::tell_broken(&broken);
            Ok(())
        }
        MemoryCommand::Search { words, limit, json } => {
            let found = agent.recall(&words.join(" "), *limit).await?;
            print(&found, *json)
        }
        MemoryCommand::Add { key, content, category } => {
            let stored = agent.remember(key, content, read_category(category)?, "command line").await?;
            output::tell(if stored.fresh { "Kept." } else { "Written anew; its category, hits and age stay." });
            Ok(())
        }
        MemoryCommand::Pin { key } => {
            agent.pin(&by_key(key), true).await?;
            output::tell(
                "Pinned: it stands in every prompt from the next conversation on, and at the end of the next message until then.",
            );
            Ok(())
        }
        MemoryCommand::Unpin { key } => {
            agent.pin(&by_key(key), false).await?;
            output::tell("No longer pinned; search still finds it.");
            Ok(())
        }
        MemoryCommand::Forget { key } => {
            agent.forget(&by_key(key)).await?;
            output::tell("Forgotten.");
            Ok(())
        }
    }
}

#[derive(Serialize)]
struct Row<'a> {
    id: i64,
    key: &'a str,
    content: &'a str,
    category: &'static str,
    hits: u32,
    score: i32,
    pinned: bool,
    trust: &'static str,
    created_ms: i64,
    updated_ms: i64,
}

fn print(memories: &[Memory], json: bool) -> Result<(), Failure> {
    if json {
        let rows: Vec<Row<'_>> = memories.iter().map(row).collect();
        return output::json("memories", &rows);
    }
    if memories.is_empty() {
        output::tell("Nothing.");
        return Ok(());
    }
    let rows: Vec<Vec<String>> = memories
        .iter()
        .map(|memory| {
            let pin = if memory.pinned { "pinned" } else { "" };
            let content = memory.content.split_whitespace().collect::<Vec<_>>().join(" ");
            vec![memory.category.to_string(), memory.key.clone(), memory.hits.to_string(), pin.to_owned(), content]
        })
        .collect();
    output::line(&output::table(&["category", "key", "hits", "", "content"], &rows))
}

fn row(memory: &Memory) -> Row<'_> {
    Row {
        id: memory.id.0,
        key: &memory.key,
        content: &memory.content,
        category: memory.category.as_str(),
        hits: memory.hits,
        score: memory.score,
        pinned: memory.pinned,
        trust: memory.trust.as_str(),
        created_ms: memory.created_ms,
        updated_ms: memory.updated_ms,
    }
}

fn by_key(key: &str) -> MemoryRef {
    MemoryRef::Key(key.to_owned())
}

fn read_category(word: &str) -> Result<Category, Failure> {
    word.parse().map_err(|error| Failure::new(ExitStatus::Usage, error))
}
