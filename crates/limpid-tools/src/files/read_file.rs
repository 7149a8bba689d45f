//! `read_file`: the text of a file, or some of its lines.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass, sentence};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::call::{blocking, path_argument};
use super::folder::Opened;
use super::grants::Grants;
use crate::{Concerned, PathArgument, Tool, ToolContext, read_arguments, schema_of};

/// Texts that are no files and are read as such: their names begin with a word of their own and a colon.
#[async_trait]
pub trait NamedTexts: Send + Sync {
    /// What of a path names such a text; none: the path is a file's.
    fn name<'p>(&self, path: &'p str) -> Option<&'p str>;

    /// The text of a name.
    ///
    /// # Errors
    /// A sentence that says why it cannot be read.
    async fn text(&self, context: &ToolContext, name: &str) -> Result<Labelled<String>, Sentence>;

    /// What the text of a name is, for whoever is asked whether it may be read in a conversation.
    async fn in_words(&self, name: &str, conversation: Option<&ConversationId>) -> String;
}

/// Reads a file of a granted folder, or a text with a name.
#[derive(Clone)]
pub struct ReadFile {
    grants: Arc<Grants>,
    named: Option<Arc<dyn NamedTexts>>,
}

impl ReadFile {
    /// The tool over these folders, and these texts besides.
    pub fn new(grants: Arc<Grants>, named: Option<Arc<dyn NamedTexts>>) -> Self {
        Self { grants, named }
    }

    fn name<'p>(&self, path: &'p str) -> Option<(&Arc<dyn NamedTexts>, &'p str)> {
        let named = self.named.as_ref()?;
        Some((named, named.name(path)?))
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
        let path = arguments.get("path").and_then(Value::as_str);
        if path.is_some_and(|path| self.name(path).is_some()) {
            return Vec::new();
        }
        path_argument(&self.grants, arguments, false, None)
    }

    fn with_whole_path(&self, arguments: &Value) -> Option<Value> {
        let path = arguments.get("path").and_then(Value::as_str)?;
        self.name(path).is_none().then(|| self.grants.with_whole_path(arguments, "path", None))?
    }

    async fn concerns(&self, arguments: &Value, conversation: Option<&ConversationId>) -> Concerned {
        // The path of a file says what is read.
        match arguments.get("path").and_then(Value::as_str).and_then(|path| self.name(path)) {
            Some((named, name)) => Concerned::Words(named.in_words(name, conversation).await),
            None => Concerned::InArguments,
        }
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { path, offset, limit } = read_arguments(arguments)?;
        if let Some((named, name)) = self.name(&path) {
            let (text, trust) = named.text(context, name).await?.into_parts();
            return Ok(Labelled::new(part_of(text, offset, limit)?, trust));
        }
        let grants = Arc::clone(&self.grants);
        blocking(move || {
            let place = grants.place(&path)?;
            let trust = place.root.trust;
            let text = Opened::new(&grants, place)?.text()?;
            Ok(Labelled::new(part_of(text, offset, limit)?, trust))
        })
        .await
    }
}

/// The lines that are asked for, all of them where none are.
fn part_of(text: String, offset: Option<u32>, limit: Option<u32>) -> Result<String, Sentence> {
    if offset.is_none() && limit.is_none() { Ok(text) } else { lines(&text, offset, limit) }
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
