//! The machine itself.

mod calls;
mod replies;
mod start;

use std::collections::BTreeMap;
use std::time::Duration;

use limpid_core::message::{OWNER_SAID_NO, STOPPED_BY_OWNER};
use limpid_core::{CallId, FailureClass, Labelled, Message, Role, ToolCall, sentence};

use crate::effect::{Approval, Effect, HeldCall, Outcome, PlannedCall};
use crate::event::{Event, Finish, ToolOutcome, Why};
use crate::turn::calls::{Cap, Repeated, result_message};

pub use start::{Limits, OfferedTool, TurnStart};

/// One turn: from a person's message to the answer.
///
/// It is a plain value: cloned, compared and brought back from its events at will. An event that does not fit the
/// state (a result that nobody waits for, anything after the end) changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    start: TurnStart,
    state: State,
    in_flight: Vec<Message>,
    queue: Vec<Message>,
    repeated: Repeated,
    /// Answers that had to be screens and were none.
    refused: u32,
    /// The calls of the last reply that were refused unrun, with what the model reads of each.
    unrun: Vec<(ToolCall, String)>,
    /// Whether it ends once every call under way has.
    ends: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// The model is asked for a message or, with `form`, for the decision alone; `partial` is what it said so far.
    Calling { round: u32, tools: bool, form: bool, partial: Option<Labelled<String>> },
    /// Tools run: the model's message, in the order of its calls the results that are there, and the calls that are
    /// or were held for the owner.
    Running { round: u32, assistant: Message, results: Vec<Option<Message>>, holds: BTreeMap<CallId, Hold> },
    /// It is over.
    Ended { outcome: Outcome, unanswered: Vec<Message> },
}

/// A call that must not run unasked.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Hold {
    /// The owner has not answered.
    Open(Why),
    /// The owner said yes.
    Approved(Approval),
}

impl Turn {
    /// Begins a turn.
    pub fn start(start: TurnStart) -> (Self, Vec<Effect>) {
        let tools = !start.tools.is_empty() && start.limits.calls_with_tools > 0;
        let turn = Self {
            start,
            state: State::Calling { round: 1, tools, form: false, partial: None },
            in_flight: Vec::new(),
            queue: Vec::new(),
            repeated: Repeated::default(),
            refused: 0,
            unrun: Vec::new(),
            ends: false,
        };
        let effects = turn.pending();
        (turn, effects)
    }

    /// Brings a turn back from its journal. What is still to be done is in [`Turn::pending`]; messages that were to be
    /// stored are in [`Turn::in_flight`], of which the first ones may be stored already.
    pub fn resume(start: TurnStart, events: impl IntoIterator<Item = Event>) -> Self {
        let (mut turn, _) = Self::start(start);
        for event in events {
            turn.on(event);
        }
        turn
    }

    /// Takes an event and says what is to be done.
    pub fn on(&mut self, event: Event) -> Vec<Effect> {
        if self.outcome().is_some() {
            return Vec::new();
        }
        match event {
            Event::Chunk { text } => self.on_chunk(text),
            Event::Reply(reply) => self.on_reply(reply),
            Event::ModelFailed { class, message } => self.on_model_failed(class, message),
            Event::ToolDone { id, outcome } => self.on_result(&id, outcome),
            Event::Held { id, why } => self.on_held(&id, why),
            Event::Decided { id, approved, at_ms } => self.on_decided(&id, approved, at_ms),
            Event::Timer { id } => {
                let seconds = self.timeout_of(&id).as_secs();
                let late = sentence!("no result within {} s", seconds);
                self.on_result(&id, ToolOutcome::failed(late, String::new))
            }
            Event::Steer(message) => {
                self.queue.push(message);
                Vec::new()
            }
            Event::EndAfterCalls => {
                self.ends = true;
                Vec::new()
            }
            Event::Cancel => self.on_cancel(),
        }
    }

    /// What this turn added to the conversation after the person's message: calls with their results, steering
    /// messages, the answer. It is what was stored, or is to be.
    pub fn in_flight(&self) -> &[Message] {
        &self.in_flight
    }

    /// Every call of this turn, also those of the reply whose calls run: [`Turn::in_flight`] has them once all have ended.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        let running = match &self.state {
            State::Running { assistant, .. } => Some(assistant),
            State::Calling { .. } | State::Ended { .. } => None,
        };
        self.in_flight.iter().chain(running).flat_map(|message| &message.calls)
    }

    /// Whether a call has no result yet.
    pub fn is_open(&self, id: &CallId) -> bool {
        self.open_call(id).is_some()
    }

    /// Whether the turn has a tool of this name; a call of any other is refused, unrun.
    pub fn has_tool(&self, name: &str) -> bool {
        self.start.tools.iter().any(|tool| tool.name == name)
    }

    /// The tool whose call ends the turn, when one does.
    pub fn decision(&self) -> Option<&str> {
        self.start.decision.as_deref()
    }

    /// How the turn ended, once it did.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.state {
            State::Ended { outcome, .. } => Some(outcome),
            State::Calling { .. } | State::Running { .. } => None,
        }
    }

    /// What is to be done for the turn to go on, by its state alone: after a crash, what has no recorded result.
    pub fn pending(&self) -> Vec<Effect> {
        match &self.state {
            State::Calling { round, form: true, .. } => vec![Effect::Decide { round: *round }],
            State::Calling { round, tools, .. } => vec![Effect::CallModel { round: *round, tools: *tools }],
            State::Running { assistant, results, holds, .. } => {
                let open = assistant.calls.iter().zip(results).filter(|(_, result)| result.is_none());
                let (mut calls, mut held) = (Vec::new(), Vec::new());
                for (call, _) in open {
                    match holds.get(&call.id) {
                        Some(Hold::Open(why)) => held.push(HeldCall { call: call.clone(), why: why.clone() }),
                        Some(Hold::Approved(_)) | None => calls.push(self.planned(call)),
                    }
                }
                let run = (!calls.is_empty()).then_some(Effect::RunTools { calls });
                let ask = (!held.is_empty()).then_some(Effect::AskOwner { calls: held });
                run.into_iter().chain(ask).collect()
            }
            State::Ended { outcome, unanswered } => {
                vec![Effect::End { outcome: outcome.clone(), unanswered: unanswered.clone() }]
            }
        }
    }

    fn on_chunk(&mut self, text: Labelled<String>) -> Vec<Effect> {
        if let State::Calling { partial, .. } = &mut self.state
            && !text.value().is_empty()
        {
            *partial = Some(text);
        }
        Vec::new()
    }

    fn on_model_failed(&mut self, class: FailureClass, message: String) -> Vec<Effect> {
        match (&self.state, class) {
            (State::Calling { .. }, FailureClass::Cancelled) => self.on_cancel(),
            (State::Calling { form, .. }, _) => {
                // What is said in place of a decision is no message.
                let mut effects = if *form { Vec::new() } else { self.keep_partial() };
                effects.extend(self.end(Outcome::Failed { class, message }));
                effects
            }
            (State::Running { .. } | State::Ended { .. }, _) => Vec::new(),
        }
    }

    fn on_result(&mut self, id: &CallId, outcome: ToolOutcome) -> Vec<Effect> {
        let cap = self.start.cap(self.tool_of(id));
        let State::Running { assistant, results, .. } = &mut self.state else { return Vec::new() };
        let open = assistant.calls.iter().zip(results).find(|(call, result)| call.id == *id && result.is_none());
        let Some((_, result)) = open else { return Vec::new() };
        *result = Some(result_message(id, outcome, cap));
        self.pass_border().unwrap_or_default()
    }

    /// The call waits until the owner has answered; nothing runs out meanwhile.
    fn on_held(&mut self, id: &CallId, why: Why) -> Vec<Effect> {
        let Some(call) = self.open_call(id) else { return Vec::new() };
        let held = HeldCall { call, why: why.clone() };
        let State::Running { holds, .. } = &mut self.state else { return Vec::new() };
        holds.insert(id.clone(), Hold::Open(why));
        vec![Effect::AskOwner { calls: vec![held] }]
    }

    fn on_decided(&mut self, id: &CallId, approved: bool, at_ms: i64) -> Vec<Effect> {
        let Some(call) = self.open_call(id) else { return Vec::new() };
        let State::Running { holds, .. } = &mut self.state else { return Vec::new() };
        let Some(hold @ Hold::Open(_)) = holds.get_mut(id) else { return Vec::new() };
        if !approved {
            return self.on_result(id, ToolOutcome::refused(OWNER_SAID_NO));
        }
        if let Hold::Open(why) = hold {
            *hold = Hold::Approved(Approval { bound_to: std::mem::take(&mut why.bound_to), at_ms });
        }
        vec![Effect::RunTools { calls: vec![self.planned(&call)] }]
    }

    /// A call of the running batch that has no result.
    fn open_call(&self, id: &CallId) -> Option<ToolCall> {
        let State::Running { assistant, results, .. } = &self.state else { return None };
        let open = assistant.calls.iter().zip(results).find(|(call, result)| call.id == *id && result.is_none());
        open.map(|(call, _)| call.clone())
    }

    /// What was said so far and what was done so far is kept; what is open counts as cancelled.
    fn on_cancel(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        match &mut self.state {
            State::Calling { .. } => effects.extend(self.keep_partial()),
            State::Running { assistant, results, .. } => {
                let open = assistant.calls.iter().zip(results.iter_mut()).filter(|(_, result)| result.is_none());
                for (call, result) in open {
                    let outcome = ToolOutcome::refused(STOPPED_BY_OWNER);
                    *result = Some(result_message(&call.id, outcome, Cap { chars: usize::MAX, pointer: false }));
                }
                let batch = self.take_batch();
                effects.push(self.store(batch));
            }
            State::Ended { .. } => {}
        }
        effects.extend(self.end(Outcome::Cancelled));
        effects
    }

    /// Keeps what the model has said of a message that it will not end.
    fn keep_partial(&mut self) -> Vec<Effect> {
        let State::Calling { partial, .. } = &mut self.state else { return Vec::new() };
        let said = partial.take().filter(|text| !text.value().trim().is_empty()).map(Labelled::into_parts);
        let kept = said.map(|(text, trust)| self.store(vec![Message::new(Role::Assistant, text, trust)]));
        kept.into_iter().collect()
    }

    /// The border between two calls of the model: when every result is there, stores the batch, lets waiting messages
    /// steer and asks again.
    fn pass_border(&mut self) -> Option<Vec<Effect>> {
        let State::Running { round, results, .. } = &self.state else { return None };
        if results.iter().any(Option::is_none) {
            return None;
        }
        let round = *round;
        let mut batch = self.take_batch();
        if self.ends {
            let mut effects = vec![self.store(batch)];
            // Nobody stopped it: what the calls came to is its answer.
            effects.extend(self.end(Outcome::Answered { finish: Finish::Stop }));
            return Some(effects);
        }
        batch.append(&mut self.queue);
        let mut effects = vec![self.store(batch)];
        effects.extend(self.call(round + 1, round < self.start.limits.calls_with_tools));
        Some(effects)
    }

    fn call(&mut self, round: u32, tools: bool) -> Vec<Effect> {
        self.state = State::Calling { round, tools, form: false, partial: None };
        self.pending()
    }

    fn end(&mut self, outcome: Outcome) -> Vec<Effect> {
        self.state = State::Ended { outcome, unanswered: std::mem::take(&mut self.queue) };
        self.pending()
    }

    fn store(&mut self, batch: Vec<Message>) -> Effect {
        self.in_flight.extend(batch.iter().cloned());
        Effect::StoreMessages { batch }
    }

    /// The model's message and the results, in the order of the calls.
    fn take_batch(&mut self) -> Vec<Message> {
        let State::Running { assistant, results, .. } = &mut self.state else { return Vec::new() };
        let first = std::mem::replace(assistant, Message::new(Role::Assistant, "", assistant.trust));
        std::iter::once(first).chain(std::mem::take(results).into_iter().flatten()).collect()
    }

    fn planned(&self, call: &ToolCall) -> PlannedCall {
        let State::Running { holds, .. } = &self.state else {
            return PlannedCall { call: call.clone(), timeout: Duration::ZERO, approved: None };
        };
        let approved = match holds.get(&call.id) {
            Some(Hold::Approved(approval)) => Some(approval.clone()),
            Some(Hold::Open(_)) | None => None,
        };
        PlannedCall { call: call.clone(), timeout: self.timeout_of(&call.id), approved }
    }

    fn timeout_of(&self, id: &CallId) -> Duration {
        self.tool_of(id).map_or(Duration::ZERO, |tool| tool.timeout)
    }

    /// Whether the model gets to read only the ends of such a result of a call that is under way.
    pub fn cuts(&self, id: &CallId, outcome: &ToolOutcome) -> bool {
        outcome.text().chars().count() > self.start.cap(self.tool_of(id)).chars
    }

    /// The calls of the last reply that were refused unrun, as there is no such tool or no such call of it, with what the model reads of
    /// each.
    pub fn unrun(&self) -> &[(ToolCall, String)] {
        &self.unrun
    }

    /// The name of the tool that a call under way asks for.
    pub fn name_of(&self, id: &CallId) -> Option<&str> {
        let State::Running { assistant, .. } = &self.state else { return None };
        assistant.calls.iter().find(|call| call.id == *id).map(|call| call.name.as_str())
    }

    /// The tool of a call that is under way.
    fn tool_of(&self, id: &CallId) -> Option<&OfferedTool> {
        let name = self.name_of(id)?;
        self.start.tools.iter().find(|tool| tool.name == name)
    }
}
