//! Token counts of whole prompts: the plain estimate for the ledger, the calibrated one for the window.
//!
//! A request may be shortened by the calibrated estimate. It is refused only when the estimate without anything learned
//! finds it too large as well: what was learned may be wrong, and only requests that are sent correct it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use limpid_core::{FailureClass, UsableWindow, Usage};
use limpid_model::{ModelCard, ModelError};
use limpid_prompt::count::{Observation, Tally, TextKind, TokenCounter, WindowEstimate};
use limpid_prompt::{Prompt, StatePart};
use limpid_store::RequestFilter;
use limpid_turn::window::settings::reserve;

use crate::agent::Inner;
use crate::error::AgentError;

/// Requests whose counts calibrate the estimate of a model.
const OBSERVED: u32 = 20;

/// What providers counted for the newest requests, by model, the newest first: read once, then kept up.
#[derive(Debug, Default)]
pub(crate) struct Observed(Mutex<HashMap<String, VecDeque<Observation>>>);

impl Observed {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, VecDeque<Observation>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request ended. What was not read yet is read whole when it is needed.
    pub(crate) fn add(&self, model: &str, tally: Tally, usage: Option<Usage>) {
        let Some(usage) = usage else { return };
        if let Some(seen) = self.lock().get_mut(model) {
            seen.push_front(Observation { tally, reported: usage.input });
            seen.truncate(OBSERVED as usize);
        }
    }
}

impl Inner {
    /// The estimate of the window's use for a model, calibrated by what its provider counted for the newest requests.
    pub(crate) async fn counter(&self, card: &ModelCard) -> Result<WindowEstimate, AgentError> {
        if let Some(seen) = self.observed.lock().get(&card.id) {
            return Ok(WindowEstimate::calibrated(seen.iter().copied()));
        }
        let filter = RequestFilter { model: Some(card.id.clone()), limit: OBSERVED, ..RequestFilter::default() };
        let requests = self.store.requests(filter).await?;
        let observation = |request: &limpid_store::RequestSummary| {
            let reported = request.end.as_ref()?.usage?.input;
            Some(Observation { tally: tally_of(&request.estimate_by_kind), reported })
        };
        let seen: VecDeque<Observation> = requests.rows.iter().filter_map(observation).collect();
        let counter = WindowEstimate::calibrated(seen.iter().copied());
        self.observed.lock().insert(card.id.clone(), seen);
        Ok(counter)
    }
}

/// A tally as the ledger keeps it.
pub(crate) fn by_kind(tally: &Tally) -> BTreeMap<String, u64> {
    tally.tokens().map(|(kind, tokens)| (kind.as_str().to_owned(), tokens)).collect()
}

fn tally_of(by_kind: &BTreeMap<String, u64>) -> Tally {
    Tally::from_tokens(by_kind.iter().filter_map(|(kind, tokens)| Some((TextKind::parse(kind)?, *tokens))))
}

/// Tokens of a prompt with its tools by a counter: the number that is shown of it.
pub(crate) fn tokens(prompt: &Prompt, counter: &dyn TokenCounter) -> usize {
    prompt.totals_by(counter).total
}

/// Tokens that a prompt surely needs: by the calibrated estimate or without what was learned, whichever is less.
pub(crate) fn sure_tokens(prompt: &Prompt, counter: &WindowEstimate) -> usize {
    let tokens_now = tokens(prompt, counter);
    if !counter.is_calibrated() {
        return tokens_now;
    }
    tokens_now.min(tokens(prompt, &WindowEstimate::default()))
}

/// Refuses a prompt that surely does not fit the window, with the sizes of its largest parts.
pub(crate) fn check_window(prompt: &Prompt, card: &ModelCard, counter: &WindowEstimate) -> Result<(), ModelError> {
    let Some(window) = card.usable_window.map(|window| window.0 as usize) else { return Ok(()) };
    let total = sure_tokens(prompt, counter);
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
