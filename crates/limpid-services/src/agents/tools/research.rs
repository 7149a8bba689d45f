//! `research`: has a worker look something up on the web.

use std::time::Duration;

use async_trait::async_trait;
use limpid_core::agent::{RESEARCH, RESEARCH_SECONDS};
use limpid_core::policy::Effect;
use limpid_core::{AgentState, Labelled, Sentence, ToolClass, Trust, sentence};
use limpid_store::NewSubAgent;
use limpid_tools::{Tool, ToolContext, read_arguments, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::start::{BESIDE, came_to_nothing, in_background, waited};
use crate::agents::request::short;
use crate::agents::service::Agents;

/// Has a worker look something up. The worker sees its task and the web, and nothing of the owner's; its answer is a
/// stranger's text.
pub(super) struct Research(pub(super) Agents);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task: String,
    run_in_background: Option<bool>,
}

#[async_trait]
impl Tool for Research {
    fn name(&self) -> &'static str {
        RESEARCH
    }

    fn group(&self) -> &'static str {
        "web"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Research
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn is_public(&self) -> bool {
        true
    }

    fn timeout(&self) -> Option<Duration> {
        Some(Duration::from_secs(RESEARCH_SECONDS) + BESIDE)
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { task, run_in_background } = read_arguments(arguments)?;
        if task.trim().is_empty() {
            return Err(sentence!("`task` is empty; say what to look up, and what the answer is to hold"));
        }
        let waits = run_in_background != Some(true);
        let agent = self.0.accept(worker(&self.0, context, &task, waits)).await?;
        if !waits {
            return Ok(in_background(&agent));
        }
        let ended = waited(&self.0, agent).await?;
        let trust = ended.trust.join(Trust::Outside);
        match ended.state {
            AgentState::Done => Ok(Labelled::new(ended.result, trust)),
            _ if ended.result.trim().is_empty() => {
                Err(sentence!("the research worker has no answer: {}", Labelled::new(ended.reason, trust)))
            }
            _ => Ok(came_to_nothing(&ended).join(trust)),
        }
    }
}

/// The worker that a call sends out. It gets the words of the call and nothing that they point to: only these were looked at.
fn worker(agents: &Agents, by: &ToolContext, task: &str, waited_for: bool) -> NewSubAgent {
    let task = agents.redactor().clean(task.to_owned());
    NewSubAgent {
        conversation: by.conversation.clone(),
        turn: by.turn.clone(),
        call: by.call.clone(),
        path: RESEARCH.to_owned(),
        waited_for,
        label: short(&task),
        task,
        skill: None,
        context: None,
        // Those of its path, whatever whoever sends it has.
        tools: None,
        planned: None,
        continues: None,
        named: None,
        trust: by.trust.of_strangers(),
        by_strangers: by.trust.is_foreign(),
        holder: agents.host().holder().to_owned(),
        now_ms: by.now_ms(),
    }
}
