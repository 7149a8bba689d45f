//! Estimates of token counts, calibrated by what providers counted.
//!
//! A request may be shortened by the calibrated estimate. It is refused only when the estimate without anything learned
//! finds it too large as well: what was learned may be wrong, and only requests that are sent correct it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use limpid_core::{Trust, Usage};
use limpid_model::ModelCard;
use limpid_prompt::count::{Observation, Tally, TextKind, WindowEstimate};
use limpid_services::error::AgentError;
use limpid_store::{RequestFilter, RequestSummary, Store};

/// Requests whose counts calibrate the estimate of a model.
const OBSERVED: u32 = 20;

/// What providers counted for the newest requests, by model, the newest first: read once, then kept up.
///
/// A window without a stranger's text is estimated by requests that had none. Otherwise a page of odd letters, which providers count
/// otherwise than others, would have what the owner says shortened, or sent too long.
pub struct TokenCalibration {
    store: Arc<dyn Store>,
    /// Of requests without a stranger's text, and of all.
    observed: Mutex<[HashMap<String, VecDeque<Observation>>; 2]>,
}

impl TokenCalibration {
    /// What a store knows.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, observed: Mutex::default() }
    }

    /// The estimate for a model and a window with such texts.
    pub async fn estimate(&self, card: &ModelCard, window: Trust) -> Result<WindowEstimate, AgentError> {
        let of_all = usize::from(window.is_foreign());
        if let Some(seen) = self.lock()[of_all].get(&card.id) {
            return Ok(WindowEstimate::calibrated(seen.iter().copied()));
        }
        let (model, clean) = (Some(card.id.clone()), !window.is_foreign());
        let filter = RequestFilter { model, clean, limit: OBSERVED, ..RequestFilter::default() };
        let requests = self.store.requests(filter).await?;
        let observation = |request: &RequestSummary| {
            let reported = request.end.as_ref()?.usage?.input;
            Some(Observation { tally: tally_of(&request.estimate_by_kind), reported })
        };
        let seen: VecDeque<Observation> = requests.rows.iter().filter_map(observation).collect();
        let estimate = WindowEstimate::calibrated(seen.iter().copied());
        self.lock()[of_all].insert(card.id.clone(), seen);
        Ok(estimate)
    }

    /// A request with such texts ended. What was not read yet is read whole when it is needed.
    pub fn add(&self, model: &str, trust: Trust, tally: Tally, usage: Option<Usage>) {
        let Some(usage) = usage else { return };
        let mut observed = self.lock();
        let concerned = if trust.is_foreign() { &mut observed[1..] } else { &mut observed[..] };
        for seen in concerned.iter_mut().filter_map(|observed| observed.get_mut(model)) {
            seen.push_front(Observation { tally, reported: usage.input });
            seen.truncate(OBSERVED as usize);
        }
    }

    fn lock(&self) -> MutexGuard<'_, [HashMap<String, VecDeque<Observation>>; 2]> {
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

#[cfg(test)]
mod tests {
    use limpid_core::RequestId;
    use limpid_prompt::count::TokenCounter as _;
    use limpid_store::{NewRequest, RequestEnd, SqliteOptions, SqliteStore};

    use super::*;

    const PROSE: &str = "The build is red since Monday and nobody knows why. ";

    fn card() -> ModelCard {
        ModelCard { id: "big-1".to_owned(), ..ModelCard::default() }
    }

    /// A report of as many tokens in a hundred as are estimated.
    fn report(hundredths: u64) -> (Tally, Option<Usage>) {
        let tally = Tally::of(&PROSE.repeat(20));
        let input = tally.tokens().map(|(_, tokens)| tokens).sum::<u64>() * hundredths / 100;
        (tally, Some(Usage { input, ..Usage::default() }))
    }

    /// A request that was sent and answered.
    async fn sent(store: &dyn Store, id: &str, trust: Trust, hundredths: u64) {
        let (tally, usage) = report(hundredths);
        let new = NewRequest {
            id: RequestId::new(id),
            conversation: None,
            turn: None,
            round: 1,
            provider: "openai".to_owned(),
            model: card().id,
            protocol: "openai-chat".to_owned(),
            target: String::new(),
            profile: "limpid".to_owned(),
            path: "chat-remote".to_owned(),
            revision: String::new(),
            sampling: "{}".to_owned(),
            tools: "[]".to_owned(),
            body: String::new(),
            messages: Vec::new(),
            estimate: None,
            estimate_by_kind: by_kind(&tally),
            holder: None,
            sent_ms: 1,
        };
        store.record_request(new).await.unwrap();
        let end = RequestEnd {
            text: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            trust,
            finish: None,
            model: None,
            usage,
            cost: None,
            failure: None,
            first_ms: None,
            ended_ms: 2,
        };
        store.end_request(&RequestId::new(id), end).await.unwrap();
    }

    // SEC-102 PRO-024
    #[tokio::test]
    async fn what_strangers_texts_counted_moves_no_estimate_of_a_clean_window() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("limpid.db");
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(path, SqliteOptions::default()).unwrap());
        for n in 0..4 {
            sent(&*store, &format!("own{n}"), if n % 2 == 0 { Trust::Owner } else { Trust::File }, 100).await;
        }
        let percent = async |counts: &TokenCalibration, window: Trust| {
            let text = PROSE.repeat(50);
            let estimate = counts.estimate(&card(), window).await.unwrap();
            estimate.count(&text) * 100 / Tally::of(&text).tokens().map(|(_, tokens)| tokens).sum::<u64>() as usize
        };
        let before = TokenCalibration::new(Arc::clone(&store));
        let clean = percent(&before, Trust::Owner).await;
        assert!((90..110).contains(&clean), "{clean}");
        for n in 0..30 {
            sent(&*store, &format!("page{n}"), if n % 2 == 0 { Trust::Outside } else { Trust::Guest }, 300).await;
        }
        let after = TokenCalibration::new(Arc::clone(&store));
        for counts in [&before, &after] {
            assert!(percent(counts, Trust::Outside).await > 200, "that window goes by all requests");
            assert_eq!(percent(counts, Trust::File).await, clean);
        }
        let (tally, usage) = report(300);
        (0..30).for_each(|_| after.add(&card().id, Trust::Guest, tally, usage));
        assert_eq!(percent(&after, Trust::Owner).await, clean);
        (0..30).for_each(|_| after.add(&card().id, Trust::Owner, tally, usage));
        assert!(percent(&after, Trust::Owner).await > 200, "the owner's own count");
    }
}
