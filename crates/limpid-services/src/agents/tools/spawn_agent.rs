//! `spawn_agent`: hands a task to a worker, which may follow a skill.

use std::time::Duration;

use async_trait::async_trait;
use limpid_core::agent::STARTS_AGENTS;
use limpid_core::{ConversationId, Labelled, PlannedId, Sentence};
use limpid_tools::{Concerned, Tool, ToolContext, read_arguments};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::named_skills::{as_load_skill, in_load_skill, skill_of};
use super::start::{AT_ONCE, start, starts_agents, with_agent};
use crate::agents::plan::listed;
use crate::agents::request::{AgentRequest, results_in_words};
use crate::agents::service::Agents;

/// Hands a task to a worker.
pub(super) struct SpawnAgent(pub(super) Agents);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task: Option<String>,
    task_id: Option<i64>,
    skill: Option<String>,
    context: Option<String>,
    run_in_background: Option<bool>,
}

#[async_trait]
impl Tool for SpawnAgent {
    starts_agents!(STARTS_AGENTS[0], Arguments);

    fn timeout(&self) -> Option<Duration> {
        Some(with_agent(&self.0).max(AT_ONCE))
    }

    /// A skill that it names is read by the agent, whatever it is read with.
    fn counts_as(&self, arguments: &Value) -> Option<(Vec<String>, String)> {
        as_load_skill(skill_of(arguments))
    }

    fn written_out(&self, arguments: &Value) -> Vec<Value> {
        skill_of(arguments).into_iter().flat_map(in_load_skill).collect()
    }

    /// A planned task has all its words elsewhere.
    async fn concerns(&self, arguments: &Value, conversation: Option<&ConversationId>) -> Concerned {
        let Some(id) = arguments["task_id"].as_i64().map(PlannedId) else {
            return results_in_words(&self.0, arguments, conversation).await;
        };
        let words = match conversation {
            Some(chat) => self.0.start_in_words(id, chat).await,
            None => None,
        };
        Concerned::found(words, "there is no such planned task")
    }

    async fn changes_owned(&self, arguments: &Value, conversation: Option<&ConversationId>) -> bool {
        match (arguments["task_id"].as_i64().map(PlannedId), conversation) {
            (Some(id), Some(chat)) => self.0.start_uses_owners(id, chat).await,
            _ => false,
        }
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let arguments: Arguments = read_arguments(arguments)?;
        if let Some(id) = arguments.task_id {
            if arguments.task.is_some() || arguments.skill.is_some() || arguments.context.is_some() {
                return Err("a planned task has its text, skill and context; give `task_id` alone".into());
            }
            let planned = self.0.start_planned(context, PlannedId(id)).await?;
            return Ok(listed(&planned));
        }
        let request = AgentRequest {
            path: "worker",
            waited_for: arguments.run_in_background == Some(false),
            label: None,
            task: arguments.task.unwrap_or_default(),
            named: None,
            skill: arguments.skill,
            context: arguments.context,
        };
        start(&self.0, context, request).await
    }
}
