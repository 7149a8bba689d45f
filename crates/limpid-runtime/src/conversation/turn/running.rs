//! Drives one turn: asks its machine what to do, carries that out, and writes down what happened.
//!
//! Everything that one event leads to is written in one transaction with it: the journal's entry, the messages, the end
//! of a request, the end of the turn. After a crash the journal is replayed, and what has no recorded result is done
//! again, or reported as of unknown outcome when that could do harm.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use limpid_core::reach::FIND_TOOLS;
use limpid_core::{CacheLife, CallId, Message, MessageId, RequestId, Role, Tier, Trust, TurnId};
use limpid_model::Model;
use limpid_prompt::count::WindowEstimate;
use limpid_prompt::inputs::{Inputs, ToolReach};
use limpid_prompt::{OfferedTool, Profile, Prompt};
use limpid_store::{Inbound, InboundId, ItemId, Kept, Lease, NewMessage, TurnOutcome, TurnWrite, Written};
use limpid_turn::{Effect, Event, Outcome, PlannedCall, ToolOutcome, Turn};
use tokio::sync::OnceCell;
use tokio::task::JoinSet;

use crate::agent::Inner;
use crate::context::History;
use crate::context::PrefixCache;
use crate::conversation::actor::{Command, Worker, message_of};
use crate::conversation::event::TurnEvent;
use crate::conversation::model_call::Demand;
use crate::conversation::model_call::Rendered;
use crate::conversation::turn::goal_markers::final_text;
use crate::conversation::turn::journal::{Began, Entry};
use crate::conversation::turn::transaction::Opening;
use crate::services::drafts::OUTCOME_UNKNOWN;
use crate::services::error::AgentError;
use crate::services::models::EffortChoice;
use crate::services::tools::policy::{CallContext, window_trust};
use crate::services::tools::{Decision, ShownItems, ToolContext, ToolFinder, TurnToolExecutor};

/// What is said of a call that may or may not have been carried out before a crash.

/// What a provider said of its window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overflow {
    /// How often a request was too large for it.
    pub(crate) times: u32,
    /// The window that it is believed to have.
    pub(crate) usable: Option<u32>,
}

/// One turn under way.
pub(crate) struct Driver<'a> {
    pub(crate) worker: &'a mut Worker,
    pub(crate) lease: &'a Lease,
    pub(crate) id: TurnId,
    pub(crate) machine: Turn,
    pub(crate) profile: Arc<Profile>,
    pub(crate) path: String,
    pub(crate) models: Vec<Arc<dyn Model>>,
    /// Everything that the prompt uses; the messages of the turn are added for each call.
    pub(crate) inputs: Inputs,
    /// What the conversation shows of its past.
    pub(crate) past: History,
    /// The stored messages of the turn after the person's, by number.
    pub(crate) in_flight: Vec<MessageId>,
    /// Overflows that a provider reported in this turn, and the window that it is believed to have since.
    pub(crate) overflow: Overflow,
    pub(crate) tools: Arc<TurnToolExecutor>,
    /// What counts the prompts of the turn, by model: it does not change while the turn runs.
    pub(crate) counters: HashMap<String, WindowEstimate>,
    /// How much the models are to reason: it does not change while the turn runs.
    pub(crate) effort: EffortChoice,
    /// How long providers are asked to keep what they have read: a change costs what they have.
    pub(crate) cache: CacheLife,
    /// Whether a reply ended at its limit without a word, so that the next one may be as long as is possible.
    pub(crate) raised: bool,
    /// Steering messages that the machine has and no border has placed.
    pub(crate) steering: VecDeque<InboundId>,
    /// The accepted messages that this run of it took in: those that it began with, and those that a border placed.
    pub(crate) answers: Vec<InboundId>,
    /// The beginning, until it is stored with the first request.
    pub(crate) opening: Option<Opening>,
    /// The first request, until it is made.
    pub(crate) first: Option<Rendered>,
    /// The request whose reply is being worked off.
    pub(crate) request: Option<RequestId>,
    /// Who wrote the least trusted text of the prompts that were sent.
    pub(crate) read: Trust,
    /// Hosts that the owner's stored messages name, once a call needed to know.
    pub(crate) hosts: OnceCell<Vec<String>>,
}

impl Driver<'_> {
    /// Whether a stop is meant for this turn: one that names no message, or one that this turn answers. A stop of another
    /// message waits for its turn.
    pub(crate) fn is_meant(&mut self, message: Option<InboundId>) -> bool {
        let Some(message) = message else { return true };
        let own = self.answers.contains(&message) || self.steering.contains(&message);
        if !own {
            self.worker.stopped.push(message);
        }
        own
    }

    /// Whether one of the messages that this turn answers was stopped before it began.
    pub(crate) fn was_stopped(&mut self) -> bool {
        let Self { worker, answers, .. } = self;
        let before = worker.stopped.len();
        worker.stopped.retain(|message| !answers.contains(message));
        worker.stopped.len() < before
    }

    /// Carries out effects until the turn is over.
    pub(crate) async fn run(mut self, effects: Vec<Effect>) -> Result<(), AgentError> {
        let mut todo = VecDeque::from(effects);
        let mut answer = None;
        while let Some(effect) = todo.pop_front() {
            match effect {
                Effect::CallModel { round, tools: true } => todo.extend(self.ask(round, Demand::Message).await?),
                Effect::CallModel { round, tools: false } => todo.extend(self.ask(round, Demand::End).await?),
                Effect::Decide { round } => todo.extend(self.ask(round, Demand::Decision).await?),
                Effect::RunTools { .. } | Effect::AskOwner { .. } => {
                    todo.push_front(effect);
                    todo = self.run_tools(todo).await?;
                }
                Effect::Deliver { text } => answer = Some(text),
                // Written together with the event that it belongs to.
                Effect::StoreMessages { .. } => {}
                Effect::End { outcome, .. } => {
                    self.worker.listeners.finish(&TurnEvent::Done { outcome, answer: answer.take() });
                }
            }
        }
        Ok(())
    }

    /// Gives the machine an event and writes down, all or nothing, the event and what it leads to. Returns what is
    /// still to be done.
    pub(crate) async fn apply(
        &mut self,
        event: Event,
        inbound: Option<InboundId>,
        before: Vec<TurnWrite>,
    ) -> Result<Vec<Effect>, AgentError> {
        // `read_result` reads on in what the message shows cut.
        let kept = match &event {
            Event::ToolDone { id, outcome } if self.machine.cuts(id, outcome) => Kept::Afterwards,
            _ => Kept::UntilEnd,
        };
        let entry = Entry::Event(event.clone(), inbound).into_row(kept)?;
        let effects = self.machine.on(event);
        let mut writes = before;
        writes.push(TurnWrite::Event(entry));
        let (mut placed, mut steered) = (Vec::new(), Vec::new());
        for effect in &effects {
            match effect {
                Effect::StoreMessages { batch } => {
                    steered.extend(batch.iter().filter(|message| message.role == Role::User));
                    let messages = self.rows(batch, &mut placed);
                    if !placed.is_empty() {
                        writes.push(TurnWrite::Take(placed.clone()));
                    }
                    writes.push(TurnWrite::Messages(messages));
                }
                Effect::End { outcome, .. } => writes.push(end_of(outcome)),
                Effect::CallModel { .. }
                | Effect::Decide { .. }
                | Effect::RunTools { .. }
                | Effect::AskOwner { .. }
                | Effect::Deliver { .. } => {}
            }
        }
        for written in self.commit_and_advance(writes, final_text(&effects)).await? {
            if let Written::Messages(ids) = written {
                self.in_flight.extend(ids);
            }
        }
        self.worker.listeners.activate(&placed);
        self.answers.extend(placed);
        for message in steered {
            self.worker.listeners.send(&TurnEvent::Steered { text: message.text.clone() });
        }
        Ok(effects)
    }

    /// Takes in another message while the turn runs. One that is handed in again is answered by it already.
    pub(crate) async fn steer(&mut self, inbound: Inbound) -> Result<Vec<Effect>, AgentError> {
        if inbound.turn.is_some() || self.answers.contains(&inbound.id) || self.steering.contains(&inbound.id) {
            self.worker.listeners.activate(&[inbound.id]);
            return Ok(Vec::new());
        }
        let message = message_of(&inbound, || self.worker.inner.host.tag());
        self.steering.push_back(inbound.id);
        self.apply(Event::Steer(message), Some(inbound.id), Vec::new()).await
    }

    /// A batch as the store takes it; `placed` gets the accepted messages that stand in it.
    fn rows(&mut self, batch: &[Message], placed: &mut Vec<InboundId>) -> Vec<NewMessage> {
        let mut row = |message: &Message| {
            let inbound = if message.role == Role::User { self.steering.pop_front() } else { None };
            placed.extend(inbound);
            let request = if message.role == Role::Assistant { self.request.clone() } else { None };
            NewMessage { inbound, request, ..NewMessage::new(message.clone()) }
        };
        batch.iter().map(&mut row).collect()
    }

    /// Runs tools at once, and asks the owner where it must, until the machine has what it waits for. Returns what is
    /// to be done after that.
    async fn run_tools(&mut self, mut todo: VecDeque<Effect>) -> Result<VecDeque<Effect>, AgentError> {
        let mut running = JoinSet::new();
        loop {
            while let Some(effect) = todo.pop_front() {
                match effect {
                    Effect::RunTools { calls } => todo.extend(self.start(calls, &mut running).await?),
                    Effect::AskOwner { calls } => todo.extend(self.ask_owner(calls).await?),
                    other => {
                        todo.push_front(other);
                        return Ok(todo);
                    }
                }
            }
            let asking = self.is_asking();
            let effects = tokio::select! {
                Some(event) = running.join_next() => match event {
                    Ok((event, shown)) => self.tool_done(event, shown).await?,
                    // Tools run in tasks of their own, so nothing of theirs can break this one.
                    Err(error) => return Err(AgentError::Invalid(error.to_string())),
                },
                Some(command) = self.worker.commands.recv() => match command {
                    Command::Cancel(message) => match self.is_meant(message) {
                        true => self.apply(Event::Cancel, None, Vec::new()).await?,
                        false => Vec::new(),
                    },
                    Command::Message { inbound, sender, .. } => {
                        self.worker.listeners.add(sender);
                        self.steer(inbound).await?
                    }
                    Command::Settle(settle) => {
                        self.worker.put_off(settle);
                        Vec::new()
                    }
                    Command::Answer { call, answer } => self.answered_by_owner(&call, answer).await?,
                    Command::Wake => Vec::new(),
                },
                () = self.worker.listeners.nobody_answers(), if asking => self.ask_nobody().await?,
            };
            todo.extend(effects);
        }
    }

    /// Starts the calls that may run; the others are refused or wait for the owner.
    async fn start(
        &mut self,
        calls: Vec<PlannedCall>,
        running: &mut JoinSet<(Event, Vec<ItemId>)>,
    ) -> Result<Vec<Effect>, AgentError> {
        let moment = self.moment().await?;
        let (mut effects, mut permitted) = (Vec::new(), Vec::new());
        for planned in calls {
            let id = planned.call.id.clone();
            match self.tools.decide(&planned, &moment).await {
                Decision::Run(permit) => permitted.push((permit, planned.timeout)),
                Decision::Refused(error) => {
                    let outcome = ToolOutcome::Failed { error };
                    effects.extend(self.tool_done(Event::ToolDone { id, outcome }, Vec::new()).await?);
                }
                Decision::Ask(why) => effects.extend(self.apply(Event::Held { id, why }, None, Vec::new()).await?),
            }
        }
        let once: Vec<CallId> = permitted
            .iter()
            .map(|(permit, _)| permit.call())
            .filter(|call| !self.tools.is_repeatable(&call.name))
            .map(|call| call.id.clone())
            .collect();
        if !once.is_empty() {
            self.commit(vec![TurnWrite::Event(Entry::Running(once).into_row(Kept::UntilEnd)?)]).await?;
        }
        for (permit, timeout) in permitted {
            let call = permit.call();
            let id = call.id.clone();
            self.worker.listeners.send(&TurnEvent::ToolStarted {
                id: id.clone(),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            });
            let (tools, context) = (Arc::clone(&self.tools), self.context(&moment));
            let shown = context.shown.clone();
            running.spawn(async move {
                match tokio::time::timeout(timeout, tools.run(context, *permit)).await {
                    Ok(outcome @ ToolOutcome::Done { .. }) => {
                        let items = shown.take().into_iter().map(ItemId).collect();
                        (Event::ToolDone { id, outcome }, items)
                    }
                    Ok(outcome @ ToolOutcome::Failed { .. }) => (Event::ToolDone { id, outcome }, Vec::new()),
                    Err(_) => (Event::Timer { id }, Vec::new()),
                }
            });
        }
        Ok(effects)
    }

    /// Takes in what came of a call, with the items of the inbox that its result shows.
    pub(crate) async fn tool_done(&mut self, event: Event, shown: Vec<ItemId>) -> Result<Vec<Effect>, AgentError> {
        let event = self.without_secrets(event);
        let (id, result) = match &event {
            Event::ToolDone { id, outcome: ToolOutcome::Done { text, .. } } => (id.clone(), text.clone()),
            Event::ToolDone { id, outcome: ToolOutcome::Failed { error } } => (id.clone(), error.clone()),
            Event::Timer { id } => (id.clone(), "it took too long and was stopped".to_owned()),
            _ => return Ok(Vec::new()),
        };
        let shown = (!shown.is_empty()).then_some(TurnWrite::Shown(shown));
        let writes = shown.into_iter().chain(self.found_tools().await?).collect();
        let effects = self.apply(event, None, writes).await?;
        self.worker.listeners.send(&TurnEvent::ToolDone { id, result });
        if let Some(notice) = self.worker.inner.memory.take_search_notice() {
            self.worker.listeners.send(&TurnEvent::Notice(notice));
        }
        Ok(effects)
    }

    /// Tools that were found since the last result: the conversation keeps them with this one.
    async fn found_tools(&self) -> Result<Option<TurnWrite>, AgentError> {
        let Some(found) = self.tools.finder().and_then(ToolFinder::take_changes) else { return Ok(None) };
        let conversation = self.worker.inner.directory.existing(&self.worker.conversation).await?;
        Ok(Some(TurnWrite::Conversation(vec![PrefixCache::with_found_tools(&conversation, found)])))
    }

    fn without_secrets(&self, event: Event) -> Event {
        let redactor = &self.worker.inner.redactor;
        match event {
            Event::ToolDone { id, outcome: ToolOutcome::Done { text, trust, boundary } } => {
                Event::ToolDone { id, outcome: ToolOutcome::Done { text: redactor.clean(text), trust, boundary } }
            }
            Event::ToolDone { id, outcome: ToolOutcome::Failed { error } } => {
                Event::ToolDone { id, outcome: ToolOutcome::Failed { error: redactor.clean(error) } }
            }
            other => other,
        }
    }

    fn context(&self, moment: &CallContext) -> ToolContext {
        ToolContext {
            now: self.worker.inner.host.now(),
            zone: self.worker.inner.host.zone(),
            conversation: self.worker.conversation.clone(),
            turn: self.id.clone(),
            trust: moment.trust,
            tier: self.tier(),
            read_only: self.tools.is_read_only(),
            approved: false,
            passage: None,
            shown: ShownItems::default(),
        }
    }

    /// The tier of the turn's prompt.
    pub(crate) fn tier(&self) -> Tier {
        // The path was rendered before this turn could begin.
        self.profile.tier(&self.path, &self.inputs).unwrap_or(Tier::ALL[2])
    }

    /// Who wrote the least trusted text that the model has read in this turn.
    pub(crate) fn trust(&self) -> Trust {
        window_trust(&self.inputs, self.machine.in_flight()).join(self.read)
    }
}

/// What a turn that was interrupted still has to do, and what of it must not be done again.
pub(crate) fn unknown_outcomes(machine: &Turn, entries: &[Entry], tools: &TurnToolExecutor) -> Vec<Event> {
    let started = |id: &CallId| entries.iter().any(|entry| matches!(entry, Entry::Running(ids) if ids.contains(id)));
    let mut events = Vec::new();
    for effect in machine.pending() {
        let Effect::RunTools { calls } = effect else { continue };
        for PlannedCall { call, .. } in calls {
            if started(&call.id) && !tools.is_repeatable(&call.name) {
                let outcome = ToolOutcome::Failed { error: OUTCOME_UNKNOWN.to_owned() };
                events.push(Event::ToolDone { id: call.id, outcome });
            }
        }
    }
    events
}

/// The end of a turn as the store takes it.
pub(crate) fn end_of(outcome: &Outcome) -> TurnWrite {
    match outcome {
        Outcome::Answered { finish } => TurnWrite::End(TurnOutcome::Answered, finish.as_str().to_owned()),
        Outcome::Cancelled => TurnWrite::End(TurnOutcome::Cancelled, String::new()),
        Outcome::Failed { class, message } => TurnWrite::End(TurnOutcome::Failed, format!("{class}: {message}")),
    }
}

/// What a turn begins with, for its journal; the tools are those that its first prompt offers or that can be found.
pub(crate) fn began(inner: &Inner, inputs: &Inputs, prompt: &Prompt, model: String) -> Began {
    let limits = &inner.config.limits;
    let tool = |name: &str| {
        let own = inner.tools.tool(name).and_then(|tool| tool.timeout());
        (name.to_owned(), own.map_or(limits.tool_seconds, |time| time.as_secs()))
    };
    // What waits behind `find_tools` may be called once it was found.
    let finds = prompt.offered().iter().any(|tool| tool.name() == FIND_TOOLS);
    let waits = inputs.tools.iter().filter(|tool| finds && tool.reach == ToolReach::Deferred);
    let names: Vec<&str> =
        prompt.offered().iter().map(OfferedTool::name).chain(waits.map(|tool| tool.name.as_str())).collect();
    let own_chars = |name: &&str| Some(((*name).to_owned(), inner.tools.tool(name)?.result_chars()?));
    Began {
        model,
        profile: prompt.profile().to_owned(),
        path: prompt.path().to_owned(),
        inputs: Inputs { history: Vec::new(), ..inputs.clone() },
        own_result_chars: names.iter().filter_map(own_chars).collect(),
        tools: names.into_iter().map(tool).collect(),
        calls_with_tools: limits.calls_with_tools,
        result_chars: limits.result_chars,
        effort: EffortChoice::default(),
        cache: CacheLife::default(),
    }
}

#[cfg(test)]
mod tests;
