//! Results of agents as files: `agent:7` is the output of agent 7.

use std::time::Duration;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{AgentId, Labelled, Sentence, ToolClass, sentence};
use limpid_tools::{PathArgument, Tool, ToolContext, echoed};
use serde_json::{Map, Value};
use std::sync::Arc;

use crate::agents::service::Agents;
use crate::tools::trouble;

/// How the output of an agent is named.
const BEGINS: &str = "agent:";

/// A tool that reads files, and the results of agents besides.
pub(super) struct WithResults {
    pub(super) files: Arc<dyn Tool>,
    pub(super) agents: Agents,
}

/// The agent whose output is meant, as it was written.
fn named(arguments: &Value) -> Option<&str> {
    arguments.get("path")?.as_str()?.trim().strip_prefix(BEGINS)
}

/// The lines that are asked for, all of them where none are.
fn lines(text: &str, arguments: &Value) -> String {
    let number =
        |name: &str| arguments.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
    let (offset, limit) = (number("offset"), number("limit"));
    if offset.is_none() && limit.is_none() {
        return text.to_owned();
    }
    let lines = text.split_inclusive('\n').skip(offset.unwrap_or(1).saturating_sub(1));
    lines.take(limit.unwrap_or(usize::MAX)).collect()
}

#[async_trait]
impl Tool for WithResults {
    fn name(&self) -> &str {
        self.files.name()
    }

    fn group(&self) -> &str {
        self.files.group()
    }

    fn class(&self) -> ToolClass {
        self.files.class()
    }

    fn effect(&self, arguments: &Value) -> Effect {
        self.files.effect(arguments)
    }

    fn schema(&self) -> Map<String, Value> {
        self.files.schema()
    }

    fn is_repeatable(&self) -> bool {
        self.files.is_repeatable()
    }

    fn paths(&self, arguments: &Value) -> Vec<PathArgument> {
        if named(arguments).is_some() { Vec::new() } else { self.files.paths(arguments) }
    }

    fn check(&self, arguments: &Value) -> Result<(), Sentence> {
        if named(arguments).is_some() { Ok(()) } else { self.files.check(arguments) }
    }

    fn timeout(&self) -> Option<Duration> {
        self.files.timeout()
    }

    fn result_chars(&self) -> Option<usize> {
        self.files.result_chars()
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Some(name) = named(&arguments) else { return self.files.run(context, arguments).await };
        let Ok(id) = name.trim().parse().map(AgentId) else {
            return Err(sentence!("`{}` is no agent's number; `list_agents` lists them", echoed(name.to_owned())));
        };
        let above = self.agents.store().agent_in(&context.conversation).await.map_err(trouble)?;
        let chat = above.map_or_else(|| context.conversation.clone(), |above| above.chat);
        let result = self.agents.result_in(&chat, id).await?;
        Ok(result.map(|text| lines(&text, &arguments)))
    }
}
