//! `list_agents`: the agents of a conversation with their state.

use async_trait::async_trait;
use limpid_core::agent::DELEGATION;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass, Trust};
use limpid_store::AgentFilter;
use limpid_tools::{Tool, ToolContext, read_arguments, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::agents::plan::Planned;
use crate::agents::report::AgentReport;
use crate::agents::service::Agents;
use crate::tools::trouble;

/// Agents that are listed, the newest.
const MOST: u32 = 50;

/// Lists the agents of a conversation.
pub(super) struct ListAgents(pub(super) Agents);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {}

#[async_trait]
impl Tool for ListAgents {
    fn name(&self) -> &'static str {
        "list_agents"
    }

    fn group(&self) -> &'static str {
        DELEGATION
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

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments {} = read_arguments(arguments)?;
        let above = self.0.store().agent_in(&context.conversation).await.map_err(trouble)?;
        let chat = above.map_or_else(|| context.conversation.clone(), |above| above.chat);
        let planned = self.0.planned(Some(&chat)).await.map_err(trouble)?;
        let filter = AgentFilter { chat: Some(chat), limit: MOST, ..AgentFilter::default() };
        let agents = self.0.store().agents(filter).await.map_err(trouble)?.rows;
        let trust = agents.iter().fold(Trust::Owner, |trust, agent| trust.join(agent.trust));
        let trust = planned.iter().fold(trust, |trust, one| trust.join(one.task.trust));
        let row = |agent: &limpid_store::SubAgent| {
            let since = agent.ended_ms.unwrap_or(context.now_ms());
            json!({
                "id": agent.id.0,
                "label": agent.new.label,
                "state": agent.state.as_str(),
                "seconds": (since - agent.new.now_ms).max(0) / 1000,
                "rounds": AgentReport::of_row(agent).rounds,
                "parent": agent.parent.map(|parent| parent.0),
            })
        };
        let rows: Vec<Value> = agents.iter().map(row).collect();
        let mut listed = json!({ "agents": rows });
        if !planned.is_empty() {
            listed["planned"] = planned.iter().map(planned_row).collect();
        }
        Ok(Labelled::new(listed.to_string(), trust))
    }
}

fn planned_row(one: &Planned) -> Value {
    json!({
        "task_id": one.task.id.0,
        "name": one.task.name,
        "state": one.state.as_str(),
        "after": one.task.needs.iter().map(|id| id.0).collect::<Vec<_>>(),
        "blocked_by": one.blocked_by.iter().map(|id| id.0).collect::<Vec<_>>(),
        "agent": one.task.agent.map(|(id, _)| id.0),
        "why": one.task.refusal,
    })
}
