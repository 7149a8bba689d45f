//! One turn under way: what it has and waits for, and how what happens in it is written down.
//!
//! Everything that one event leads to is written in one transaction with it: the journal's entry, the messages, the end
//! of a request, the end of the turn. After a crash the journal is replayed, and what has no recorded result is done
//! again, or reported as of unknown outcome when that could do harm.

use std::collections::VecDeque;
use std::sync::Arc;

use limpid_context::Headroom;
use limpid_core::{Message, RequestId, Role, Trust, TurnId};
use limpid_services::error::AgentError;
use limpid_services::tools::window_trust;
use limpid_store::{Inbound, InboundId, Kept, Lease, NewMessage, TurnWrite, Written};
use limpid_turn::window::ContextSize;
use limpid_turn::{Effect, Event, Outcome, Turn};

use crate::compaction::Compaction;
use crate::deps::ConversationDeps;
use crate::event::TurnEvent;
use crate::listeners::Listeners;
use crate::model_call::ModelCall;
use crate::outcome::end_of;
use crate::turn::agents;
use crate::turn::asked::message_of;
use crate::turn::clean_first::CleanEnd;
use crate::turn::goal_markers::{GoalMarkers, final_text};
use crate::turn::journal::Entry;
use crate::turn::open_question::OpenQuestion;
use crate::turn::requests::{ReplyKind, TurnRequests};
use crate::turn::tool_tasks::ToolCalls;
use crate::turn::trace::TurnTrace;
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
    pub(crate) trace: TurnTrace,
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
    /// Those of them that agents said, or that tell of their ends: no person is shown their words.
    said_by_agents: Vec<InboundId>,
    /// The accepted messages that this run of it took in: those that it began with, and those that a border placed.
    pub(super) answers: Vec<InboundId>,
    /// The request whose reply is being worked off.
    pub(super) request: Option<RequestId>,
    pub(super) read: Trust,
    /// The questions that the owner was asked last, one for each call.
    pub(super) asked: Vec<OpenQuestion>,
    /// The calls after which the turn ends, since the owner had its window cleaned.
    pub(super) clean_end: Option<CleanEnd>,
    /// What is still to be done, in order.
    pub(super) todo: VecDeque<Effect>,
    pub(super) waits_for: WaitsFor,
    pub(super) answer: Option<String>,
    pub(super) trace: TurnTrace,
    state: RunState,
}

/// What a turn waits for, besides its tools.
pub(super) enum WaitsFor {
    Nothing,
    Reply(Box<PendingReply>),
    /// A note of what leaves the window, before this reply is asked for.
    Note(Compaction, u32, ReplyKind),
}

/// A reply under way.
pub(super) struct PendingReply {
    pub(super) call: ModelCall,
    pub(super) round: u32,
    pub(super) kind: ReplyKind,
    /// The size of the request.
    pub(super) size: ContextSize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RunState {
    Running { was_resumed: bool },
    Over { was_resumed: bool },
}

impl RunningTurn {
    pub(crate) fn new(deps: Arc<ConversationDeps>, listeners: Arc<Listeners>, seed: TurnSeed) -> Self {
        let TurnSeed { machine, effects, requests, calls, writer, steering, answers, read, was_resumed, trace } = seed;
        Self {
            deps,
            listeners,
            machine,
            requests,
            calls,
            writer,
            steering,
            said_by_agents: Vec::new(),
            answers,
            request: None,
            read,
            asked: Vec::new(),
            clean_end: None,
            todo: effects.into(),
            waits_for: WaitsFor::Nothing,
            answer: None,
            trace,
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

    /// The lease of its conversation.
    pub(crate) fn lease(&self) -> &Lease {
        self.writer.lease()
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
        let unheard = agents::unheard(self, &effects).await?;
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
                Effect::End { outcome, .. } => {
                    writes.extend(unheard.as_ref().map(|unheard| unheard.write(self)));
                    writes.push(end_of(outcome));
                }
                Effect::CallModel { .. }
                | Effect::Decide { .. }
                | Effect::RunTools { .. }
                | Effect::AskOwner { .. }
                | Effect::TellNotDrawn { .. }
                | Effect::Deliver { .. } => {}
            }
        }
        let mut told = None;
        for written in self.commit_with_goal(writes, final_text(&effects)).await? {
            match written {
                Written::Messages(ids) => self.requests.in_flight.extend(ids),
                Written::Told(id) => told = id,
                Written::Event(_) | Written::Request(_) | Written::Done => {}
            }
        }
        if let Some((unheard, id)) = unheard.zip(told) {
            unheard.tell(self, id);
        }
        self.listeners.activate(&placed);
        self.answers.extend(placed.iter().copied());
        let placed_now = placed;
        for (at, message) in steered.into_iter().enumerate() {
            if placed_now.get(at).is_none_or(|id| !self.said_by_agents.contains(id)) {
                self.listeners.send(&TurnEvent::Steered { text: message.text.clone() });
            }
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

    /// Takes in another message while the turn runs. One that is handed in again is answered by it already.
    pub(crate) async fn steer(&mut self, inbound: Inbound) -> Result<(), AgentError> {
        if inbound.turn.is_some() || self.answers(inbound.id) {
            self.listeners.activate(&[inbound.id]);
            return Ok(());
        }
        let message = message_of(&inbound, || self.deps.host().tag());
        self.steering.push_back(inbound.id);
        self.said_by_agents.extend(inbound.agent.map(|_| inbound.id));
        self.calls.typed.take();
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

    /// Is over: nothing of it runs any more, and whoever listens is told.
    pub(super) fn end(&mut self, outcome: Outcome) {
        self.calls.stop_all();
        self.trace.over(&outcome, self.deps.host().now_ms());
        self.listeners.finish(&TurnEvent::Done { outcome, answer: self.answer.take() });
        self.state = RunState::Over { was_resumed: self.was_resumed() };
    }

    /// Who wrote the least trusted text that the model has read in this turn.
    pub(super) fn trust(&self) -> Trust {
        window_trust(&self.requests.inputs, self.machine.in_flight()).join(self.read)
    }

    /// The label of what the model writes now.
    pub(super) fn written(&self) -> Trust {
        self.trust().of_strangers()
    }
}

#[cfg(test)]
mod tests;
