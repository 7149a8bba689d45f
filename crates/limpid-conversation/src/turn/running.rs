//! One turn under way: asks its machine what to do, carries that out, and writes down what happened.
//!
//! Everything that one event leads to is written in one transaction with it: the journal's entry, the messages, the end
//! of a request, the end of the turn. After a crash the journal is replayed, and what has no recorded result is done
//! again, or reported as of unknown outcome when that could do harm.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use limpid_context::Headroom;
use limpid_core::{CallId, Message, RequestId, Role, Trust, TurnId};
use limpid_services::error::AgentError;
use limpid_services::tools::window_trust;
use limpid_store::{Inbound, InboundId, Kept, NewMessage, TurnWrite, Written};
use limpid_turn::{Effect, Event, Turn};

use crate::compaction::{Compaction, CompactionDone};
use crate::deps::ConversationDeps;
use crate::event::{ApprovalAnswer, TurnEvent};
use crate::listeners::Listeners;
use crate::model_call::ModelStep;
use crate::outcome::end_of;
use crate::turn::approvals;
use crate::turn::asked::message_of;
use crate::turn::goal_markers::{GoalMarkers, final_text};
use crate::turn::journal::Entry;
use crate::turn::replies::PendingReply;
use crate::turn::requests::{ReplyKind, TurnRequests};
use crate::turn::tool_calls::{FinishedCall, ToolCalls};
use crate::turn::transaction::{TurnBegun, TurnWriter};

/// What a turn is begun or carried on with.
pub(crate) struct TurnSeed {
    pub(crate) machine: Turn,
    /// What is to be done first.
    pub(crate) effects: Vec<Effect>,
    pub(crate) requests: TurnRequests,
    pub(crate) calls: ToolCalls,
    pub(crate) writer: TurnWriter,
    /// Steering messages that the machine has and no border has placed.
    pub(crate) steering: VecDeque<InboundId>,
    /// The accepted messages that it begins with.
    pub(crate) answers: Vec<InboundId>,
    /// Who wrote the least trusted text of the prompts that were sent.
    pub(crate) read: Trust,
    /// Whether a crash interrupted it.
    pub(crate) was_resumed: bool,
}

/// One turn under way.
pub(crate) struct RunningTurn {
    pub(super) deps: Arc<ConversationDeps>,
    pub(super) listeners: Arc<Listeners>,
    pub(super) machine: Turn,
    pub(super) requests: TurnRequests,
    pub(super) calls: ToolCalls,
    pub(super) writer: TurnWriter,
    steering: VecDeque<InboundId>,
    /// The accepted messages that this run of it took in: those that it began with, and those that a border placed.
    pub(super) answers: Vec<InboundId>,
    /// The request whose reply is being worked off.
    pub(super) request: Option<RequestId>,
    pub(super) read: Trust,
    /// What is still to be done, in order.
    pub(super) todo: VecDeque<Effect>,
    pub(super) waits_for: WaitsFor,
    answer: Option<String>,
    state: RunState,
}

/// What a turn waits for, besides its tools.
pub(super) enum WaitsFor {
    Nothing,
    Reply(Box<PendingReply>),
    /// A note of what leaves the window, before this reply is asked for.
    Note(Compaction, u32, ReplyKind),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RunState {
    Running { was_resumed: bool },
    Over { was_resumed: bool },
}

/// What came of something that a turn waits for.
pub(crate) enum TurnStep {
    Model(ModelStep),
    Note(Option<String>),
    Tool(FinishedCall),
    /// Whoever could have answered a question is gone.
    NobodyAnswers,
}

impl RunningTurn {
    pub(crate) fn new(deps: Arc<ConversationDeps>, listeners: Arc<Listeners>, seed: TurnSeed) -> Self {
        let TurnSeed { machine, effects, requests, calls, writer, steering, answers, read, was_resumed } = seed;
        Self {
            deps,
            listeners,
            machine,
            requests,
            calls,
            writer,
            steering,
            answers,
            request: None,
            read,
            todo: effects.into(),
            waits_for: WaitsFor::Nothing,
            answer: None,
            state: RunState::Running { was_resumed },
        }
    }

    /// Goes on with what its machine waits for.
    pub(super) fn carry_on(&mut self) {
        self.todo = self.machine.pending().into();
    }

    pub(crate) fn id(&self) -> &TurnId {
        self.writer.turn()
    }

    pub(crate) fn is_over(&self) -> bool {
        matches!(self.state, RunState::Over { .. })
    }

    /// Whether a crash interrupted it.
    pub(crate) fn was_resumed(&self) -> bool {
        let (RunState::Running { was_resumed } | RunState::Over { was_resumed }) = self.state;
        was_resumed
    }

    /// What its newest request leaves of the window.
    pub(crate) fn room(&self) -> Option<Headroom> {
        self.requests.room
    }

    /// Whether it answers an accepted message.
    pub(crate) fn answers(&self, message: InboundId) -> bool {
        self.answers.contains(&message) || self.steering.contains(&message)
    }

    /// Waits for the next thing; it may be given up while it waits and asked for again.
    pub(crate) async fn next(&mut self) -> TurnStep {
        let asking = self.is_asking();
        let Self { waits_for, calls, listeners, .. } = self;
        let waited = async {
            match waits_for {
                WaitsFor::Reply(reply) => TurnStep::Model(reply.call.next().await),
                WaitsFor::Note(compaction, ..) => match compaction.done().await {
                    CompactionDone::Note(note) => TurnStep::Note(note),
                    CompactionDone::Compacted => TurnStep::Note(None),
                },
                WaitsFor::Nothing => std::future::pending().await,
            }
        };
        tokio::select! {
            step = waited => step,
            call = calls.next() => TurnStep::Tool(call),
            () = listeners.nobody_answers(), if asking => TurnStep::NobodyAnswers,
        }
    }

    /// Takes in what came of something that it waited for.
    pub(crate) async fn take(&mut self, step: TurnStep) -> Result<(), AgentError> {
        match step {
            TurnStep::Model(step) => self.model_step(step).await,
            TurnStep::Tool(call) => self.tool_done(call).await,
            TurnStep::NobodyAnswers => approvals::ask_nobody(self).await,
            TurnStep::Note(note) => {
                let WaitsFor::Note(_, round, kind) = mem::replace(&mut self.waits_for, WaitsFor::Nothing) else {
                    return Ok(());
                };
                self.requests.take_note(note);
                self.ask(round, kind).await
            }
        }
    }

    /// Carries out effects until it waits for something or is over.
    pub(crate) async fn go_on(&mut self) -> Result<(), AgentError> {
        while let Some(effect) = self.todo.pop_front() {
            match effect {
                Effect::CallModel { round, tools: true } => self.ask(round, ReplyKind::Message).await?,
                Effect::CallModel { round, tools: false } => self.ask(round, ReplyKind::End).await?,
                Effect::Decide { round } => self.ask(round, ReplyKind::Decision).await?,
                Effect::RunTools { calls } => self.start_tools(calls).await?,
                Effect::AskOwner { calls } => approvals::ask_owner(self, calls).await?,
                Effect::Deliver { text } => self.answer = Some(text),
                // Written together with the event that it belongs to.
                Effect::StoreMessages { .. } => {}
                Effect::End { outcome, .. } => {
                    self.calls.stop_all();
                    self.listeners.finish(&TurnEvent::Done { outcome, answer: self.answer.take() });
                    self.state = RunState::Over { was_resumed: self.was_resumed() };
                }
            }
        }
        Ok(())
    }

    /// Gives the machine an event and writes down, all or nothing, the event and what it leads to.
    pub(crate) async fn apply(
        &mut self,
        event: Event,
        inbound: Option<InboundId>,
        before: Vec<TurnWrite>,
    ) -> Result<(), AgentError> {
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
        for written in self.commit_with_goal(writes, final_text(&effects)).await? {
            if let Written::Messages(ids) = written {
                self.requests.in_flight.extend(ids);
            }
        }
        self.listeners.activate(&placed);
        self.answers.extend(placed);
        for message in steered {
            self.listeners.send(&TurnEvent::Steered { text: message.text.clone() });
        }
        self.todo.extend(effects);
        Ok(())
    }

    /// Writes all or nothing, durably.
    pub(super) async fn commit(&mut self, writes: Vec<TurnWrite>) -> Result<Vec<Written>, AgentError> {
        let committed = self.writer.commit(&self.deps, writes).await?;
        if let Some(TurnBegun { messages, news }) = committed.started {
            messages.iter().for_each(|ids| self.requests.history.stored(ids));
            let conversation = &self.writer.lease().conversation;
            for change in news.changes {
                self.deps.events.send(Some(conversation), change);
            }
            self.deps.context.skills.publish_active(conversation, news.skills).await?;
            news.events.iter().for_each(|event| self.listeners.send(event));
        }
        Ok(committed.written)
    }

    /// Writes all or nothing, with what the final text of the turn says about the goal.
    async fn commit_with_goal(
        &mut self,
        writes: Vec<TurnWrite>,
        reply: Option<&str>,
    ) -> Result<Vec<Written>, AgentError> {
        let Some(mut markers) = reply.map(GoalMarkers::of).filter(|markers| !markers.is_empty()) else {
            return self.commit(writes).await;
        };
        markers.refused().for_each(|refusal| self.listeners.send(&TurnEvent::Notice(refusal)));
        let deps = Arc::clone(&self.deps);
        while let Some(goals) = markers.plan(&deps, &self.writer, self.trust(), self.requests.tier()).await? {
            match self.commit(std::iter::once(goals).chain(writes.clone()).collect()).await {
                Err(error) if markers.may_try_again(&error) => {}
                committed => {
                    let written = committed?;
                    markers.tell(&deps, &self.writer);
                    markers.refused().for_each(|refusal| self.listeners.send(&TurnEvent::Notice(refusal)));
                    return Ok(written);
                }
            }
        }
        self.commit(writes).await
    }

    /// Takes the owner's answer; one to no open question changes nothing.
    pub(crate) async fn answered_by_owner(&mut self, call: &CallId, answer: ApprovalAnswer) -> Result<(), AgentError> {
        approvals::take_answer(self, call, answer).await
    }

    /// Takes in another message while the turn runs. One that is handed in again is answered by it already.
    pub(crate) async fn steer(&mut self, inbound: Inbound) -> Result<(), AgentError> {
        if inbound.turn.is_some() || self.answers(inbound.id) {
            self.listeners.activate(&[inbound.id]);
            return Ok(());
        }
        let message = message_of(&inbound, || self.deps.host().tag());
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

    /// Stops the turn: the text that came is kept, calls of the model are not.
    pub(crate) async fn cancel(&mut self) -> Result<(), AgentError> {
        match mem::replace(&mut self.waits_for, WaitsFor::Nothing) {
            WaitsFor::Reply(mut reply) => {
                for step in reply.call.stop() {
                    self.model_step(step).await?;
                }
            }
            // The note is not waited for any more; whoever listens loses nothing.
            WaitsFor::Note(..) => self.apply(Event::Chunk { text: String::new() }, None, Vec::new()).await?,
            WaitsFor::Nothing => {}
        }
        let ends = self.todo.iter().any(|effect| matches!(effect, Effect::End { .. }));
        if !ends {
            self.apply(Event::Cancel, None, Vec::new()).await?;
            // What was to be done before the stop is not.
            self.todo.retain(|effect| {
                matches!(effect, Effect::StoreMessages { .. } | Effect::Deliver { .. } | Effect::End { .. })
            });
        }
        Ok(())
    }

    /// Who wrote the least trusted text that the model has read in this turn.
    pub(super) fn trust(&self) -> Trust {
        window_trust(&self.requests.inputs, self.machine.in_flight()).join(self.read)
    }
}

#[cfg(test)]
mod tests;
