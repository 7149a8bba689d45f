//! `list_dir`: what a folder holds.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::call::{blocking, one_line, path_argument};
use super::folder::Opened;
use super::grants::{Grants, Place};
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
            let beside = if is_workspace(&grants, &place) { beside(&grants) } else { String::new() };
            let entries = Opened::new(&grants, place)?.entries()?;
            let mut lines: Vec<String> = entries.iter().map(line).collect();
            if lines.is_empty() && beside.is_empty() {
                return Ok(Sentence::from("(empty)").into());
            }
            lines.extend((!beside.is_empty()).then_some(beside));
            Ok(Labelled::new(lines.join("\n"), trust))
        })
        .await
    }
}

fn is_workspace(grants: &Grants, place: &Place<'_>) -> bool {
    place.root == grants.workspace() && place.path == Path::new(HERE)
}

/// What lies beside the workspace under a name of ours, so that what was written there is found again.
fn beside(grants: &Grants) -> String {
    let holds_something = |folder: &Path| folder.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    let folders = grants.of_strangers().filter(|(_, folder)| holds_something(folder));
    let lines =
        folders.map(|(name, _)| format!("DIR:  {name} (beside this folder: written after foreign text was read)"));
    lines.collect::<Vec<_>>().join("\n")
}

fn line((name, is_folder): &(PathBuf, bool)) -> String {
    format!("{} {}", if *is_folder { "DIR: " } else { "FILE:" }, one_line(name))
}
