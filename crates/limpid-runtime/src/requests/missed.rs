//! Requests that a provider read anew though it had them in its cache a moment before: without cause, or because tools changed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use limpid_core::{Money, Price, RequestId, Usage};
use limpid_store::RequestSummary;

use crate::requests::Requests;

/// How long every provider that caches keeps an entry at least, in milliseconds.
const KEPT_MS: i64 = 5 * 60 * 1000;

impl Requests {
    /// The requests of these for which a provider that caches read nothing from its cache, though they begin with all of the
    /// request before them and came within 5 minutes of it. The newest row comes first, as the store lists them.
    pub fn missed_cache(&self, rows: &[RequestSummary]) -> BTreeSet<RequestId> {
        let mut minimum: HashMap<(String, String), Option<u64>> = HashMap::new();
        missed(rows, |provider, model| {
            let known = minimum.entry((provider.to_owned(), model.to_owned()));
            *known.or_insert_with(|| self.context().models.cached_from(provider, model))
        })
    }
}

/// What a change cost at a request behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAgain {
    /// Tokens that were in the provider's cache and were read anew.
    pub tokens: u64,
    /// What they cost beyond a reading from the cache; none when no price is known.
    pub cost: Option<Money>,
}

impl Requests {
    /// What it cost that the declared tools were others than in the request before, by request. Where a provider has no
    /// way to be told of a tool later, one that is found or becomes available has everything read anew.
    pub fn tools_read_again(&self, rows: &[RequestSummary]) -> BTreeMap<RequestId, ReadAgain> {
        read_again(rows, |provider, model| self.context().models.price(provider, model))
    }
}

/// `price` says what a model costs; none when that is not known.
fn read_again(rows: &[RequestSummary], price: impl Fn(&str, &str) -> Option<Price>) -> BTreeMap<RequestId, ReadAgain> {
    let mut before: HashMap<_, &RequestSummary> = HashMap::new();
    let mut found = BTreeMap::new();
    for row in rows.iter().rev().filter(|row| row.conversation.is_some()) {
        let key = (&row.conversation, &row.provider, &row.model, &row.path);
        let earlier = before.insert(key, row);
        let usage = |row: &RequestSummary| row.end.as_ref()?.usage;
        let (Some(earlier), Some(used)) = (earlier, usage(row)) else { continue };
        let held = usage(earlier).map_or(0, |first| first.cached + first.cache_written);
        let tokens = held.min(used.input).saturating_sub(used.cached);
        let soon = row.sent_ms - earlier.sent_ms <= KEPT_MS;
        if row.shared.changed.as_deref() == Some("tools") && soon && tokens > 0 {
            let written = used.cache_written.saturating_sub(tokens);
            let kept = Usage { cached: used.cached + tokens, cache_written: written, ..used };
            let cost =
                price(&row.provider, &row.model).map(|price| Money(price.of(used).0.saturating_sub(price.of(kept).0)));
            found.insert(row.id.clone(), ReadAgain { tokens, cost });
        }
    }
    found
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
