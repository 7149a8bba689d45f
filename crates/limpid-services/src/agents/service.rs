//! The state of agents: which there are, what they may use, how they end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use limpid_config::{Config, Live, PasteTrust, Redactor, process};
use limpid_core::agent::plan::PlannedState;
use limpid_core::agent::{MOST_OF_CLIENTS_A_DAY, RESEARCH_SECONDS};
use limpid_core::{
    AgentId, AgentLimits, AgentRefusal, AgentState, ConversationId, Labelled, Role, Sentence, Trust, TurnId, sentence,
};
use limpid_model::Pause;
use limpid_store::{
    AcceptedAgent, AgentEnd, AgentEnded, AgentFilter, InboundId, NewSubAgent, RequestFilter, Store, StoreError,
    SubAgent,
};
use limpid_tools::ToolContext;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::agents::refusal::words;
use crate::agents::report::{AgentReport, REQUESTS, report_of};
use crate::agents::request::AgentRequest;
use crate::agents::research::with_sources;
use crate::agents::runs::AgentRuns;
use crate::deliveries::ConversationSignal;
use crate::directory::is_of_clients;
use crate::error::AgentError;
use crate::events::{EventBus, EventKind};
use crate::host::Host;
use crate::skills::Skills;
use crate::tools::trouble;

/// How long a call waits until fewer agents work.
const WAIT: Duration = Duration::from_secs(30);

/// What [`Agents`] are made from.
pub struct AgentsParts {
    /// Where they are kept.
    pub store: Arc<dyn Store>,
    /// The settings.
    pub config: Live<Config>,
    /// The process around.
    pub host: Host,
    /// Takes known secrets out of texts.
    pub redactor: Redactor,
    /// The skills that agents follow.
    pub skills: Arc<Skills>,
    /// Where ends are told.
    pub events: EventBus,
    /// Wakes the conversations that started them.
    pub signal: ConversationSignal,
    /// Who runs them.
    pub runs: AgentRuns,
    /// How time is waited for.
    pub pause: Arc<dyn Pause>,
}

/// What a conversation still has to hear of the agents that it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outstanding {
    /// Agents that have not ended.
    pub working: usize,
    /// Messages that tell of ends and that no turn has taken.
    pub waiting: usize,
}

/// What becomes of an end when the agent was told something that it has not heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unheard {
    /// The agent goes on instead. The result is the answer of this turn.
    GoesOn(TurnId),
    /// It ends all the same, and its report says so. Whoever goes on with its work hears it.
    IsTold,
}

/// Agents that turns hand work to. Clones share them.
#[derive(Clone)]
pub struct Agents(Arc<Inner>);

struct Inner {
    parts: AgentsParts,
    /// Rings when an agent has ended.
    ended: Notify,
}

impl Agents {
    /// The agents of a store.
    pub fn new(parts: AgentsParts) -> Self {
        Self(Arc::new(Inner { parts, ended: Notify::new() }))
    }

    pub(super) fn store(&self) -> &dyn Store {
        &*self.0.parts.store
    }

    pub(super) fn skills(&self) -> &Skills {
        &self.0.parts.skills
    }

    pub(super) fn redactor(&self) -> &Redactor {
        &self.0.parts.redactor
    }

    pub(super) fn host(&self) -> &Host {
        &self.0.parts.host
    }

    pub(super) fn runs(&self) -> &AgentRuns {
        &self.0.parts.runs
    }

    /// Whether every paste is the owner's own.
    pub(super) fn pastes_are_mine(&self) -> bool {
        self.0.parts.config.trust.paste == PasteTrust::Mine
    }

    /// How long an agent may be inactive.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.0.parts.config.agents.timeout_seconds.max(1))
    }

    /// How many agents a conversation may have.
    fn limits(&self, conversation: &ConversationId) -> AgentLimits {
        let a_day = is_of_clients(conversation).then_some(MOST_OF_CLIENTS_A_DAY);
        AgentLimits { a_day, ..self.0.parts.config.agents.limits() }
    }

    /// Asks the store for an agent. A client asks for the end itself: no message tells it, so none starts a turn in its conversation.
    pub(super) async fn ask_store(&self, mut new: NewSubAgent) -> Result<AcceptedAgent, StoreError> {
        new.waited_for |= is_of_clients(&new.conversation);
        let limits = self.limits(&new.conversation);
        self.store().accept_agent(new, limits).await
    }

    /// How long this one may be inactive.
    pub fn timeout_of(&self, agent: &SubAgent) -> Duration {
        if agent.is_research() { Duration::from_secs(RESEARCH_SECONDS) } else { self.timeout() }
    }

    /// Whether work may be given to the agent of this name; none: there is none. With the agent's own name.
    pub(super) fn is_allowed(&self, name: &str) -> (Option<bool>, Option<String>) {
        let Config { agents, agent, .. } = &*self.0.parts.config;
        (agents.named.contains_key(name).then(|| agents.allows(name)), agent.name.clone())
    }

    /// The skill of an agent of the settings.
    pub(super) fn named_skill(&self, name: &str) -> Option<String> {
        self.0.parts.config.agents.named.get(name)?.skill.clone()
    }

    /// Rings when the next agent of this process ends.
    pub fn next_end(&self) -> Notified<'_> {
        self.0.ended.notified()
    }

    /// Accepts the agent that a call asks for, and has it begin.
    pub(super) async fn start(&self, by: &ToolContext, request: AgentRequest) -> Result<SubAgent, Sentence> {
        self.accept(request.complete(self, by).await?).await
    }

    /// Accepts an agent and has it begin. Where as many work as may, waits until one of them has ended.
    pub(super) async fn accept(&self, new: NewSubAgent) -> Result<SubAgent, Sentence> {
        let mut over = self.0.parts.pause.pause(WAIT);
        loop {
            // Listened to before the look, so that an end between the two is not missed.
            let ended = self.next_end();
            tokio::pin!(ended);
            ended.as_mut().enable();
            match self.ask_store(new.clone()).await.map_err(trouble)? {
                AcceptedAgent::Fresh(agent) => {
                    if let Some(runs) = self.runs().get() {
                        runs.start((*agent).clone());
                    }
                    return Ok(*agent);
                }
                AcceptedAgent::Known(agent) => return Ok(*agent),
                AcceptedAgent::Refused(refusal @ AgentRefusal::Live(_)) => {
                    tokio::select! {
                        () = ended => {}
                        () = &mut over => return Err(words(refusal)),
                    }
                }
                AcceptedAgent::Refused(refusal) => return Err(words(refusal)),
            }
        }
    }

    /// Waits until an agent has ended.
    pub(super) async fn wait(&self, id: AgentId) -> Result<SubAgent, AgentError> {
        loop {
            let ended = self.next_end();
            tokio::pin!(ended);
            ended.as_mut().enable();
            let agent = self.find(id).await?;
            if agent.state.is_over() {
                return Ok(agent);
            }
            if process::is_dead(&agent.new.holder) {
                self.interrupt(&agent).await?;
            } else {
                ended.await;
            }
        }
    }

    /// Ends an agent: its end and the message that tells of it are written together, then whoever started it is woken. What it
    /// was told and has not heard keeps it from its end, or is counted in the report of it: no message is lost without a word.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn end(
        &self,
        agent: &SubAgent,
        state: AgentState,
        result: Labelled<String>,
        reason: String,
        unheard: Unheard,
    ) -> Result<AgentEnded, AgentError> {
        let result = if agent.is_research() { with_sources(self.store(), agent, result).await? } else { result };
        let (result, trust) = result.into_parts();
        let trust = trust.join(agent.trust).of_strangers();
        let mut report = report_of(self.store(), self.runs(), agent).await?;
        // A research worker knows no secret, and a page's guess that is struck out is confirmed.
        let result = if agent.is_research() { result } else { self.redactor().clean(result) };
        let reason = self.redactor().clean(reason);
        let mut told_until = InboundId(0);
        let ended = loop {
            let waiting = self.store().waiting(&agent.works_in()).await?.rows;
            let told = waiting.iter().filter(|inbound| inbound.key != Some(agent.id.report_key()));
            report.unheard = u32::try_from(told.count()).unwrap_or(u32::MAX);
            let newest = waiting.last().map_or(InboundId(0), |inbound| inbound.id);
            if matches!(unheard, Unheard::GoesOn(_)) && report.unheard > 0 {
                return Ok(AgentEnded::IsTold(newest));
            }
            let end = AgentEnd {
                id: agent.id,
                told_until: told_until.max(newest),
                answered_by: match &unheard {
                    Unheard::GoesOn(turn) => Some(turn.clone()),
                    Unheard::IsTold => None,
                },
                state,
                result: result.clone(),
                trust,
                reason: reason.clone(),
                above: report.above_words(agent.id, trust),
                report: report.to_text(),
                notice: report.notice(agent.id, state, trust),
                now_ms: self.host().now_ms(),
            };
            match self.store().end_agent(end).await? {
                // Told between the look and the write.
                AgentEnded::IsTold(newest) => told_until = newest,
                ended => break ended,
            }
        };
        self.tell_of_end(agent, state, ended).await;
        Ok(ended)
    }

    /// Ends an agent whose end cannot be written as it was, as where its journal cannot be read: without its words and its report.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn end_without_words(&self, agent: &SubAgent, reason: String) -> Result<AgentEnded, AgentError> {
        let (state, trust, report) = (AgentState::Failed, Trust::Outside, AgentReport::default());
        let end = AgentEnd {
            id: agent.id,
            told_until: InboundId(i64::MAX),
            answered_by: None,
            state,
            result: String::new(),
            trust,
            reason: self.redactor().clean(reason),
            above: String::new(),
            report: report.to_text(),
            notice: report.notice(agent.id, state, trust),
            now_ms: self.host().now_ms(),
        };
        let ended = self.store().end_agent(end).await?;
        self.tell_of_end(agent, state, ended).await;
        Ok(ended)
    }

    /// The folder in which relative paths begin here; none: the workspace.
    pub(super) fn base(&self) -> Option<String> {
        self.0.parts.config.files.base_text()
    }

    /// Whoever waits for the end of an agent, or listens, hears of it.
    async fn tell_of_end(&self, agent: &SubAgent, state: AgentState, ended: AgentEnded) {
        if ended == AgentEnded::Now {
            // The process that runs the agent sees its end and wakes the conversation itself; this one may end at once.
            if agent.new.holder == self.host().holder() {
                self.wake(agent);
            }
            let label = agent.new.label_of_ours().unwrap_or_default().to_owned();
            let change = EventKind::AgentEnded { agent: agent.id.0, label, state: state.to_string() };
            self.0.parts.events.send(Some(&agent.chat), change);
        }
        // Before anybody who waits looks whether there is more to wait for. What fails here is done at the next start; the agent has
        // ended all the same, and whoever stops it has more to do.
        let _ = self.start_queued(&agent.chat).await;
        self.0.ended.notify_waiters();
    }

    /// Has the conversation that started an agent look at what it was told.
    pub fn wake(&self, agent: &SubAgent) {
        if !agent.new.waited_for {
            self.0.parts.signal.wake(&agent.new.conversation);
        }
    }

    /// Ends agents that a dead process had: of one conversation, or of all. Says which conversations started some.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn recover(&self, conversation: Option<&ConversationId>) -> Result<Vec<ConversationId>, AgentError> {
        let filter = AgentFilter { conversation: conversation.cloned(), open: true, ..AgentFilter::default() };
        let open = self.store().agents(filter).await?.rows;
        let mut started_by = Vec::new();
        for agent in open.iter().filter(|agent| process::is_dead(&agent.new.holder)) {
            self.interrupt(agent).await?;
            started_by.push(agent.new.conversation.clone());
        }
        match conversation {
            Some(conversation) => self.start_queued(conversation).await?,
            None => {
                let planned = self.planned(None).await?;
                let queued = planned.iter().filter(|one| one.state == PlannedState::Queued);
                for chat in queued.map(|one| &one.task.chat).collect::<BTreeSet<_>>() {
                    self.start_queued(chat).await?;
                }
            }
        }
        Ok(started_by)
    }

    /// What a conversation still has to hear of the agents that it started.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn outstanding(&self, conversation: &ConversationId) -> Result<Outstanding, AgentError> {
        let filter = AgentFilter { conversation: Some(conversation.clone()), open: true, ..AgentFilter::default() };
        let working = self.store().agents(filter).await?.rows.len();
        let waiting = self.store().waiting(conversation).await?.rows.iter().filter(|row| row.agent.is_some()).count();
        Ok(Outstanding { working, waiting })
    }

    /// The result of an agent that a chat or its agents started.
    pub(super) async fn result_in(&self, chat: &ConversationId, id: AgentId) -> Result<Labelled<String>, Sentence> {
        let agent = self.store().agent(id).await.map_err(trouble)?.filter(|agent| agent.chat == *chat);
        let Some(agent) = agent else {
            return Err(sentence!("there is no agent {}; `list_agents` lists them", id.0));
        };
        if !agent.state.is_over() {
            return Err(sentence!("agent {} has not ended; its result comes by itself", id.0));
        }
        Ok(Labelled::new(agent.result, agent.trust))
    }

    /// One agent.
    ///
    /// # Errors
    /// When there is none of that number, or the store cannot be read.
    pub(super) async fn find(&self, id: AgentId) -> Result<SubAgent, AgentError> {
        self.store().agent(id).await?.ok_or_else(|| AgentError::NotFound {
            what: "agent",
            name: id.to_string(),
            advice: "`limpid agent list` lists them".to_owned(),
        })
    }

    /// The process that had an agent is gone. What it said so far is kept.
    pub(super) async fn interrupt(&self, agent: &SubAgent) -> Result<AgentEnded, AgentError> {
        let reason = "the program stopped while it worked".to_owned();
        self.end_early(agent, AgentState::Interrupted, reason).await
    }

    /// Ends an agent with what it said so far.
    pub(super) async fn end_early(
        &self,
        agent: &SubAgent,
        state: AgentState,
        reason: String,
    ) -> Result<AgentEnded, AgentError> {
        let said = self.said_so_far(agent).await?;
        self.end(agent, state, said, reason, Unheard::IsTold).await
    }

    /// The last words of an agent since it was given its task, with the label of all that it has read, also before that.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn said_so_far(&self, agent: &SubAgent) -> Result<Labelled<String>, AgentError> {
        let own = agent.works_in();
        let messages = self.store().messages(&own, None).await?.rows;
        let since = messages.iter().rev().take_while(|row| Some(row.id) > agent.message_before);
        let said = since.map(|row| &row.message).filter(|message| message.role == Role::Assistant);
        let said = said.map(|message| &message.text).find(|text| !text.trim().is_empty()).cloned().unwrap_or_default();
        let filter = RequestFilter { conversation: Some(own), limit: REQUESTS, ..RequestFilter::default() };
        let requests = self.store().requests(filter).await?.rows;
        let read = requests.iter().filter_map(|request| Some(request.end.as_ref()?.trust));
        let read = read.chain(messages.iter().map(|row| row.message.trust_of_all())).fold(agent.trust, Trust::join);
        Ok(Labelled::new(said, read))
    }
}
