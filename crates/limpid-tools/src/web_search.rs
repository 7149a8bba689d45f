//! `web_search`: hits of the engine that the owner chose.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use limpid_core::policy::{Destination, Effect};
use limpid_core::{Labelled, Sentence, ToolClass, sentence};
use limpid_formats::Parser;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::search::{Hit, SearchEngine};
use crate::web::TIME;
use crate::{Tool, ToolContext, read_arguments, schema_of};

/// Hits that are returned at the least, usually and at most.
const COUNT: (usize, usize, usize) = (1, 5, 10);

/// How long the hits may take to be parsed, with a moment for everything else.
const PARSING: Duration = Duration::from_secs(11);

/// Searches the web.
#[derive(Clone)]
pub struct WebSearch {
    engine: Arc<dyn SearchEngine>,
    parser: Parser,
}

impl WebSearch {
    /// The tool over an engine, whose hits this parser parses.
    pub fn new(engine: Arc<dyn SearchEngine>, parser: Parser) -> Self {
        Self { engine, parser }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    query: String,
    count: Option<usize>,
}

#[async_trait]
impl Tool for WebSearch {
    fn name(&self) -> &'static str {
        "web_search"
    }

    fn group(&self) -> &'static str {
        "web"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Search
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn is_public(&self) -> bool {
        true
    }

    fn destination(&self, _: &Value) -> Option<Destination> {
        Some(Destination::host(&self.engine.host()))
    }

    fn timeout(&self) -> Option<Duration> {
        Some(TIME + PARSING)
    }

    async fn run(&self, _: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { query, count } = read_arguments(arguments)?;
        let count = count.unwrap_or(COUNT.1);
        if query.trim().is_empty() {
            return Err("`query` must not be blank".into());
        }
        if !(COUNT.0..=COUNT.2).contains(&count) {
            return Err(sentence!("`count` is {} to {}", COUNT.0, COUNT.2));
        }
        let name = self.engine.name();
        let hits = self.engine.search(query.trim(), count).await;
        let hits =
            hits.map_err(|why| sentence!("the search itself failed, so there may be hits: {}: {}", name, why))?;
        if hits.is_empty() {
            return Ok(sentence!("no hits at {} for this query", name).into());
        }
        let pieces = hits.iter().flat_map(|hit| [hit.title.clone(), hit.snippet.clone()]).collect();
        let read = self.parser.lines(pieces).await;
        let read = read
            .map_err(|broken| sentence!("what {} answered cannot be read: {}; try other words", name, broken.why()))?;
        let mut read = read.into_iter();
        let mut next = || read.next().unwrap_or_default();
        let hits: Vec<Hit> = hits.into_iter().map(|hit| Hit { title: next(), snippet: next(), ..hit }).collect();
        let line = |(at, hit): (usize, &Hit)| {
            let snippet = if hit.snippet.is_empty() { String::new() } else { format!("\n   {}", hit.snippet) };
            format!("{}. {}\n   {}{snippet}", at + 1, hit.title, hit.url)
        };
        Ok(Labelled::outside(hits.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")))
    }
}
