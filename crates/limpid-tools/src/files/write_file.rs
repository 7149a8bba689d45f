//! `write_file`: a whole file, new or in place of an old one.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass, sentence};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::call::{MayLeave, changing, may_write, path_argument, where_it_is, with_path};
use super::folder::{Changing, Opened};
use super::grants::Grants;
use crate::{Concerned, PathArgument, Tool, ToolContext, read_arguments, schema_of};

/// Writes a file of a granted folder, all of it or nothing.
#[derive(Clone, Debug)]
pub struct WriteFile {
    grants: Arc<Grants>,
}

impl WriteFile {
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
impl Tool for WriteFile {
    fn name(&self) -> &'static str {
        "write_file"
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
        true
    }

    fn answers_alike(&self) -> bool {
        true
    }

    fn check(&self, arguments: &Value) -> Result<(), Sentence> {
        may_write(&self.grants, arguments)
    }

    fn paths(&self, arguments: &Value) -> Vec<PathArgument> {
        path_argument(&self.grants, arguments, true, None)
    }

    fn leaves(&self, arguments: &Value, _before: Option<&str>) -> Option<String> {
        arguments.get("content")?.as_str().map(str::to_owned)
    }

    async fn concerns(&self, arguments: &Value, _: Option<&ConversationId>) -> Concerned {
        let place = arguments.get("path").and_then(Value::as_str).map(|path| self.grants.place(path));
        let Some(Ok(place)) = place else { return Concerned::InArguments };
        match place.root.folder.join(&place.path).metadata() {
            Ok(there) if there.is_file() && there.len() > 0 => {
                Concerned::Words(format!("a file is there already, and its {} bytes would be replaced", there.len()))
            }
            Ok(_) | Err(_) => Concerned::InArguments,
        }
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
            let file = Changing::new(Opened::new(&grants, place)?, true, until)?.of_call(&written);
            may_leave.check(&file, Some(&content))?;
            file.replace(content.as_bytes())?;
            Ok(sentence!("wrote {} bytes to {}{}", content.len(), named, there).into())
        })
        .await
    }
}
