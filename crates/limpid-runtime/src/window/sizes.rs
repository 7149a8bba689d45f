//! The sizes of a request by recount, and what there is room for (OLLM-086, OLLM-087).

use std::sync::Arc;

use limpid_core::{Entry, UsableWindow, WindowView};
use limpid_model::ModelCard;
use limpid_prompt::count::{Estimate, TokenCounter};
use limpid_prompt::inputs::{Digest, HistoryMessage, Inputs, Quoted, ToolReach};
use limpid_prompt::{Profile, Prompt, PromptMessage, RenderRequest};
use limpid_turn::result::READ_ON;
use limpid_turn::window::ledger::{Digests, InFlight, Pinned, Recent, System};
use limpid_turn::window::settings::{most_digests, reserve};
use limpid_turn::window::{Budget, Ledger, Task, WindowSettings};

use super::past::{self, Past};
use crate::counting::parts;
use crate::error::AgentError;

/// The window that is assumed of a model of which none is known (LES-076): 85 % of 16K.
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
    /// Messages before the newest one that no turn has answered.
    unanswered: Vec<HistoryMessage>,
    pub(crate) counter: Estimate,
    pub(crate) usable: UsableWindow,
    pub(crate) settings: WindowSettings,
}

impl Sizes {
    pub(crate) fn new(
        profile: &Arc<Profile>,
        path: &str,
        inputs: &Inputs,
        past: &Past,
        counter: Estimate,
        card: &ModelCard,
    ) -> Self {
        Self {
            profile: Arc::clone(profile),
            path: path.to_owned(),
            inputs: Inputs { history: Vec::new(), in_flight: Vec::new(), ..inputs.clone() },
            unanswered: past.unanswered.clone(),
            counter,
            usable: usable(card),
            settings: settings(profile),
        }
    }

    /// Tokens of a text.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.counter.count(text)
    }

    /// The sizes of a request.
    pub(crate) fn ledger(&self, inputs: &Inputs) -> Result<Ledger, AgentError> {
        let request = RenderRequest { path: &self.path, inputs, counter: &self.counter, count_tokens: false };
        let prompt = self.profile.render(request).map_err(|error| AgentError::Prompt(error.to_string()))?;
        let is_summarised = inputs.pin.is_some() || !inputs.digests.is_empty();
        Ok(ledger(&prompt, &self.counter, self.usable, is_summarised))
    }

    /// The five largest sections of a request.
    pub(crate) fn largest(&self, inputs: &Inputs) -> Vec<(String, usize)> {
        let request = RenderRequest { path: &self.path, inputs, counter: &self.counter, count_tokens: false };
        let Ok(prompt) = self.profile.render(request) else { return Vec::new() };
        let mut sizes = parts(&prompt, &self.counter);
        sizes.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
        sizes.truncate(5);
        sizes
    }

    /// The sizes of the next request under a view, given what runs; a prompt that cannot be rendered fits nowhere.
    pub(crate) fn recount(&self, view: &WindowView, entries: &[Entry], running: usize) -> Ledger {
        let (past, ahead) = entries.split_at(entries.len().saturating_sub(running));
        let mut inputs = self.inputs.clone();
        let count = |text: &str| self.count(text);
        past::show(view, past, &mut inputs, &count);
        inputs.history.extend(self.unanswered.iter().cloned());
        let ahead = limpid_turn::window::shown::shown(view, ahead, &count);
        inputs.in_flight = ahead.iter().map(past::history).collect();
        self.ledger(&inputs).unwrap_or(Ledger {
            usable: self.usable,
            system: System(usize::MAX / 4),
            pin: Pinned(0),
            digests: Digests(0),
            recent: Recent(0),
            in_flight: InFlight(0),
        })
    }

    /// What there is to compact, with what there is room for. `running` are messages of the running turn.
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
        let began = past.request.as_ref().map(|request| (request.id, budget.pin as u32));
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

/// The window of a model; a careful guess when none is known.
pub(crate) fn usable(card: &ModelCard) -> UsableWindow {
    card.usable_window.unwrap_or(CAREFUL)
}

/// How a profile's conversations are compacted.
pub(crate) fn settings(profile: &Profile) -> WindowSettings {
    const SUMMARY: &str = "picoclaw";
    if profile.name() == SUMMARY || profile.base() == Some(SUMMARY) {
        WindowSettings::summary()
    } else {
        WindowSettings::default()
    }
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
    let messages = prompt.messages();
    let holds = |message: &PromptMessage, section: &str| message.parts().iter().any(|part| part.section() == section);
    let is_past = |message: &PromptMessage| {
        // A message without text has no part to tell by: it makes calls, and its results follow.
        holds(message, "history") || (message.parts().is_empty() && !message.calls().is_empty())
    };
    let newest = messages.iter().rposition(|message| {
        message.role() == limpid_core::Role::User && !holds(message, "history") && !holds(message, "in-flight")
    });
    for (at, message) in messages.iter().enumerate() {
        let calls = message.calls().iter().map(|call| counter.count(&call.name) + counter.count(&call.arguments));
        let size = counter.count(message.text()) + calls.sum::<usize>();
        let part = |section: &str| -> usize {
            let parts = message.parts().iter().filter(|part| part.section() == section);
            parts.map(|part| counter.count(part.text())).sum()
        };
        if newest.is_some_and(|newest| at >= newest) && message.role() != limpid_core::Role::System {
            ledger.in_flight.0 += size;
        } else if is_past(message) {
            ledger.recent.0 += size;
        } else if message.role() == limpid_core::Role::System {
            let summary = if is_summarised { part("suffix").min(size) } else { 0 };
            ledger.digests.0 += summary;
            ledger.system.0 += size - summary;
        } else {
            let pin = part("pin").min(size);
            ledger.pin.0 += pin;
            ledger.digests.0 += size - pin;
        }
    }
    ledger
}
