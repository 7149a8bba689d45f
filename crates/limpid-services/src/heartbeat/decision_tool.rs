//! `heartbeat_decision`: ends a run of the heartbeat. The turn machine takes the call; nothing is carried out.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::tools::{Tool, ToolContext, schema_of};

/// The tool's name.
pub const HEARTBEAT_DECISION: &str = "heartbeat_decision";

/// The tools of a heartbeat.
pub fn tools() -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(HeartbeatDecision)]
}

/// The decision at the end of a heartbeat.
struct HeartbeatDecision;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the turn machine reads the arguments; this is their schema")]
struct Arguments {
    action: Action,
    key: Option<String>,
    text: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Quiet,
    Report,
}

#[async_trait]
impl Tool for HeartbeatDecision {
    fn name(&self) -> &'static str {
        HEARTBEAT_DECISION
    }

    fn group(&self) -> &'static str {
        "heartbeat"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Tell
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

    async fn run(&self, _: &ToolContext, _: Value) -> Result<Labelled<String>, Sentence> {
        Err("no heartbeat is under way, so there is nothing to end".into())
    }
}
