//! Agents that turns hand work to, at work: each is a run of its own, with its limits, and ends exactly once.

mod left;

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use limpid_core::agent::MOST_ROUNDS;
use limpid_core::{AgentState, Labelled, Trust};
use limpid_services::agents::{RunsAgents, Unheard};
use limpid_services::error::AgentError;
use limpid_services::modes::{is_set, mode_of};
use limpid_services::skills::SkillStatus;
use limpid_services::spending::Spender;
use limpid_store::{AgentEnded, SubAgent};
use limpid_turn::{Finish, Outcome};
use tokio::sync::Notify;

use crate::background_run::{BackgroundRun, RunReport};
use crate::conversations::{Conversations, WeakConversations};
use crate::event::TurnEvent;
use crate::listeners::Answerer;

use self::left::{Left, Time, has_agents, hear, most_rounds, rounds, tell_to_report};

/// How long is waited before an end that could not be written is written again: doubled each time, six times at most.
const RETRY: Duration = Duration::from_secs(1);
const MOST_DOUBLED: u32 = 6;

/// How often it is tried to write an end with the agent's words and the report of it.
const WHOLE_TRIES: u32 = 4;

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
                Ok(Ok(None)) => return,
                Ok(Ok(Some(ended))) => ended,
                Ok(Err(error)) => Ended::without(AgentState::Failed, error.to_string()),
                Err(_) => Ended::without(AgentState::Failed, "internal error".to_owned()),
            };
            end(&conversations, &agent, &ended, &Unheard::IsTold).await;
        });
    }

    fn stop(&self, agent: &SubAgent) {
        if let Some(conversations) = self.0.upgrade() {
            conversations.cancel(&agent.works_in());
        }
    }

    fn is_tool(&self, name: &str) -> bool {
        self.0.upgrade().is_some_and(|conversations| conversations.deps().context.tools.tool(name).is_some())
    }

    fn hear(&self, agent: &SubAgent) {
        let Some(conversations) = self.0.upgrade() else { return };
        let agent = agent.clone();
        // The next look of whoever runs it hears of what cannot be read now.
        tokio::spawn(async move { hear(&conversations, &agent).await });
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

    fn stopped() -> Self {
        Self::without(AgentState::Cancelled, "it was stopped".to_owned())
    }
}

/// Does an agent's work, within its time. None: its end is written.
async fn work(conversations: &Conversations, agent: &SubAgent) -> Result<Option<Ended>, AgentError> {
    let deps = conversations.deps();
    let (run, own) = (run_of(conversations, agent).await?, agent.works_in());
    if !deps.store().begin_agent(agent.id, deps.host().now_ms()).await? {
        return Ok(Some(Ended::stopped()));
    }
    let (activity, results) = (Notify::new(), AtomicU32::new(0));
    let seen = |event: &TurnEvent| {
        if matches!(event, TurnEvent::ToolDone { .. } | TurnEvent::ToolRefused { .. }) {
            results.fetch_add(1, Ordering::SeqCst);
        }
        activity.notify_one();
    };
    let once = || conversations.run_watched(run.clone(), &seen, answerer(conversations, agent));
    // What it is told while it says its last word begins a turn of its own, which is its last one then.
    let watched = || {
        async {
            once().await?;
            conversations.wait_idle(&own).await;
            once().await
        }
        .boxed()
    };
    let mut running = watched();
    let mut time = Time::new(conversations, agent);
    let (mut looked_at, mut is_told, mut told_late) = (0, false, 0);
    let mut look = tokio::time::Instant::now() + LOOK;
    loop {
        tokio::select! {
            report = &mut running => {
                if has_ended(conversations, agent, report?, told_late < MOST_ROUNDS).await? {
                    return Ok(None);
                }
                told_late += 1;
                conversations.wake(&own);
                running = watched();
            }
            () = activity.notified() => {
                time.is_active();
                let results = results.load(Ordering::SeqCst);
                if !is_told && results != looked_at {
                    looked_at = results;
                    let left = most_rounds(agent).saturating_sub(rounds(conversations, agent).await?);
                    if left <= MOST_ROUNDS / 5 + 1 {
                        is_told = true;
                        tell_to_report(conversations, agent, Left::Rounds(left)).await?;
                    }
                }
            }
            () = tokio::time::sleep_until(look) => {
                look += LOOK;
                let found = deps.store().agent(agent.id).await?;
                if found.is_none_or(|found| found.state.is_over()) {
                    conversations.cancel(&own);
                    deps.agents.wake(agent);
                    return Ok(Some(Ended::stopped()));
                }
                hear(conversations, agent).await?;
            }
            () = &mut time.hurry, if !is_told => {
                is_told = true;
                tell_to_report(conversations, agent, Left::Seconds((time.limit / 5).as_secs())).await?;
            }
            () = &mut time.over => {
                if !agent.new.waited_for && has_agents(conversations, agent).await? {
                    time.is_active();
                    continue;
                }
                conversations.cancel(&own);
                // What it said so far is kept while it stops.
                let _ = tokio::time::timeout(Duration::from_secs(5), &mut running).await;
                let reason = format!("it took longer than {} s", time.limit.as_secs());
                return Ok(Some(Ended::without(AgentState::Timeout, reason)));
            }
        }
    }
}

/// Who answers its questions: whoever listens to its chat. A research worker, which strangers' pages lead, asks nobody.
fn answerer(conversations: &Conversations, agent: &SubAgent) -> Answerer {
    if agent.is_research() { Answerer::Nobody } else { conversations.answerer_in(&agent.chat, &agent.works_in()) }
}

/// The run of an agent: with the mode, the model and the readers of whoever started it.
async fn run_of(conversations: &Conversations, agent: &SubAgent) -> Result<BackgroundRun, AgentError> {
    let deps = conversations.deps();
    let parent = deps.directory.existing(&agent.new.conversation).await?;
    let mode = if agent.is_research() {
        deps.modes.of_runs(&agent.new.path).map(str::to_owned)
    } else {
        let mode = mode_of(deps.config(), &parent);
        is_set(Some(&parent), mode).then(|| mode.to_owned())
    };
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
    let named = agent.new.named.as_ref().and_then(|name| deps.config().agents.named.get(name));
    let model = skill.and_then(|skill| skill.prompt?.skill.model).or_else(|| named?.model.clone());
    Ok(BackgroundRun {
        key: match agent.new.continues {
            Some(_) => format!("{}/{}", first_run_key(agent), agent.id),
            None => agent.id.run_key(),
        },
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

/// The key of the run that an agent goes on with.
fn first_run_key(agent: &SubAgent) -> String {
    let place = agent.works_in();
    place.as_str().strip_prefix("run-").unwrap_or(place.as_str()).to_owned()
}

/// Ends an agent by a run that is over. False: it goes on, as it may where it was told something since.
async fn has_ended(
    conversations: &Conversations,
    agent: &SubAgent,
    report: RunReport,
    may_go_on: bool,
) -> Result<bool, AgentError> {
    let unheard = if may_go_on { Unheard::GoesOn(report.turn.clone()) } else { Unheard::IsTold };
    let ended = of_report(conversations, agent, report).await?;
    Ok(match end(conversations, agent, &ended, &unheard).await {
        AgentEnded::Now | AgentEnded::Before => true,
        AgentEnded::IsTold(_) | AgentEnded::WorksOn => false,
    })
}

/// What a run that is over means for its agent: only a whole answer within its rounds is a result.
async fn of_report(conversations: &Conversations, agent: &SubAgent, report: RunReport) -> Result<Ended, AgentError> {
    let RunReport { outcome, answer, trust, .. } = report;
    let (state, reason) = match outcome {
        Outcome::Answered { finish: Finish::Stop } => {
            if rounds(conversations, agent).await? < most_rounds(agent) {
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

/// Writes down that an agent has ended. What cannot be written is tried again as long as this process lives; after that its end
/// is found to be missing at the next start.
async fn end(conversations: &Conversations, agent: &SubAgent, ended: &Ended, unheard: &Unheard) -> AgentEnded {
    let deps = conversations.deps();
    let mut tries = 0;
    loop {
        let tried = if tries < WHOLE_TRIES {
            end_whole(conversations, agent, ended, unheard).await
        } else {
            deps.agents.end_without_words(agent, "its end could not be written whole".to_owned()).await
        };
        match tried {
            Ok(ended) => return ended,
            Err(_) => deps.pause.pause(RETRY * (1 << tries.min(MOST_DOUBLED))).await,
        }
        tries += 1;
    }
}

async fn end_whole(
    conversations: &Conversations,
    agent: &SubAgent,
    ended: &Ended,
    unheard: &Unheard,
) -> Result<AgentEnded, AgentError> {
    let agents = &conversations.deps().agents;
    // What was said before it was cut off.
    let (said, read) = agents.said_so_far(agent).await?.into_parts();
    let answer = Labelled::new(ended.answer.clone().unwrap_or(said), read.join(ended.trust));
    agents.end(agent, ended.state, answer, ended.reason.clone(), unheard.clone()).await
}
