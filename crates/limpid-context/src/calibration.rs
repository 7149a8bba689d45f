//! Estimates of token counts, calibrated by what providers counted.
//!
//! A request may be shortened by the calibrated estimate. It is refused only when the estimate without anything learned
//! finds it too large as well: what was learned may be wrong, and only requests that are sent correct it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use limpid_core::Usage;
use limpid_model::ModelCard;
use limpid_prompt::count::{Observation, Tally, TextKind, WindowEstimate};
use limpid_services::error::AgentError;
use limpid_store::{RequestFilter, RequestSummary, Store};

/// Requests whose counts calibrate the estimate of a model.
const OBSERVED: u32 = 20;

/// What providers counted for the newest requests, by model, the newest first: read once, then kept up.
pub struct TokenCalibration {
    store: Arc<dyn Store>,
    observed: Mutex<HashMap<String, VecDeque<Observation>>>,
}

impl TokenCalibration {
    /// What a store knows.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, observed: Mutex::default() }
    }

    /// The estimate for a model.
    pub async fn estimate(&self, card: &ModelCard) -> Result<WindowEstimate, AgentError> {
        if let Some(seen) = self.lock().get(&card.id) {
            return Ok(WindowEstimate::calibrated(seen.iter().copied()));
        }
        let filter = RequestFilter { model: Some(card.id.clone()), limit: OBSERVED, ..RequestFilter::default() };
        let requests = self.store.requests(filter).await?;
        let observation = |request: &RequestSummary| {
            let reported = request.end.as_ref()?.usage?.input;
            Some(Observation { tally: tally_of(&request.estimate_by_kind), reported })
        };
        let seen: VecDeque<Observation> = requests.rows.iter().filter_map(observation).collect();
        let estimate = WindowEstimate::calibrated(seen.iter().copied());
        self.lock().insert(card.id.clone(), seen);
        Ok(estimate)
    }

    /// A request ended. What was not read yet is read whole when it is needed.
    pub fn add(&self, model: &str, tally: Tally, usage: Option<Usage>) {
        let Some(usage) = usage else { return };
        if let Some(seen) = self.lock().get_mut(model) {
            seen.push_front(Observation { tally, reported: usage.input });
            seen.truncate(OBSERVED as usize);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, VecDeque<Observation>>> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A tally as the request log keeps it.
pub fn by_kind(tally: &Tally) -> BTreeMap<String, u64> {
    tally.tokens().map(|(kind, tokens)| (kind.as_str().to_owned(), tokens)).collect()
}

fn tally_of(by_kind: &BTreeMap<String, u64>) -> Tally {
    Tally::from_tokens(by_kind.iter().filter_map(|(kind, tokens)| Some((TextKind::parse(kind)?, *tokens))))
}
