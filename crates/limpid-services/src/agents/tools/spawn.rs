//! `spawn` and `subagent`: hand a task to an agent in the background, or wait for it.

use std::time::Duration;

use async_trait::async_trait;
use limpid_core::agent::STARTS_AGENTS;
use limpid_core::{ConversationId, Labelled, Sentence};
use limpid_tools::{Concerned, Tool, ToolContext, read_arguments};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::start::{AT_ONCE, start, starts_agents, with_agent};
use crate::agents::request::{AgentRequest, results_in_words};
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
    starts_agents!(STARTS_AGENTS[1], SpawnArguments);

    fn timeout(&self) -> Option<Duration> {
        Some(AT_ONCE)
    }

    async fn concerns(&self, arguments: &Value, conversation: Option<&ConversationId>) -> Concerned {
        results_in_words(&self.0, arguments, conversation).await
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let SpawnArguments { task, label, agent_id } = read_arguments(arguments)?;
        let (path, waited_for, skill, given) = ("subagent-async", false, None, None);
        let request = AgentRequest { path, waited_for, label, task, skill, context: given, named: agent_id };
        start(&self.0, context, request).await
    }
}

#[async_trait]
impl Tool for Subagent {
    starts_agents!(STARTS_AGENTS[2], SubagentArguments);

    fn timeout(&self) -> Option<Duration> {
        Some(with_agent(&self.0))
    }

    /// The whole result.
    fn result_chars(&self) -> Option<usize> {
        Some(usize::MAX)
    }

    async fn concerns(&self, arguments: &Value, conversation: Option<&ConversationId>) -> Concerned {
        results_in_words(&self.0, arguments, conversation).await
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let SubagentArguments { task, label } = read_arguments(arguments)?;
        let (path, waited_for, skill, given) = ("subagent-sync", true, None, None);
        let request = AgentRequest { path, waited_for, label, task, skill, context: given, named: None };
        start(&self.0, context, request).await
    }
}
