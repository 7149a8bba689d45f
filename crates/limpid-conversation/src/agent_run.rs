//! Agents that turns hand work to, at work: each is a run of its own, with its limits, and ends exactly once.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use limpid_core::agent::MOST_ROUNDS;
use limpid_core::{AgentId, AgentState, Labelled, Message, Role, Trust};
use limpid_services::agents::{AgentReport, RunsAgents};
use limpid_services::error::AgentError;
use limpid_services::modes::{is_set, mode_of};
use limpid_services::skills::SkillStatus;
use limpid_services::spending::Spender;
use limpid_store::{AgentFilter, NewInbound, RequestFilter, SubAgent};
use limpid_turn::{Finish, Outcome};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::background_run::{BackgroundRun, RunReport};
use crate::conversations::{Conversations, Taken, WeakConversations};
use crate::event::TurnEvent;

/// Requests of an agent that are counted.
const REQUESTS: u32 = 1000;

/// How often it is looked whether another process has stopped an agent.
const LOOK: Duration = Duration::from_secs(1);

/// Runs agents in conversations. It keeps these no longer than others do.
pub struct AgentRunner(WeakConversations);

impl AgentRunner {
    /// Runs agents in these conversations.
    pub fn new(conversations: WeakConversations) -> Self {
        Self(conversations)
    }
}

impl RunsAgents for AgentRunner {
    fn start(&self, agent: SubAgent) {
        let Some(conversations) = self.0.upgrade() else { return };
        tokio::spawn(async move {
            let worked = AssertUnwindSafe(work(&conversations, &agent)).catch_unwind().await;
            let ended = match worked {
                Ok(Ok(ended)) => ended,
                Ok(Err(error)) => Ended::without(AgentState::Failed, error.to_string()),
                Err(_) => Ended::without(AgentState::Failed, "internal error".to_owned()),
            };
            // What cannot be written now is written when the store is opened again: then it was interrupted.
            let _ = end(&conversations, &agent, ended).await;
        });
    }

    fn stop(&self, agent: AgentId) {
        if let Some(conversations) = self.0.upgrade() {
            conversations.cancel(&agent.conversation());
        }
    }
}

/// How an agent's work ended.
struct Ended {
    state: AgentState,
    answer: Option<String>,
    trust: Trust,
    reason: String,
}

impl Ended {
    fn without(state: AgentState, reason: String) -> Self {
        Self { state, answer: None, trust: Trust::Owner, reason }
    }
}

/// Does an agent's work, within its time.
async fn work(conversations: &Conversations, agent: &SubAgent) -> Result<Ended, AgentError> {
    let deps = conversations.deps();
    let run = run_of(conversations, agent).await?;
    if !deps.store().begin_agent(agent.id, deps.host().now_ms()).await? {
        return Ok(Ended::without(AgentState::Cancelled, "it was stopped".to_owned()));
    }
    let limit = deps.agents.timeout();
    let (activity, results) = (Notify::new(), AtomicU32::new(0));
    let seen = |event: &TurnEvent| {
        if matches!(event, TurnEvent::ToolDone { .. }) {
            results.fetch_add(1, Ordering::SeqCst);
        }
        activity.notify_one();
    };
    let running = conversations.run_watched(run, &seen);
    tokio::pin!(running);
    let began = Instant::now();
    let (mut until, mut looked_at, mut is_told) = (began + limit, 0, false);
    let mut look = began + LOOK;
    loop {
        // One that is waited for has so much time in all, and is told when four fifths of it are over.
        let hurry = if agent.new.waited_for && !is_told { began + limit * 4 / 5 } else { until };
        tokio::select! {
            report = &mut running => return of_report(conversations, agent, report?).await,
            () = activity.notified() => {
                if !agent.new.waited_for {
                    until = Instant::now() + limit;
                }
                let results = results.load(Ordering::SeqCst);
                if !is_told && results != looked_at {
                    looked_at = results;
                    let left = MOST_ROUNDS.saturating_sub(rounds(conversations, agent).await?);
                    if left <= MOST_ROUNDS / 5 + 1 {
                        is_told = true;
                        tell_to_report(conversations, agent, format!("[report now] rounds left: {left}")).await?;
                    }
                }
            }
            () = tokio::time::sleep_until(look) => {
                look += LOOK;
                let found = deps.store().agent(agent.id).await?;
                if found.is_none_or(|found| found.state.is_over()) {
                    conversations.cancel(&agent.id.conversation());
                    deps.agents.wake(agent);
                    return Ok(Ended::without(AgentState::Cancelled, "it was stopped".to_owned()));
                }
            }
            () = tokio::time::sleep_until(hurry) => {
                if hurry < until {
                    is_told = true;
                    let left = (until - Instant::now()).as_secs();
                    tell_to_report(conversations, agent, format!("[report now] seconds left: {left}")).await?;
                    continue;
                }
                conversations.cancel(&agent.id.conversation());
                // What it said so far is kept while it stops.
                let _ = tokio::time::timeout(Duration::from_secs(5), &mut running).await;
                return Ok(Ended::without(AgentState::Timeout, format!("it took longer than {} s", limit.as_secs())));
            }
        }
    }
}

/// Replies that an agent's models have given.
async fn rounds(conversations: &Conversations, agent: &SubAgent) -> Result<u32, AgentError> {
    let messages = conversations.deps().store().messages(&agent.id.conversation(), None).await?.rows;
    let replies = messages.iter().filter(|row| row.message.role == Role::Assistant).count();
    Ok(u32::try_from(replies).unwrap_or(u32::MAX))
}

/// The key of the message that tells an agent to come to its end.
pub(crate) fn told_to_report(id: AgentId) -> String {
    format!("agent/{id} report")
}

/// Tells an agent to come to its end, once: the message reaches it at the next border of its turn.
async fn tell_to_report(conversations: &Conversations, agent: &SubAgent, text: String) -> Result<(), AgentError> {
    let new = NewInbound {
        conversation: agent.id.conversation(),
        key: Some(told_to_report(agent.id)),
        text,
        trust: Trust::File,
        typed: false,
        now_ms: conversations.deps().host().now_ms(),
    };
    conversations.accept(None, new, None, false, Taken::IsTold).await?;
    Ok(())
}

/// The run of an agent: with the mode, the model and the readers of whoever started it.
async fn run_of(conversations: &Conversations, agent: &SubAgent) -> Result<BackgroundRun, AgentError> {
    let deps = conversations.deps();
    let parent = deps.directory.existing(&agent.new.conversation).await?;
    let mode = mode_of(deps.config(), &parent);
    let mode = is_set(Some(&parent), mode).then(|| mode.to_owned());
    let skill = match &agent.new.skill {
        Some(name) => deps
            .context
            .skills
            .list()
            .await?
            .into_iter()
            .find(|skill| skill.status == SkillStatus::Ready && skill.name.eq_ignore_ascii_case(name)),
        None => None,
    };
    let model = skill.and_then(|skill| skill.prompt?.skill.model);
    Ok(BackgroundRun {
        key: agent.id.run_key(),
        path: agent.new.path.clone(),
        mode,
        spender: if agent.in_background { Spender::Background } else { Spender::Owner },
        profile: Some(parent.profile),
        model: model.or(parent.model),
        audience: parent.audience,
        text: agent.new.task.clone(),
        trust: agent.new.trust,
    })
}

/// What a run that is over means for its agent: only a whole answer within its rounds is a result.
async fn of_report(conversations: &Conversations, agent: &SubAgent, report: RunReport) -> Result<Ended, AgentError> {
    let RunReport { outcome, answer, trust, .. } = report;
    let (state, reason) = match outcome {
        Outcome::Answered { finish: Finish::Stop } => {
            if rounds(conversations, agent).await? < MOST_ROUNDS {
                (AgentState::Done, String::new())
            } else {
                (AgentState::Failed, format!("it ran out of its {MOST_ROUNDS} rounds"))
            }
        }
        Outcome::Answered { finish } => (AgentState::Failed, format!("its answer was cut off: {}", finish.as_str())),
        Outcome::Cancelled => (AgentState::Cancelled, "it was stopped".to_owned()),
        Outcome::Failed { message, .. } => (AgentState::Failed, message),
    };
    Ok(Ended { state, answer, trust, reason })
}

/// Writes down that an agent has ended, with what its journal says that it did.
async fn end(conversations: &Conversations, agent: &SubAgent, ended: Ended) -> Result<bool, AgentError> {
    let deps = conversations.deps();
    let own = agent.id.conversation();
    let messages: Vec<Message> =
        deps.store().messages(&own, None).await?.rows.into_iter().map(|row| row.message).collect();
    let filter = RequestFilter { conversation: Some(own.clone()), limit: REQUESTS, ..RequestFilter::default() };
    let requests = deps.store().requests(filter).await?.rows;
    let ends = requests.iter().filter_map(|request| request.end.as_ref());
    let read = ends.clone().map(|end| end.trust).fold(ended.trust, Trust::join);
    let trust = messages.iter().map(|message| message.trust).fold(read.join(agent.trust), Trust::join);
    let open = AgentFilter { conversation: Some(own), open: true, ..AgentFilter::default() };
    let tools = &deps.context.tools;
    let written = |name: &str, arguments: &str| {
        let arguments = serde_json::from_str(arguments).unwrap_or_default();
        let paths = tools.tool(name)?.paths(&arguments);
        Some(paths.into_iter().filter(|path| path.write).map(|path| path.path).collect())
    };
    let report = AgentReport {
        tokens: ends.filter_map(|end| end.usage).map(|usage| usage.input + usage.output).sum(),
        unanswered: deps.store().agents(open).await?.rows.iter().map(|agent| agent.id.0).collect(),
        ..AgentReport::of(messages.iter(), written)
    };
    // What was said before it was cut off.
    let said = messages.iter().rev().filter(|message| message.role == Role::Assistant).map(|message| &message.text);
    let said = || said.clone().find(|text| !text.trim().is_empty()).cloned().unwrap_or_default();
    let answer = ended.answer.unwrap_or_else(said);
    deps.agents.end(agent, ended.state, Labelled::new(answer, trust), ended.reason, &report).await
}
