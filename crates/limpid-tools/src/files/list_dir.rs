//! `list_dir`: what a folder holds.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::call::{blocking, one_line, path_argument};
use super::folder::Opened;
use super::grants::Grants;
use crate::{PathArgument, Tool, ToolContext, read_arguments, schema_of};

/// The workspace, when no path is given.
const HERE: &str = ".";

/// Lists a granted folder.
#[derive(Clone, Debug)]
pub struct ListDir {
    grants: Arc<Grants>,
}

impl ListDir {
    /// The tool over these folders.
    pub fn new(grants: Arc<Grants>) -> Self {
        Self { grants }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: Option<String>,
}

#[async_trait]
impl Tool for ListDir {
    fn name(&self) -> &'static str {
        "list_dir"
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
        path_argument(&self.grants, arguments, false, Some(HERE))
    }

    fn with_whole_path(&self, arguments: &Value) -> Option<Value> {
        self.grants.with_whole_path(arguments, "path", Some(HERE))
    }

    async fn run(&self, _: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { path } = read_arguments(arguments)?;
        let path = path.filter(|path| !path.trim().is_empty()).unwrap_or_else(|| HERE.to_owned());
        let grants = Arc::clone(&self.grants);
        blocking(move || {
            let place = grants.place(&path)?;
            let trust = place.root.trust;
            let entries = Opened::new(&grants, place)?.entries()?;
            if entries.is_empty() {
                return Ok(Sentence::from("(empty)").into());
            }
            let lines: Vec<String> = entries.iter().map(line).collect();
            Ok(Labelled::new(lines.join("\n"), trust))
        })
        .await
    }
}

fn line((name, is_folder): &(PathBuf, bool)) -> String {
    format!("{} {}", if *is_folder { "DIR: " } else { "FILE:" }, one_line(name))
}
