//! `search_history` and `read_history`: what compaction took out of the window is found and read again (LES-070).

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::recall::query_words;
use limpid_core::{MessageId, ToolClass, Trust};
use limpid_store::{Store, StoredMessage};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Tool, ToolContext, ToolParts, ToolText, read_arguments, schema_of};

/// Messages that a search returns.
const FOUND: u32 = 8;

/// Characters of a message that a search shows.
const SHOWN: usize = 300;

/// Messages that are read at once.
const READ: usize = 40;

/// The tools of this file.
pub(super) fn tools(parts: &ToolParts<'_>) -> Vec<Arc<dyn Tool>> {
    let store = || Arc::clone(parts.store);
    vec![Arc::new(SearchHistory { store: store() }), Arc::new(ReadHistory { store: store() })]
}

/// Finds earlier messages of the conversation by words.
struct SearchHistory {
    store: Arc<dyn Store>,
}

/// Reads earlier messages of the conversation.
struct ReadHistory {
    store: Arc<dyn Store>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Read {
    from: i64,
    to: i64,
}

#[async_trait]
impl Tool for SearchHistory {
    fn name(&self) -> &'static str {
        "search_history"
    }

    fn group(&self) -> &'static str {
        "history"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Search>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<ToolText, String> {
        let Search { query } = read_arguments(arguments)?;
        let words = query_words(&query);
        if words.is_empty() {
            return Err("the query has no word to search for".to_owned());
        }
        let found = self.store.search_messages(&context.conversation, &words, FOUND).await;
        let mut rows = found.map_err(|error| error.to_string())?.rows;
        rows.retain(|row| row.turn != context.turn);
        if rows.is_empty() {
            return Ok(ToolText::own(format!("no earlier message holds any of: {}", words.join(", "))));
        }
        rows.sort_by_key(|row| row.id);
        Ok(listed(&rows, SHOWN))
    }
}

#[async_trait]
impl Tool for ReadHistory {
    fn name(&self) -> &'static str {
        "read_history"
    }

    fn group(&self) -> &'static str {
        "history"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Read>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<ToolText, String> {
        let Read { from, to } = read_arguments(arguments)?;
        let after = MessageId(from.saturating_sub(1));
        let found = self.store.messages(&context.conversation, Some(after)).await;
        let mut rows = found.map_err(|error| error.to_string())?.rows;
        rows.retain(|row| row.id.0 <= to && row.turn != context.turn);
        if rows.is_empty() {
            return Err(format!(
                "this conversation has no earlier message from {from} to {to}; search_history shows numbers"
            ));
        }
        rows.truncate(READ);
        Ok(listed(&rows, usize::MAX))
    }
}

/// Messages with their numbers, each with at most so many characters.
fn listed(rows: &[StoredMessage], limit: usize) -> ToolText {
    let line = |row: &StoredMessage| {
        let text = row.typed.as_deref().unwrap_or(&row.message.text);
        let calls: Vec<&str> = row.message.calls.iter().map(|call| call.name.as_str()).collect();
        let called = if calls.is_empty() { String::new() } else { format!(" (called {})", calls.join(", ")) };
        let shown = limpid_turn::result::keep_both_ends(text, limit);
        format!("[message {}] {}{called}: {shown}", row.id, row.message.role)
    };
    ToolText {
        text: rows.iter().map(line).collect::<Vec<_>>().join("\n"),
        trust: rows.iter().fold(Trust::Owner, |trust, row| trust.join(row.message.trust)),
    }
}
