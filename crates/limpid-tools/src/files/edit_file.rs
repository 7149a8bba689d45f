//! `edit_file`: puts a text in the place of another that stands in a file exactly once.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass, sentence};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::call::{changing, may_write, path_argument};
use super::folder::{Changing, Opened};
use super::grants::Grants;
use crate::{PathArgument, Tool, ToolContext, echoed, read_arguments, schema_of};

/// Changes one place of a file of a granted folder.
#[derive(Clone, Debug)]
pub struct EditFile {
    grants: Arc<Grants>,
}

impl EditFile {
    /// The tool over these folders.
    pub fn new(grants: Arc<Grants>) -> Self {
        Self { grants }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    old_text: String,
    new_text: String,
}

#[async_trait]
impl Tool for EditFile {
    fn name(&self) -> &'static str {
        "edit_file"
    }

    fn group(&self) -> &'static str {
        "files"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Write
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Files
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn check(&self, arguments: &Value) -> Result<(), Sentence> {
        may_write(&self.grants, arguments)
    }

    fn paths(&self, arguments: &Value) -> Vec<PathArgument> {
        path_argument(&self.grants, arguments, true, None)
    }

    fn with_whole_path(&self, arguments: &Value) -> Option<Value> {
        self.grants.with_whole_path(arguments, "path", None)
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { path, old_text, new_text } = read_arguments(arguments)?;
        if old_text.is_empty() {
            return Err("`old_text` must not be empty; append_file adds to a file, write_file writes one".into());
        }
        if old_text == new_text {
            return Err("`old_text` and `new_text` are equal; nothing would change".into());
        }
        let (grants, turn) = (Arc::clone(&self.grants), context.trust);
        changing(move |until| {
            let place = grants.place_to_write(&path)?;
            let named = Labelled::new(grants.called(&place, &path), turn);
            let file = Changing::new(Opened::new(&grants, place)?, false, until)?;
            let text = file.text()?;
            match places(&text, &old_text).as_slice() {
                [] => {
                    Err(sentence!("`old_text` does not stand in {}; read the file and copy it exactly", echoed(path)))
                }
                [at] => {
                    let (before, rest) = text.split_at(*at);
                    let after = rest.get(old_text.len()..).unwrap_or_default();
                    file.replace(format!("{before}{new_text}{after}").as_bytes())?;
                    Ok(sentence!("changed {}", named).into())
                }
                several => Err(sentence!(
                    "`old_text` stands in {} {} times; take more of the text around it",
                    echoed(path),
                    several.len()
                )),
            }
        })
        .await
    }
}

/// Every place where a text begins, those that overlap included.
fn places(text: &str, part: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(part)) {
        places.push(from + at);
        from += at + part.chars().next().map_or(1, char::len_utf8);
    }
    places
}
