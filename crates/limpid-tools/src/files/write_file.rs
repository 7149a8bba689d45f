//! `write_file`: a whole file, new or in place of an old one.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass, sentence};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::call::{blocking, path_argument};
use super::folder::{Changing, Opened};
use super::grants::Grants;
use crate::{PathArgument, Tool, ToolContext, read_arguments, schema_of};

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

    fn paths(&self, arguments: &Value) -> Vec<PathArgument> {
        path_argument(&self.grants, arguments, true, None)
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { path, content } = read_arguments(arguments)?;
        let (grants, named) = (Arc::clone(&self.grants), context.words(path.clone()));
        blocking(move || {
            let opened = Opened::new(&grants, grants.place_to_write(&path)?)?;
            Changing::new(opened, true)?.replace(&content)?;
            Ok(sentence!("wrote {} bytes to {}", content.len(), named).into())
        })
        .await
    }
}
