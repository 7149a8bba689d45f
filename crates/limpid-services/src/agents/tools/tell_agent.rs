//! `tell_agent`: says something to an agent that works, or has one that has ended go on.

use std::time::Duration;

use async_trait::async_trait;
use limpid_core::{AgentId, ConversationId, Labelled, Sentence, sentence};
use limpid_tools::{Concerned, Tool, ToolContext, read_arguments};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::start::{AT_ONCE, starts_agents, where_its_result_is};
use crate::agents::owner::Told;
use crate::agents::request::in_words;
use crate::agents::service::Agents;

/// Says something to an agent.
pub(super) struct TellAgent(pub(super) Agents);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    id: i64,
    message: String,
}

#[async_trait]
impl Tool for TellAgent {
    starts_agents!(limpid_core::agent::STARTS_AGENTS[3], Arguments);

    fn timeout(&self) -> Option<Duration> {
        Some(AT_ONCE)
    }

    async fn concerns(&self, arguments: &Value, _: Option<&ConversationId>) -> Concerned {
        let id = AgentId(arguments["id"].as_i64().unwrap_or_default());
        let agent = self.0.store().agent(id).await.ok().flatten();
        Concerned::found(agent.as_ref().map(in_words), "there is no such agent")
    }

    /// An agent of the owner's does what it is told, and what it has read by then is a stranger's.
    async fn changes_owned(&self, arguments: &Value, _: Option<&ConversationId>) -> bool {
        let id = AgentId(arguments["id"].as_i64().unwrap_or_default());
        self.0.tells_owners(id).await
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { id, message } = read_arguments(arguments)?;
        Ok(match self.0.tell_by(context, AgentId(id), message).await? {
            Told::Hears(id) => sentence!("agent {} hears it when its present step is over", id.0).into(),
            Told::GoesOn { before, now } => sentence!(
                "agent {} had ended; agent {} goes on with its work; {}",
                before.0,
                now.0,
                where_its_result_is(context, now)
            )
            .into(),
        })
    }
}
