//! `spawn` and `subagent`: hand a task to an agent in the background, or wait for it.

use std::time::Duration;

use async_trait::async_trait;
use limpid_core::agent::{DELEGATION, STARTS_AGENTS};
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass, sentence};
use limpid_tools::{Tool, ToolContext, echoed, read_arguments, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::start::{AT_ONCE, start, with_agent};
use crate::agents::request::AgentRequest;
use crate::agents::service::Agents;

/// Hands a task to an agent in the background.
pub(super) struct Spawn(pub(super) Agents);

/// Hands a task to an agent and waits for its result.
pub(super) struct Subagent(pub(super) Agents);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SpawnArguments {
    task: String,
    label: Option<String>,
    agent_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SubagentArguments {
    task: String,
    label: Option<String>,
}

#[async_trait]
impl Tool for Spawn {
    fn name(&self) -> &'static str {
        STARTS_AGENTS[1]
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
        schema_of::<SpawnArguments>()
    }

    /// The same call finds the agent that it started.
    fn is_repeatable(&self) -> bool {
        true
    }

    fn timeout(&self) -> Option<Duration> {
        Some(AT_ONCE)
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let SpawnArguments { task, label, agent_id } = read_arguments(arguments)?;
        if let Some(named) = agent_id.filter(|named| !named.trim().is_empty()) {
            return Err(sentence!("there is no agent `{}` to give a task to; leave `agent_id` out", echoed(named)));
        }
        let (path, waited_for, skill, given) = ("subagent-async", false, None, None);
        start(&self.0, context, AgentRequest { path, waited_for, label, task, skill, context: given }).await
    }
}

#[async_trait]
impl Tool for Subagent {
    fn name(&self) -> &'static str {
        STARTS_AGENTS[2]
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
        schema_of::<SubagentArguments>()
    }

    /// The same call finds the agent that it started.
    fn is_repeatable(&self) -> bool {
        true
    }

    fn timeout(&self) -> Option<Duration> {
        Some(with_agent(&self.0))
    }

    /// The whole result.
    fn result_chars(&self) -> Option<usize> {
        Some(usize::MAX)
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let SubagentArguments { task, label } = read_arguments(arguments)?;
        let (path, waited_for, skill, given) = ("subagent-sync", true, None, None);
        start(&self.0, context, AgentRequest { path, waited_for, label, task, skill, context: given }).await
    }
}
