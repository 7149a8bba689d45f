//! `check_…`, `read_…` and `search_…` of text messages and notifications. What strangers wrote is theirs in results too.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::tz::TimeZone;
use limpid_core::inbox::Source;
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass, sentence};
use limpid_store::{InboxItem, ItemFilter, Store};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::inbox::tools::{fitting, group, in_words, item_id, line, list_room, moment};
use crate::tools::{Concerned, Tool, ToolContext, echoed, read_arguments, schema_of, trouble};

/// Items that a list shows.
const SHOWN: usize = 20;

/// Items that are counted beside those that a list shows; of more it says only that there are.
const COUNTED: usize = 1_000;

/// Lists what nobody has seen.
pub(crate) struct Check {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) source: Source,
    /// Characters of a result that the model gets to read.
    pub(crate) result_chars: usize,
}

/// Reads one item whole.
pub(crate) struct Read {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) source: Source,
}

/// Finds items by words.
pub(crate) struct Search {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) source: Source,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct One {
    id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Words {
    query: String,
}

#[async_trait]
impl Tool for Check {
    fn name(&self) -> &'static str {
        if self.source == Source::Sms { "check_sms" } else { "check_notifications" }
    }

    fn group(&self) -> &'static str {
        group(self.source)
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Look
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Nothing>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Nothing {} = read_arguments(arguments)?;
        let filter = ItemFilter {
            source: Some(self.source),
            unseen: true,
            not_shown_in: Some(context.turn.clone()),
            limit: COUNTED + 1,
            ..ItemFilter::default()
        };
        let new = self.store.items(filter).await.map_err(trouble)?.rows;
        let room = list_room(context, self.result_chars);
        let Listed { text, shown } = listed(&new, &context.zone, room);
        context.shown.add(new[..shown].iter().map(|item| item.id.0));
        Ok(if new.is_empty() { Sentence::from("nothing new").into() } else { Labelled::outside(text) })
    }
}

#[async_trait]
impl Tool for Read {
    fn name(&self) -> &'static str {
        if self.source == Source::Sms { "read_sms" } else { "read_notification" }
    }

    fn group(&self) -> &'static str {
        group(self.source)
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Look
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<One>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn is_steady(&self, _: &Value) -> bool {
        true
    }

    fn canonical(&self, arguments: &Value) -> Value {
        let id = item_id(arguments["id"].as_str().unwrap_or_default());
        id.map_or_else(|_| arguments.clone(), |id| json!({ "id": format!("i{}", id.0) }))
    }

    async fn concerns(&self, arguments: &Value, _: Option<&ConversationId>) -> Concerned {
        Concerned::found(in_words(&*self.store, self.source, arguments).await, "there is no such message")
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let One { id } = read_arguments(arguments)?;
        let found = self.store.item(item_id(&id)?).await.map_err(trouble)?;
        let Some(item) = found.filter(|item| item.new.source == self.source) else {
            return Err(sentence!("there is no {} {}", echoed(self.source), echoed(id)));
        };
        context.shown.add([item.id.0]);
        let new = &item.new;
        let head = [("from", &new.sender), ("title", &new.title)].into_iter().filter(|(_, text)| !text.is_empty());
        let mut lines: Vec<String> = head.map(|(name, text)| format!("{name}: {text}")).collect();
        lines.push(format!("at: {}", moment(new.posted_ms, &context.zone)));
        Ok(Labelled::outside(format!("{}\n\n{}", lines.join("\n"), new.text)))
    }
}

#[async_trait]
impl Tool for Search {
    fn name(&self) -> &'static str {
        if self.source == Source::Sms { "search_sms" } else { "search_notifications" }
    }

    fn group(&self) -> &'static str {
        group(self.source)
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Look
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Words>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn is_steady(&self, _: &Value) -> bool {
        true
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Words { query } = read_arguments(arguments)?;
        if query.trim().is_empty() {
            return Err("the query has no word to search for".into());
        }
        let (source, query) = (Some(self.source), Some(query));
        let filter = ItemFilter { source, query, limit: COUNTED + 1, ..ItemFilter::default() };
        let found = self.store.items(filter).await.map_err(trouble)?.rows;
        if found.is_empty() {
            return Ok(Sentence::from("nothing has all of these words").into());
        }
        Ok(Labelled::outside(listed(&found, &context.zone, usize::MAX).text))
    }
}

/// A list of items, and how many of them stand in it.
struct Listed {
    text: String,
    shown: usize,
}

/// Items in one line each, newest first, as many as have room.
fn listed(items: &[InboxItem], zone: &TimeZone, room: usize) -> Listed {
    let mut lines: Vec<String> = items.iter().take(SHOWN).map(|item| line(item, zone)).collect();
    lines.truncate(fitting(&lines, room));
    let shown = lines.len();
    match items.len() {
        all if all > COUNTED => lines.push(format!("(more than {} more)", COUNTED - shown)),
        all if all > shown => lines.push(format!("({} more)", all - shown)),
        _ => {}
    }
    Listed { text: lines.join("\n"), shown }
}
