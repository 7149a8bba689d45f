//! A program that does what a test says.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass};
use limpid_runtime::{Tool, ToolContext};
use limpid_tools::{Found, Stop};
use serde_json::{Map, Value};

type Runs = dyn Fn() -> Result<Labelled<String>, Sentence> + Send + Sync;

/// A tool `program` that runs a program: it does this each time, and comes to that.
pub fn program(runs: impl Fn() -> Result<Labelled<String>, Sentence> + Send + Sync + 'static) -> Arc<dyn Tool> {
    Arc::new(Program { starts: None, writes_in: Vec::new(), found: None, runs: Box::new(runs) })
}

/// The same for a tool that lets programs change this folder, whatever the settings say.
pub fn program_writing_in(
    folder: PathBuf,
    runs: impl Fn() -> Result<Labelled<String>, Sentence> + Send + Sync + 'static,
) -> Arc<dyn Tool> {
    Arc::new(Program { starts: None, writes_in: vec![folder], found: None, runs: Box::new(runs) })
}

/// The same for a program that starts in this way, and does the rest when an approved one waits for it to end.
pub fn program_in_the_way(
    starts: impl Fn() + Send + Sync + 'static,
    runs: impl Fn() -> Result<Labelled<String>, Sentence> + Send + Sync + 'static,
) -> Arc<dyn Tool> {
    Arc::new(Program { starts: Some(Box::new(starts)), writes_in: Vec::new(), found: None, runs: Box::new(runs) })
}

/// The same for a program that leads to what a test says, each time that somebody looks.
pub fn program_leading_to(
    found: impl Fn() -> String + Send + Sync + 'static,
    runs: impl Fn() -> Result<Labelled<String>, Sentence> + Send + Sync + 'static,
) -> Arc<dyn Tool> {
    Arc::new(Program { starts: None, writes_in: Vec::new(), found: Some(Box::new(found)), runs: Box::new(runs) })
}

struct Program {
    starts: Option<Box<dyn Fn() + Send + Sync>>,
    writes_in: Vec<PathBuf>,
    found: Option<Box<dyn Fn() -> String + Send + Sync>>,
    runs: Box<Runs>,
}

#[async_trait]
impl Tool for Program {
    fn name(&self) -> &'static str {
        "program"
    }

    fn group(&self) -> &'static str {
        "test"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Execute
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Run
    }

    fn schema(&self) -> Map<String, Value> {
        Map::from_iter([("type".to_owned(), "object".into())])
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn leads_to(&self, _: &Value) -> Option<Found> {
        let all = |found: String| BTreeSet::from([("found", found.into())]);
        self.found.as_ref().map(|found| Found { folder: PathBuf::new(), all: all(found()) })
    }

    fn writes_in(&self) -> Vec<PathBuf> {
        self.writes_in.clone()
    }

    async fn run(&self, _: &ToolContext, _: Value) -> Result<Labelled<String>, Sentence> {
        (self.runs)()
    }

    async fn run_until(&self, _: &ToolContext, _: Value, stop: Stop) -> Result<Labelled<String>, Sentence> {
        if let Some(starts) = &self.starts {
            starts();
            stop.await;
        }
        (self.runs)()
    }
}
