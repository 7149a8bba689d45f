//! How an agent is started and what the model is told of it, the same in every dialect.

use std::time::Duration;

use limpid_core::{AgentId, AgentState, Labelled, Sentence, Trust, sentence};
use limpid_store::SubAgent;
use limpid_tools::ToolContext;

use crate::agents::report::AgentReport;
use crate::agents::request::AgentRequest;
use crate::agents::service::Agents;
use crate::directory::is_of_clients;
use crate::tools::trouble;

/// How long a call may take that returns at once: where many agents work it waits.
pub(super) const AT_ONCE: Duration = Duration::from_secs(40);

/// How much longer a call may take than the agent that it waits for.
pub(super) const BESIDE: Duration = Duration::from_secs(60);

/// How long a call may take that may wait for its agent.
pub(super) fn with_agent(agents: &Agents) -> Duration {
    agents.timeout() + BESIDE
}

/// What the tools that start agents have in common. The same call finds the agent that it started, so it may be made again.
macro_rules! starts_agents {
    ($name:expr, $arguments:ty) => {
        fn name(&self) -> &'static str {
            $name
        }

        fn group(&self) -> &'static str {
            limpid_core::agent::DELEGATION
        }

        fn class(&self) -> limpid_core::ToolClass {
            limpid_core::ToolClass::Read
        }

        fn effect(&self, _: &serde_json::Value) -> limpid_core::policy::Effect {
            limpid_core::policy::Effect::Delegate
        }

        fn schema(&self) -> serde_json::Map<String, serde_json::Value> {
            limpid_tools::schema_of::<$arguments>()
        }

        fn is_repeatable(&self) -> bool {
            true
        }
    };
}
pub(super) use starts_agents;

/// Starts an agent, and waits for it when the request says so.
pub(super) async fn start(
    agents: &Agents,
    by: &ToolContext,
    request: AgentRequest,
) -> Result<Labelled<String>, Sentence> {
    let waits = request.waited_for;
    let agent = agents.start(by, request).await?;
    if !waits {
        return Ok(
            sentence!("agent {} works in the background; {}", agent.id.0, where_its_result_is(by, agent.id)).into()
        );
    }
    let ended = waited(agents, agent).await?;
    Ok(match ended.state {
        AgentState::Done => {
            let report = AgentReport::of_row(&ended);
            let notice = Labelled::new(report.notice(ended.id, ended.state, ended.trust), Trust::Owner);
            sentence!("{}\n{}", notice, words(&report, &ended)).into()
        }
        _ => came_to_nothing(&ended),
    })
}

/// How whoever started an agent gets its result: no message reaches a client, which asks for it.
pub(super) fn where_its_result_is(by: &ToolContext, agent: AgentId) -> Sentence {
    if is_of_clients(&by.conversation) {
        sentence!(
            "`list_agents` says when it has ended, `read_file` with the path `agent:{}` gives its result",
            agent.0
        )
    } else {
        sentence!("its result comes by itself, as [agent_result:{}]", agent.0)
    }
}

/// What is told of an agent whose end comes by itself.
pub(super) fn in_background(agent: &SubAgent) -> Labelled<String> {
    let told = sentence!(
        "agent {} works in the background; its result comes by itself, as [agent_result:{}]",
        agent.id.0,
        agent.id.0
    );
    told.into()
}

/// What is told of an agent without a whole result: why, and what it said so far.
pub(super) fn came_to_nothing(ended: &SubAgent) -> Labelled<String> {
    let report = AgentReport::of_row(ended);
    let notice = Labelled::new(report.notice(ended.id, ended.state, ended.trust), Trust::Owner);
    let why = Labelled::new(ended.reason.clone(), ended.trust.join(Trust::Outside));
    sentence!("{}; {}\n{}", notice, why, words(&report, ended)).into()
}

/// An agent's own words, below the files that it changed where its notice does not name them.
fn words(report: &AgentReport, ended: &SubAgent) -> Labelled<String> {
    let above = report.above_words(ended.id, ended.trust);
    Labelled::new(format!("{above}{}", ended.result), ended.trust)
}

/// Waits until an agent has ended. When nobody waits any more, it is stopped.
pub(super) async fn waited(agents: &Agents, agent: SubAgent) -> Result<SubAgent, Sentence> {
    let mut waiting = Waiting { agents: agents.clone(), id: Some(agent.id) };
    let ended = agents.wait(agent.id).await.map_err(trouble)?;
    waiting.id = None;
    Ok(ended)
}

/// A call that waits for an agent. When nobody waits for the call any more, the agent is stopped.
struct Waiting {
    agents: Agents,
    id: Option<AgentId>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let agents = self.agents.clone();
            tokio::spawn(async move { agents.cancel(id).await });
        }
    }
}
