//! Token counts of whole prompts: the plain estimate for the ledger, the calibrated one for limits (PRO-024).

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use limpid_core::{FailureClass, UsableWindow, Usage};
use limpid_model::{ModelCard, ModelError};
use limpid_prompt::Prompt;
use limpid_prompt::count::{Estimate, Observation, TokenCounter};
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
    pub(crate) fn add(&self, model: &str, estimate: Option<u64>, usage: Option<Usage>) {
        let (Some(estimated), Some(usage)) = (estimate, usage) else { return };
        if let Some(seen) = self.lock().get_mut(model) {
            seen.push_front(Observation { estimated, reported: usage.input });
            seen.truncate(OBSERVED as usize);
        }
    }
}

impl Inner {
    /// The estimate for a model, calibrated by what its provider counted for the newest requests.
    pub(crate) async fn counter(&self, card: &ModelCard) -> Result<Estimate, AgentError> {
        if let Some(seen) = self.observed.lock().get(&card.id) {
            return Ok(Estimate::calibrated(seen.iter().copied()));
        }
        let filter = RequestFilter { model: Some(card.id.clone()), limit: OBSERVED, ..RequestFilter::default() };
        let requests = self.store.requests(filter).await?;
        let observation = |request: &limpid_store::RequestSummary| {
            let reported = request.end.as_ref()?.usage?.input;
            Some(Observation { estimated: request.estimate?, reported })
        };
        let seen: VecDeque<Observation> = requests.rows.iter().filter_map(observation).collect();
        let counter = Estimate::calibrated(seen.iter().copied());
        self.observed.lock().insert(card.id.clone(), seen);
        Ok(counter)
    }
}

/// Tokens of a prompt with its tools by a counter: the number that is shown of it (LES-001).
pub(crate) fn tokens(prompt: &Prompt, counter: &dyn TokenCounter) -> usize {
    prompt.totals_by(counter).total
}

/// Refuses a prompt that does not fit the window, with the sizes of its largest parts (LES-013).
pub(crate) fn check_window(prompt: &Prompt, card: &ModelCard, counter: &dyn TokenCounter) -> Result<(), ModelError> {
    let Some(window) = card.usable_window.map(|window| window.0 as usize) else { return Ok(()) };
    let total = tokens(prompt, counter);
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
    }
    for tool in prompt.tools() {
        add("tools", counter.count(&tool.declaration()));
    }
    sizes
}
