//! `spawn_agent`: hands a task to a worker, which may follow a skill.

use std::time::Duration;

use async_trait::async_trait;
use limpid_core::agent::{DELEGATION, STARTS_AGENTS};
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass};
use limpid_tools::{Tool, ToolContext, read_arguments, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::start::{AT_ONCE, start, with_agent};
use crate::agents::request::AgentRequest;
use crate::agents::service::Agents;

/// Hands a task to a worker.
pub(super) struct SpawnAgent(pub(super) Agents);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task: String,
    skill: Option<String>,
    context: Option<String>,
    run_in_background: Option<bool>,
}

#[async_trait]
impl Tool for SpawnAgent {
    fn name(&self) -> &'static str {
        STARTS_AGENTS[0]
    }

    fn group(&self) -> &'static str {
        DELEGATION
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Delegate
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    /// The same call finds the agent that it started.
    fn is_repeatable(&self) -> bool {
        true
    }

    fn timeout(&self) -> Option<Duration> {
        Some(with_agent(&self.0).max(AT_ONCE))
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let arguments: Arguments = read_arguments(arguments)?;
        let request = AgentRequest {
            path: "worker",
            waited_for: arguments.run_in_background == Some(false),
            label: None,
            task: arguments.task,
            skill: arguments.skill,
            context: arguments.context,
        };
        start(&self.0, context, request).await
    }
}
