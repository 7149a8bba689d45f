//! The size of a request, by its parts, and what there is room for.

use std::sync::Arc;

use limpid_core::FailureClass;
use limpid_core::compaction::WindowSettings;
use limpid_core::{Entry, UsableWindow, WindowView};
use limpid_model::{ModelCard, ModelError};
use limpid_prompt::count::{TokenCounter, WindowEstimate};
use limpid_prompt::inputs::{Digest, HistoryMessage, Inputs, Quoted, ToolPlacement, TrustName};
use limpid_prompt::{Place, Profile, Prompt, RenderError, StatePart, Subject};
use limpid_services::error::AgentError;
use limpid_turn::result::READ_ON;
use limpid_turn::window::context_size::{Digests, InFlight, Pinned, Recent, System};
use limpid_turn::window::settings::{most_digests, reserve};
use limpid_turn::window::shown::{characters_within, shown};
use limpid_turn::window::{Budget, ContextSize, Task};

use crate::history::{self, History, UNSTORED};
use crate::render::render;

/// The window that is assumed of a model of which none is known: 85 % of 16K.
const CAREFUL: UsableWindow = UsableWindow(13_926);

/// Tokens that the frame of a request for a summary may cost beside what it quotes.
const FRAME: usize = 300;

/// A rendered request with its size.
pub struct Measured {
    /// The rendered request.
    pub prompt: Prompt,
    /// Its size in tokens.
    pub size: ContextSize,
}

/// Everything that sizes of one conversation's requests are made from.
#[derive(Clone)]
pub struct Measure {
    /// The profile that renders.
    pub profile: Arc<Profile>,
    /// The path of the profile.
    pub path: String,
    /// Without history and running turn.
    pub inputs: Inputs,
    /// Messages before the newest one that are not stored yet.
    unstored: Vec<HistoryMessage>,
    /// How many messages before the newest one are stored.
    waiting: usize,
    /// Counts tokens as the model does.
    pub counter: WindowEstimate,
    /// The tokens of the window that may be used.
    pub usable: UsableWindow,
    /// What the profile says of compaction.
    pub settings: WindowSettings,
}

impl Measure {
    /// Takes apart the inputs of a prompt that a model with this card is to read.
    pub fn new(
        profile: &Arc<Profile>,
        path: &str,
        inputs: &Inputs,
        past: &History,
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
    pub fn count(&self, text: &str) -> usize {
        self.counter.count(text)
    }

    /// Renders a request and measures it.
    pub(crate) fn measured(&self, inputs: &Inputs) -> Result<Measured, RenderError> {
        let prompt = render(&self.profile, &self.path, inputs)?;
        let is_summarised = inputs.pin.is_some() || !inputs.digests.is_empty();
        let size = size_of(&prompt, &self.counter, self.usable, is_summarised);
        Ok(Measured { prompt, size })
    }

    /// The size of a request.
    fn size(&self, inputs: &Inputs) -> Result<ContextSize, AgentError> {
        Ok(self.measured(inputs)?.size)
    }

    /// The sizes of a request in which nothing was said yet.
    pub(crate) fn bare(&self) -> Result<ContextSize, AgentError> {
        self.size(&Inputs { pin: None, digests: Vec::new(), user: None, ..self.inputs.clone() })
    }

    /// Takes the messages that the request answers as they are shown now.
    pub(crate) fn take_new(&mut self, past: &History, inputs: &Inputs) {
        self.unstored = unstored(past);
        self.inputs.user.clone_from(&inputs.user);
    }

    /// The five largest sections of a request.
    pub(crate) fn largest(&self, inputs: &Inputs) -> Vec<(String, usize)> {
        let Ok(prompt) = render(&self.profile, &self.path, inputs) else { return Vec::new() };
        let mut sizes = parts(&prompt, &self.counter);
        sizes.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
        sizes.truncate(5);
        sizes
    }

    /// The sizes of the next request under a view, given what runs; a prompt that cannot be rendered fits nowhere.
    pub fn recount(&self, view: &WindowView, entries: &[Entry], running: usize) -> ContextSize {
        let (past, ahead) = entries.split_at(entries.len().saturating_sub(running));
        let (waiting, ahead) = ahead.split_at(self.waiting.min(ahead.len()));
        let mut inputs = self.inputs.clone();
        history::show(view, past, &mut inputs);
        inputs.history.extend(shown(view, waiting).iter().map(history::message));
        inputs.history.extend(self.unstored.iter().cloned());
        inputs.in_flight = shown(view, ahead).iter().map(history::message).collect();
        self.size(&inputs).unwrap_or(ContextSize {
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
    pub fn task(&self, past: &History, running: &[Entry]) -> Result<Task, AgentError> {
        let bare = Inputs { pin: None, digests: Vec::new(), ..self.inputs.clone() };
        let framed = Inputs {
            pin: Some(Quoted::new("x", TrustName::Owner)),
            digests: vec![Digest { id: "x".to_owned(), text: "x".to_owned(), ..Digest::by(TrustName::Owner) }],
            ..bare.clone()
        };
        let bare = self.size(&bare)?;
        let frames = self.size(&framed)?.total().saturating_sub(bare.total());
        let request = (self.usable.0 as usize).saturating_sub(reserve(self.usable) + FRAME);
        let tier = limpid_prompt::render::tier(
            self.profile.path(&self.path).map_err(|error| AgentError::Prompt(error.to_string()))?,
            &self.inputs,
        );
        let budget = Budget::new(&self.settings, bare.available(), frames, request);
        let reads_on =
            self.inputs.tools.iter().any(|tool| tool.name == READ_ON && tool.reach != ToolPlacement::LeftOut);
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

fn unstored(past: &History) -> Vec<HistoryMessage> {
    past.unanswered.iter().filter(|entry| entry.id == UNSTORED).map(history::message).collect()
}

/// The window of a model; a careful guess when none is known.
pub(crate) fn usable(card: &ModelCard) -> UsableWindow {
    card.usable_window.unwrap_or(CAREFUL)
}

/// The sizes of a prompt. They add up to its total, whatever sections it is made of.
fn size_of(prompt: &Prompt, counter: &dyn TokenCounter, usable: UsableWindow, is_summarised: bool) -> ContextSize {
    let mut whole = ContextSize {
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
            Place::History => whole.recent.0 += size,
            Place::InFlight => whole.in_flight.0 += size,
            Place::Path => {
                let digests = if is_summarised { tokens(Subject::Digests).min(size) } else { 0 };
                let pin = tokens(Subject::Pin).min(size - digests);
                whole.digests.0 += digests;
                whole.pin.0 += pin;
                let rest = size - digests - pin;
                if message.role() == limpid_core::Role::System {
                    whole.system.0 += rest;
                } else if digests + pin > 0 && of(Subject::Message).next().is_none() {
                    whole.digests.0 += rest;
                } else {
                    whole.in_flight.0 += rest;
                }
            }
        }
    }
    whole
}

/// Tokens of a prompt with its tools by a counter: the number that is shown of it.
pub fn tokens(prompt: &Prompt, counter: &dyn TokenCounter) -> usize {
    prompt.totals_by(counter).total
}

/// Tokens that a prompt surely needs: by the calibrated estimate or without what was learned, whichever is less.
pub fn sure_tokens(prompt: &Prompt, counter: &WindowEstimate) -> usize {
    let tokens_now = tokens(prompt, counter);
    if !counter.is_calibrated() {
        return tokens_now;
    }
    tokens_now.min(tokens(prompt, &WindowEstimate::default()))
}

/// Refuses a prompt of so many [`sure_tokens`] that does not fit the window, with the sizes of its largest parts.
pub fn check_window(
    prompt: &Prompt,
    card: &ModelCard,
    counter: &WindowEstimate,
    total: usize,
) -> Result<(), ModelError> {
    let Some(window) = card.usable_window.map(|window| window.0 as usize) else { return Ok(()) };
    let reserve = reserve(UsableWindow(window as u32));
    if total + reserve <= window {
        return Ok(());
    }
    let mut sizes = parts(prompt, counter);
    sizes.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
    let largest: Vec<String> = sizes.iter().take(5).map(|(name, tokens)| format!("{name} {tokens}")).collect();
    let message = format!(
        "the prompt has about {total} tokens and an answer needs {reserve}, but {} can use {window}: {}; \
         begin a new conversation, shorten one of these, or choose a model with a larger window",
        card.name(),
        largest.join(", "),
    );
    Err(ModelError::new(FailureClass::Overflow, message))
}

/// Tokens by section, tools last; sections that stand in several messages are summed.
pub(crate) fn parts(prompt: &Prompt, counter: &dyn TokenCounter) -> Vec<(String, usize)> {
    let mut sizes: Vec<(String, usize)> = Vec::new();
    let mut add = |name: &str, tokens: usize| match sizes.iter_mut().find(|(known, _)| known == name) {
        Some((_, sum)) => *sum += tokens,
        None => sizes.push((name.to_owned(), tokens)),
    };
    for message in prompt.messages() {
        for part in message.parts() {
            add(part.section(), counter.count(part.text()));
        }
        for call in message.calls() {
            add("calls", counter.count(&call.name) + counter.count(&call.arguments));
        }
        for state in message.state() {
            add(StatePart::SECTION, counter.count(state.json()));
        }
    }
    for tool in prompt.tools() {
        add("tools", counter.count(&tool.declaration()));
    }
    sizes
}
