//! `read_file`: the text of a file, or some of its lines.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass, sentence};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::call::{blocking, path_argument};
use super::folder::Opened;
use super::grants::Grants;
use crate::{PathArgument, Tool, ToolContext, read_arguments, schema_of};

/// Reads a file of a granted folder.
#[derive(Clone, Debug)]
pub struct ReadFile {
    grants: Arc<Grants>,
}

impl ReadFile {
    /// The tool over these folders.
    pub fn new(grants: Arc<Grants>) -> Self {
        Self { grants }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    offset: Option<u32>,
    limit: Option<u32>,
}

#[async_trait]
impl Tool for ReadFile {
    fn name(&self) -> &'static str {
        "read_file"
    }

    fn group(&self) -> &'static str {
        "files"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Look
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn paths(&self, arguments: &Value) -> Vec<PathArgument> {
        path_argument(&self.grants, arguments, false, None)
    }

    async fn run(&self, _: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { path, offset, limit } = read_arguments(arguments)?;
        let grants = Arc::clone(&self.grants);
        blocking(move || {
            let place = grants.place(&path)?;
            let trust = place.root.trust;
            let text = Opened::new(&grants, place)?.text()?;
            let text = if offset.is_none() && limit.is_none() { text } else { lines(&text, offset, limit)? };
            Ok(Labelled::new(text, trust))
        })
        .await
    }
}

/// Some lines of a text, with a last line that says which ones when there are more behind them.
fn lines(text: &str, offset: Option<u32>, limit: Option<u32>) -> Result<String, Sentence> {
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    let first = offset.unwrap_or(1).max(1) as usize;
    if first > all.len().max(1) {
        return Err(sentence!("`offset` is {}, but the file has {} lines", first, all.len()));
    }
    let rest = all.get(first - 1..).unwrap_or_default();
    let count = limit.map_or(rest.len(), |limit| rest.len().min(limit as usize));
    let mut some = rest[..count].concat();
    if count < rest.len() {
        if !some.is_empty() && !some.ends_with('\n') {
            some.push('\n');
        }
        some.push_str(&format!("[{count} lines from line {first}, of {}]", all.len()));
    }
    Ok(some)
}
