//! Requests that repeat what was sent a moment before, and for which the provider's cache gave nothing all the same.

use std::collections::{BTreeSet, HashMap};

use limpid_core::RequestId;
use limpid_store::RequestSummary;

use crate::agent::Agent;

/// How long every provider that caches keeps an entry at least, in milliseconds.
const KEPT_MS: i64 = 5 * 60 * 1000;

/// Tokens below which no provider caches, where the catalogue does not say.
const USUAL_MINIMUM: u64 = 1024;

impl Agent {
    /// The requests of these for which a provider that caches read nothing from its cache, though they begin with all of the
    /// request before them and came within 5 minutes of it. The newest row comes first, as the store lists them.
    pub fn missed_cache(&self, rows: &[RequestSummary]) -> BTreeSet<RequestId> {
        let mut minimum: HashMap<(String, String), Option<u64>> = HashMap::new();
        missed(rows, |provider, model| {
            let known = minimum.entry((provider.to_owned(), model.to_owned()));
            *known.or_insert_with(|| self.inner.shelf.cached_from(provider, model))
        })
    }
}

/// `cached_from` says from how many tokens on a model's provider caches; none when it does not, or nothing is known.
fn missed(rows: &[RequestSummary], mut cached_from: impl FnMut(&str, &str) -> Option<u64>) -> BTreeSet<RequestId> {
    let mut before: HashMap<_, &RequestSummary> = HashMap::new();
    let mut found = BTreeSet::new();
    for row in rows.iter().rev().filter(|row| row.conversation.is_some()) {
        let key = (&row.conversation, &row.provider, &row.model, &row.path);
        let Some(earlier) = before.insert(key, row) else { continue };
        let usage = |row: &RequestSummary| row.end.as_ref()?.usage;
        let (Some(used), Some(first)) = (usage(row), usage(earlier)) else { continue };
        let repeats = row.shared.changed.is_none() && row.shared.messages >= earlier.messages;
        let soon = row.sent_ms - earlier.sent_ms <= KEPT_MS;
        let mut is_cached = || cached_from(&row.provider, &row.model).is_some_and(|from| first.input >= from);
        if repeats && soon && used.cached == 0 && is_cached() {
            found.insert(row.id.clone());
        }
    }
    found
}

/// The least that a provider caches, when its prices say that it caches at all.
pub(crate) fn cached_from(profile: &limpid_model::catalogue::ModelProfile) -> Option<u64> {
    let caches = profile.price.as_ref().is_some_and(|price| price.base.cached < price.base.input);
    caches.then(|| profile.abilities.cache_minimum.map_or(USUAL_MINIMUM, u64::from))
}
