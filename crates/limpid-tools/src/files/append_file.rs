//! `append_file`: adds to the end of a file.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass, sentence};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::call::{MayLeave, changing, may_write, path_argument, where_it_is, with_path};
use super::folder::{Changing, Opened};
use super::grants::Grants;
use crate::{PathArgument, Tool, ToolContext, echoed, read_arguments, schema_of};

/// Adds to the end of a file of a granted folder. Appends that run at once come one after another.
#[derive(Clone, Debug)]
pub struct AppendFile {
    grants: Arc<Grants>,
}

impl AppendFile {
    /// The tool over these folders.
    pub fn new(grants: Arc<Grants>) -> Self {
        Self { grants }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    content: String,
}

#[async_trait]
impl Tool for AppendFile {
    fn name(&self) -> &'static str {
        "append_file"
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
        let paths = path_argument(&self.grants, arguments, true, None);
        paths.into_iter().map(|path| PathArgument { adds: true, ..path }).collect()
    }

    fn leaves(&self, arguments: &Value, before: Option<&str>) -> Option<String> {
        Some(before.unwrap_or_default().to_owned() + arguments.get("content")?.as_str()?)
    }

    fn with_new_path(&self, arguments: &Value, path: &str) -> Option<Value> {
        with_path(arguments, path)
    }

    fn with_whole_path(&self, arguments: &Value) -> Option<Value> {
        self.grants.with_whole_path(arguments, "path", None)
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { path, content } = read_arguments(arguments)?;
        let (grants, turn, may_leave) = (Arc::clone(&self.grants), context.trust, MayLeave::of(context));
        let written = context.written.clone();
        changing(move |until| {
            let place = grants.place_to_write(&path)?;
            let (there, named) = (where_it_is(&place), Labelled::new(grants.called(&place, &path), turn));
            let other = grants.elsewhere(&path);
            let file = Changing::new(Opened::new(&grants, place)?, true, until)?.of_call(&written);
            let is_there = file.is_there();
            if let Some(other) = other.filter(|_| !is_there) {
                return Err(sentence!(
                    "`{}` does not exist; `{}` does, which was written after foreign text was read. Add to that one, or make a new file \
                     with write_file.",
                    echoed(&path),
                    echoed(other)
                ));
            }
            let before = if is_there { file.text().ok() } else { Some(String::new()) };
            may_leave.check(&file, before.map(|before| before + &content).as_deref())?;
            let bytes = file.append(&content)?;
            Ok(match is_there {
                true => sentence!("added {} bytes to {}, which has {}{}", content.len(), named, bytes, there),
                false => sentence!("made {} with {} bytes{}", named, bytes, there),
            }
            .into())
        })
        .await
    }
}
