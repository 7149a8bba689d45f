//! The sizes of a request by recount, and what there is room for.

use std::sync::Arc;

use limpid_core::compaction::WindowSettings;
use limpid_core::{Entry, UsableWindow, WindowView};
use limpid_model::ModelCard;
use limpid_prompt::count::{Estimate, TokenCounter, WindowEstimate};
use limpid_prompt::inputs::{Digest, HistoryMessage, Inputs, Quoted, ToolReach};
use limpid_prompt::{Place, Profile, Prompt, RenderRequest, Subject};
use limpid_turn::result::READ_ON;
use limpid_turn::window::ledger::{Digests, InFlight, Pinned, Recent, System};
use limpid_turn::window::settings::{most_digests, reserve};
use limpid_turn::window::shown::{characters_within, shown};
use limpid_turn::window::{Budget, Ledger, Task};

use super::past::{self, Past, UNSTORED};
use crate::counting::parts;
use crate::error::AgentError;

/// The window that is assumed of a model of which none is known: 85 % of 16K.
const CAREFUL: UsableWindow = UsableWindow(13_926);

/// Tokens that the frame of a request for a summary may cost beside what it quotes.
const FRAME: usize = 300;

/// Everything that sizes of one conversation's requests are made from.
#[derive(Clone)]
pub(crate) struct Sizes {
    pub(crate) profile: Arc<Profile>,
    pub(crate) path: String,
    /// Without history and running turn.
    pub(crate) inputs: Inputs,
    /// Messages before the newest one that are not stored yet.
    unstored: Vec<HistoryMessage>,
    /// How many messages before the newest one are stored.
    waiting: usize,
    pub(crate) counter: WindowEstimate,
    pub(crate) usable: UsableWindow,
    pub(crate) settings: WindowSettings,
}

impl Sizes {
    pub(crate) fn new(
        profile: &Arc<Profile>,
        path: &str,
        inputs: &Inputs,
        past: &Past,
        counter: WindowEstimate,
        card: &ModelCard,
    ) -> Self {
        Self {
            profile: Arc::clone(profile),
            path: path.to_owned(),
            inputs: Inputs { history: Vec::new(), in_flight: Vec::new(), ..inputs.clone() },
            unstored: unstored(past),
            waiting: past.stored_unanswered().count(),
            counter,
            usable: usable(card),
            settings: profile.behaviour().compaction,
        }
    }

    /// Tokens of a text.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.counter.count(text)
    }

    /// The sizes of a request.
    pub(crate) fn ledger(&self, inputs: &Inputs) -> Result<Ledger, AgentError> {
        let request = RenderRequest { path: &self.path, inputs, counter: &Estimate::default(), count_tokens: false };
        let prompt = self.profile.render(request).map_err(|error| AgentError::Prompt(error.to_string()))?;
        let is_summarised = inputs.pin.is_some() || !inputs.digests.is_empty();
        Ok(ledger(&prompt, &self.counter, self.usable, is_summarised))
    }

    /// The sizes of a request in which nothing was said yet.
    pub(crate) fn bare(&self) -> Result<Ledger, AgentError> {
        self.ledger(&Inputs { pin: None, digests: Vec::new(), user_message: String::new(), ..self.inputs.clone() })
    }

    /// Takes the messages that the request answers as they are shown now.
    pub(crate) fn take_new(&mut self, past: &Past, inputs: &Inputs) {
        self.unstored = unstored(past);
        self.inputs.user_message.clone_from(&inputs.user_message);
    }

    /// The five largest sections of a request.
    pub(crate) fn largest(&self, inputs: &Inputs) -> Vec<(String, usize)> {
        let request = RenderRequest { path: &self.path, inputs, counter: &Estimate::default(), count_tokens: false };
        let Ok(prompt) = self.profile.render(request) else { return Vec::new() };
        let mut sizes = parts(&prompt, &self.counter);
        sizes.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
        sizes.truncate(5);
        sizes
    }

    /// The sizes of the next request under a view, given what runs; a prompt that cannot be rendered fits nowhere.
    pub(crate) fn recount(&self, view: &WindowView, entries: &[Entry], running: usize) -> Ledger {
        let (past, ahead) = entries.split_at(entries.len().saturating_sub(running));
        let (waiting, ahead) = ahead.split_at(self.waiting.min(ahead.len()));
        let mut inputs = self.inputs.clone();
        past::show(view, past, &mut inputs);
        inputs.history.extend(shown(view, waiting).iter().map(past::history));
        inputs.history.extend(self.unstored.iter().cloned());
        inputs.in_flight = shown(view, ahead).iter().map(past::history).collect();
        self.ledger(&inputs).unwrap_or(Ledger {
            usable: self.usable,
            system: System(usize::MAX / 4),
            pin: Pinned(0),
            digests: Digests(0),
            recent: Recent(0),
            in_flight: InFlight(0),
        })
    }

    /// What there is to compact, with what there is room for. `running` are messages of the running turn, those that wait
    /// beside the newest one first.
    pub(crate) fn task(&self, past: &Past, running: &[Entry]) -> Result<Task, AgentError> {
        let bare = Inputs { pin: None, digests: Vec::new(), ..self.inputs.clone() };
        let framed = Inputs {
            pin: Some(Quoted { text: "x".to_owned(), ..Quoted::default() }),
            digests: vec![Digest { id: "x".to_owned(), text: "x".to_owned(), ..Digest::default() }],
            ..bare.clone()
        };
        let bare = self.ledger(&bare)?;
        let frames = self.ledger(&framed)?.total().saturating_sub(bare.total());
        let request = (self.usable.0 as usize).saturating_sub(reserve(self.usable) + FRAME);
        let tier = limpid_prompt::render::tier(
            self.profile.path(&self.path).map_err(|error| AgentError::Prompt(error.to_string()))?,
            &self.inputs,
        );
        let budget = Budget::new(&self.settings, bare.available(), frames, request);
        let reads_on = self.inputs.tools.iter().any(|tool| tool.name == READ_ON && tool.reach != ToolReach::LeftOut);
        let count = |text: &str| self.count(text);
        let began = past.request.as_ref().map(|request| {
            let characters = characters_within(&request.message.text, budget.pin, &count);
            (request.id, u32::try_from(characters).unwrap_or(u32::MAX))
        });
        Ok(Task {
            view: WindowView { request: began, reads_on, ..past.view.clone() },
            entries: past.entries.iter().chain(running).cloned().collect(),
            typed: past.typed.clone(),
            request: past.request.clone(),
            settings: self.settings,
            budget,
            is_forced: false,
            most_digests: most_digests(tier),
        })
    }
}

fn unstored(past: &Past) -> Vec<HistoryMessage> {
    past.unanswered.iter().filter(|entry| entry.id == UNSTORED).map(past::history).collect()
}

/// The window of a model; a careful guess when none is known.
pub(crate) fn usable(card: &ModelCard) -> UsableWindow {
    card.usable_window.unwrap_or(CAREFUL)
}

/// The sizes of a prompt. They add up to its total, whatever sections it is made of.
fn ledger(prompt: &Prompt, counter: &dyn TokenCounter, usable: UsableWindow, is_summarised: bool) -> Ledger {
    let mut ledger = Ledger {
        usable,
        system: System(prompt.tools().iter().map(|tool| counter.count(&tool.declaration())).sum()),
        pin: Pinned(0),
        digests: Digests(0),
        recent: Recent(0),
        in_flight: InFlight(0),
    };
    for message in prompt.messages() {
        let calls = message.calls().iter().map(|call| counter.count(&call.name) + counter.count(&call.arguments));
        let state = message.state().iter().map(|state| counter.count(state.json()));
        let size = counter.count(message.text()) + calls.chain(state).sum::<usize>();
        let of = |subject: Subject| message.parts().iter().filter(move |part| part.subject() == subject);
        let tokens = |subject: Subject| of(subject).map(|part| counter.count(part.text())).sum::<usize>();
        match message.place() {
            Place::History => ledger.recent.0 += size,
            Place::InFlight => ledger.in_flight.0 += size,
            Place::Path => {
                let digests = if is_summarised { tokens(Subject::Digests).min(size) } else { 0 };
                let pin = tokens(Subject::Pin).min(size - digests);
                ledger.digests.0 += digests;
                ledger.pin.0 += pin;
                let rest = size - digests - pin;
                if message.role() == limpid_core::Role::System {
                    ledger.system.0 += rest;
                } else if digests + pin > 0 && of(Subject::Message).next().is_none() {
                    ledger.digests.0 += rest;
                } else {
                    ledger.in_flight.0 += rest;
                }
            }
        }
    }
    ledger
}
