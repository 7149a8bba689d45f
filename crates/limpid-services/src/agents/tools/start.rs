//! How an agent is started and what the model is told of it, the same in every dialect.

use std::time::Duration;

use limpid_core::{AgentId, AgentState, Labelled, Sentence, sentence};
use limpid_tools::ToolContext;

use crate::agents::report::AgentReport;
use crate::agents::request::AgentRequest;
use crate::agents::service::Agents;
use crate::directory::is_of_clients;
use crate::tools::trouble;

/// How long a call may take that returns at once: where many agents work it waits.
pub(super) const AT_ONCE: Duration = Duration::from_secs(40);

/// How much longer a call may take than the agent that it waits for.
const BESIDE: Duration = Duration::from_secs(60);

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
    if !waits && is_of_clients(&by.conversation) {
        let (id, path) = (agent.id.0, agent.id.0);
        let told = sentence!(
            "agent {} works in the background; `list_agents` says when it has ended, `read_file` with the path `agent:{}` gives its result",
            id,
            path
        );
        return Ok(told.into());
    }
    if !waits {
        let told = sentence!(
            "agent {} works in the background; its result comes by itself, as [agent_result:{}]",
            agent.id.0,
            agent.id.0
        );
        return Ok(told.into());
    }
    let mut waiting = Waiting { agents: agents.clone(), id: Some(agent.id) };
    let agent = agents.wait(agent.id).await.map_err(trouble)?;
    waiting.id = None;
    let report = AgentReport::of_row(&agent);
    let notice = report.notice(agent.id, agent.state, agent.trust);
    let above = report.above_words(agent.id, agent.trust);
    let said = Labelled::new(format!("{above}{}", agent.result), agent.trust);
    let told = match agent.state {
        AgentState::Done => sentence!("{}\n{}", Labelled::new(notice, limpid_core::Trust::Owner), said),
        _ => {
            let why = Labelled::new(agent.reason, agent.trust.join(limpid_core::Trust::Outside));
            sentence!("{}; {}\n{}", Labelled::new(notice, limpid_core::Trust::Owner), why, said)
        }
    };
    Ok(told.into())
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
