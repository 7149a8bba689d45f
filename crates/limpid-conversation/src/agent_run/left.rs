//! What an agent has left of its time and rounds, and what it is told while it works.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use limpid_core::agent::MOST_ROUNDS;
use limpid_core::{Role, Trust};
use limpid_model::Pause;
use limpid_prompt::count::Estimate;
use limpid_prompt::inputs::{DelegateInput, Inputs, TrustName};
use limpid_prompt::{PromptMessage, RenderRequest};
use limpid_services::error::AgentError;
use limpid_services::profiles::{REPORT_NOW, Reader};
use limpid_store::{AgentFilter, Base, NewInbound, SubAgent};

use crate::actors::Command;
use crate::conversations::{Conversations, Taken};
use crate::listeners::Answerer;

/// The time that an agent has: one that is waited for has it in all, one in the background may be inactive as long.
pub(super) struct Time {
    pub(super) limit: Duration,
    pause: Arc<dyn Pause>,
    waited_for: bool,
    /// Four fifths of the time of one that is waited for are over.
    pub(super) hurry: BoxFuture<'static, ()>,
    pub(super) over: BoxFuture<'static, ()>,
}

impl Time {
    pub(super) fn new(conversations: &Conversations, agent: &SubAgent) -> Self {
        let deps = conversations.deps();
        let (limit, pause, waited_for) = (deps.agents.timeout_of(agent), Arc::clone(&deps.pause), agent.new.waited_for);
        let hurry = if waited_for { pause.pause(limit * 4 / 5) } else { std::future::pending().boxed() };
        Self { limit, over: pause.pause(limit), pause, waited_for, hurry }
    }

    pub(super) fn is_active(&mut self) {
        if !self.waited_for {
            self.over = self.pause.pause(self.limit);
        }
    }
}

/// Whether agents of an agent's own work, which have a time of their own.
pub(super) async fn has_agents(conversations: &Conversations, agent: &SubAgent) -> Result<bool, AgentError> {
    let open = AgentFilter { conversation: Some(agent.works_in()), open: true, ..AgentFilter::default() };
    Ok(!conversations.deps().store().agents(open).await?.rows.is_empty())
}

/// Has an agent hear what another process was given for it.
pub(super) async fn hear(conversations: &Conversations, agent: &SubAgent) -> Result<(), AgentError> {
    let own = agent.works_in();
    for inbound in conversations.deps().store().waiting(&own).await?.rows {
        if inbound.agent.is_none() {
            conversations.command(&own, Command::Message { inbound, listener: None, path: None });
        }
    }
    Ok(())
}

/// Replies that an agent's models have given since it was given its task.
pub(super) async fn rounds(conversations: &Conversations, agent: &SubAgent) -> Result<u32, AgentError> {
    let messages = conversations.deps().store().messages(&agent.works_in(), agent.message_before).await?.rows;
    let replies = messages.iter().filter(|row| row.message.role == Role::Assistant).count();
    Ok(u32::try_from(replies).unwrap_or(u32::MAX))
}

/// Replies that an agent's models may give; a research worker has as many as any turn.
pub(super) fn most_rounds(agent: &SubAgent) -> u32 {
    if agent.is_research() { u32::MAX } else { MOST_ROUNDS }
}

/// What an agent has left.
pub(super) enum Left {
    Rounds(u32),
    Seconds(u64),
}

/// Tells an agent to come to its end, once: the message reaches it at the next border of its turn.
pub(super) async fn tell_to_report(
    conversations: &Conversations,
    agent: &SubAgent,
    left: Left,
) -> Result<(), AgentError> {
    let deps = conversations.deps();
    let parent = deps.directory.existing(&agent.new.conversation).await?;
    // It is told no more than its prompt may say.
    let profile = deps.context.profiles.profile(&parent.profile, Reader::Prompts(&agent.new.path))?;
    let nothing = DelegateInput::by(TrustName::File);
    let delegate = match left {
        Left::Rounds(rounds) => DelegateInput { rounds_left: Some(rounds), ..nothing },
        Left::Seconds(seconds) => DelegateInput { seconds_left: Some(seconds), ..nothing },
    };
    let inputs = Inputs { delegate, ..Inputs::default() };
    let counter = Estimate::default();
    let request = RenderRequest { path: REPORT_NOW, inputs: &inputs, counter: &counter, count_tokens: false };
    let prompt = profile.render(request).map_err(|error| AgentError::Prompt(error.to_string()))?;
    let new = NewInbound {
        conversation: agent.works_in(),
        key: Some(agent.id.report_key()),
        text: prompt.messages().iter().map(PromptMessage::text).collect::<Vec<_>>().join("\n\n"),
        trust: Trust::File,
        typed: false,
        base: Base::Anywhere,
        now_ms: deps.host().now_ms(),
    };
    conversations.accept(None, new, None, Answerer::Nobody, Taken::IsTold).await?;
    Ok(())
}
