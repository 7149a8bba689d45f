//! `edit_file`: puts a text in the place of another that stands in a file exactly once.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass, sentence};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::call::{MayLeave, blocking, changing, may_write, path_argument};
use super::folder::{Changing, Opened};
use super::grants::Grants;
use crate::{Concerned, PathArgument, Tool, ToolContext, echoed, read_arguments, schema_of};

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

    fn leaves(&self, arguments: &Value, before: Option<&str>) -> Option<String> {
        let text = |name: &str| arguments.get(name)?.as_str();
        let (old, new, before) = (text("old_text")?, text("new_text")?, before.unwrap_or_default());
        let edited = if old.is_empty() { Err(Occurrence::Nowhere) } else { edited(before, old, new) };
        Some(edited.unwrap_or_else(|_| before.to_owned()))
    }

    async fn concerns(&self, arguments: &Value, _: Option<&ConversationId>) -> Concerned {
        let Ok(Arguments { path, old_text, .. }) = read_arguments(arguments.clone()) else {
            return Concerned::InArguments;
        };
        let grants = Arc::clone(&self.grants);
        let read = blocking(move || Opened::new(&grants, grants.place(&path)?)?.text());
        read.await.map_or(Concerned::InArguments, |text| Concerned::Words(where_it_stands(&text, &old_text)))
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
        let (grants, turn, may_leave) = (Arc::clone(&self.grants), context.trust, MayLeave::of(context));
        let written = context.written.clone();
        changing(move |until| {
            let place = grants.place_to_write(&path)?;
            let named = Labelled::new(grants.called(&place, &path), turn);
            let file = Changing::new(Opened::new(&grants, place)?, false, until)?.of_call(&written);
            let before = file.text()?;
            match edited(&before, &old_text, &new_text) {
                Ok(after) => {
                    may_leave.check(&file, Some(&after))?;
                    file.replace(after.as_bytes())?;
                    Ok(sentence!("changed {}", named).into())
                }
                Err(Occurrence::Nowhere) => {
                    Err(sentence!("`old_text` does not stand in {}; read the file and copy it exactly", echoed(path)))
                }
                Err(_) => Err(sentence!(
                    "`old_text` occurs more than once in {}; include more of the text around it",
                    echoed(path)
                )),
            }
        })
        .await
    }
}

/// Which line of a text would be changed, for whoever is asked about it.
fn where_it_stands(text: &str, old: &str) -> String {
    let lines = text.lines().count();
    if old.is_empty() {
        return "`old_text` is empty, so that nothing would change".to_owned();
    }
    match occurrence(text, old) {
        Occurrence::Once(at) => {
            let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
            format!("`old_text` stands at line {line} of {lines}")
        }
        Occurrence::Nowhere => "`old_text` does not stand in the file, so that nothing would change".to_owned(),
        Occurrence::Several => "`old_text` occurs more than once in the file, so that nothing would change".to_owned(),
    }
}

/// A text with another one in the place of its only `old`.
///
/// # Errors
/// Where `old` stands, if that is not at one place.
fn edited(text: &str, old: &str, new: &str) -> Result<String, Occurrence> {
    let at = match occurrence(text, old) {
        Occurrence::Once(at) => at,
        elsewhere => return Err(elsewhere),
    };
    let (before, rest) = text.split_at(at);
    let after = rest.get(old.len()..).unwrap_or_default();
    Ok(format!("{before}{new}{after}"))
}

/// Where a text stands in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occurrence {
    Nowhere,
    /// At this byte alone.
    Once(usize),
    /// At two places or more, which may overlap.
    Several,
}

/// Where a part stands. Nobody looks behind the second place: a long part of one letter stands at millions.
fn occurrence(text: &str, part: &str) -> Occurrence {
    let Some(at) = text.find(part) else { return Occurrence::Nowhere };
    let behind = at + part.chars().next().map_or(1, char::len_utf8);
    match text.get(behind..).is_some_and(|rest| rest.contains(part)) {
        true => Occurrence::Several,
        false => Occurrence::Once(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-077
    #[test]
    fn a_part_that_stands_everywhere_is_looked_for_twice() {
        let (text, part) = ("a".repeat(4 << 20), "a".repeat(1 << 20));
        assert_eq!(edited(&text, &part, "b"), Err(Occurrence::Several));
        assert!(where_it_stands(&text, &part).contains("more than once"));
        assert_eq!(edited(&part, &part, "b"), Ok("b".to_owned()));
        let overlaps = [
            ("äa äa", "ä", Occurrence::Several),
            ("ababa", "aba", Occurrence::Several),
            ("xä", "ä", Occurrence::Once(1)),
        ];
        for (text, part, place) in overlaps {
            assert_eq!(occurrence(text, part), place, "{text}");
        }
    }
}
