//! `check_…`, `read_…` and `search_…` of text messages and notifications. What strangers wrote is theirs in results too.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::tz::TimeZone;
use limpid_core::ToolClass;
use limpid_core::inbox::Source;
use limpid_store::{InboxItem, ItemFilter, Store};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{group, item_id, line, moment};
use crate::tools::{Tool, ToolContext, ToolText, read_arguments, schema_of};

/// Items that a list shows.
const SHOWN: usize = 20;

/// Lists what nobody has seen.
pub(super) struct Check {
    pub(super) store: Arc<dyn Store>,
    pub(super) source: Source,
}

/// Reads one item whole.
pub(super) struct Read {
    pub(super) store: Arc<dyn Store>,
    pub(super) source: Source,
}

/// Finds items by words.
pub(super) struct Search {
    pub(super) store: Arc<dyn Store>,
    pub(super) source: Source,
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

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Nothing>()
    }

    /// What was listed once is not listed again.
    fn is_repeatable(&self) -> bool {
        false
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<ToolText, String> {
        let Nothing {} = read_arguments(arguments)?;
        let filter = ItemFilter { source: Some(self.source), unseen: true, ..ItemFilter::default() };
        let new = self.store.items(filter).await.map_err(|error| error.to_string())?.rows;
        let listed = listed(&new, &context.zone);
        let ids: Vec<_> = new.iter().take(SHOWN).map(|item| item.id).collect();
        self.store.mark_shown(&ids, context.now_ms()).await.map_err(|error| error.to_string())?;
        Ok(listed.unwrap_or_else(|| ToolText::own("nothing new")))
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

    fn schema(&self) -> Map<String, Value> {
        schema_of::<One>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<ToolText, String> {
        let One { id } = read_arguments(arguments)?;
        let found = self.store.item(item_id(&id)?).await.map_err(|error| error.to_string())?;
        let Some(item) = found.filter(|item| item.new.source == self.source) else {
            return Err(format!("there is no {} {id}", self.source));
        };
        self.store.mark_shown(&[item.id], context.now_ms()).await.map_err(|error| error.to_string())?;
        let new = &item.new;
        let head = [("from", &new.sender), ("title", &new.title)].into_iter().filter(|(_, text)| !text.is_empty());
        let mut lines: Vec<String> = head.map(|(name, text)| format!("{name}: {text}")).collect();
        lines.push(format!("at: {}", moment(new.posted_ms, &context.zone)));
        Ok(ToolText::outside(format!("{}\n\n{}", lines.join("\n"), new.text)))
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

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Words>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<ToolText, String> {
        let Words { query } = read_arguments(arguments)?;
        if query.trim().is_empty() {
            return Err("the query has no word to search for".to_owned());
        }
        let filter = ItemFilter { source: Some(self.source), query: Some(query), ..ItemFilter::default() };
        let found = self.store.items(filter).await.map_err(|error| error.to_string())?.rows;
        Ok(listed(&found, &context.zone).unwrap_or_else(|| ToolText::own("nothing has all of these words")))
    }
}

/// Items in one line each, newest first; none of an empty list.
fn listed(items: &[InboxItem], zone: &TimeZone) -> Option<ToolText> {
    let mut lines: Vec<String> = items.iter().take(SHOWN).map(|item| line(item, zone)).collect();
    if lines.is_empty() {
        return None;
    }
    if items.len() > SHOWN {
        lines.push(format!("({} more)", items.len() - SHOWN));
    }
    Some(ToolText::outside(lines.join("\n")))
}
