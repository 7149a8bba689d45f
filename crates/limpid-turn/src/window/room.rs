//! Makes what stays fit its shares.

use limpid_core::{Digest, DigestLevel, Entry, Role, Shortened, WindowView};

use super::settings::Budget;
use super::turns::sizes;
use super::{Count, ageing, shown};

/// Brings digests within their share: the largest grows shorter first.
pub fn fit_digests(digests: &mut [Digest], room: usize, count: Count<'_>) {
    let mut tries = digests.len() * 4;
    loop {
        let total: usize = digests.iter().map(|digest| digest.tokens as usize).sum();
        let Some(largest) = digests.iter_mut().max_by_key(|digest| digest.tokens) else { return };
        if total <= room || tries == 0 {
            return;
        }
        tries -= 1;
        let less = (largest.tokens as usize).saturating_sub(total - room).max(largest.tokens as usize / 2);
        ageing::cut(largest, less, count);
    }
}

/// Shortens the largest digest by a level, or by half when it has none below. Says whether that freed anything.
pub fn age_largest(digests: &mut [Digest], count: Count<'_>) -> bool {
    let Some(largest) = digests.iter_mut().max_by_key(|digest| digest.tokens) else { return false };
    let before = largest.tokens;
    match largest.level {
        DigestLevel::Full => ageing::age(largest, DigestLevel::Short, count),
        DigestLevel::Short => ageing::age(largest, DigestLevel::Line, count),
        DigestLevel::Line | DigestLevel::Merged => ageing::cut(largest, before as usize / 2, count),
    }
    largest.tokens < before
}

/// How long each kept message may be for all of them to fit their share; none when they fit as they are.
pub fn shorten_kept(view: &WindowView, kept: &[Entry], budget: &Budget, count: Count<'_>) -> Option<Shortened> {
    shorten_to(view, kept, budget.recent, budget.result, count)
}

/// How long each message may be for all of them to have at most `room` tokens, results no more than `result` each; none
/// when they fit as they are. It is the most that fits.
pub fn shorten_to(
    view: &WindowView,
    entries: &[Entry],
    room: usize,
    result: usize,
    count: Count<'_>,
) -> Option<Shortened> {
    let through = entries.last()?.id;
    let all = WindowView { through: None, ..view.clone() };
    let now = shown::shown(&all, entries);
    if sizes(&now, count) <= room {
        return None;
    }
    let old = view.shortened.filter(|old| entries.iter().any(|entry| entry.id <= old.through));
    let old_results = old.map_or(u32::MAX, |old| old.results);
    let results = results_within(&all, entries, result, count).unwrap_or(u32::MAX).min(old_results);
    let limits = |texts: usize| {
        let texts = u32::try_from(texts).unwrap_or(u32::MAX);
        Shortened { through, results: texts.min(results), texts }
    };
    let fits = |texts: usize| {
        let view = WindowView { shortened: Some(limits(texts)), ..all.clone() };
        sizes(&shown::shown(&view, entries), count) <= room
    };
    let length = |entry: &Entry| {
        let calls = entry.message.calls.iter().map(|call| call.arguments.chars().count());
        calls.chain([entry.message.text.chars().count()]).max().unwrap_or(0)
    };
    let longest = now.iter().map(length).max().unwrap_or(0);
    let most = old.map_or(longest, |old| longest.min(old.texts as usize)).max(shown::LEAST);
    // Between what certainly fits, or is the least, and what may not.
    let (mut low, mut high) = (shown::LEAST, most);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    Some(limits(low))
}

/// The characters that every tool's result may have for none to be over so many tokens; none when none is.
pub fn results_within(view: &WindowView, entries: &[Entry], tokens: usize, count: Count<'_>) -> Option<u32> {
    let results = shown::shown(view, entries).into_iter().map(|entry| entry.message);
    let long = results.filter(|message| message.role == Role::Tool && count(&message.text) > tokens);
    let limits = long.map(|message| shown::result_characters_within(&message, tokens, view.reads_on, count));
    limits.min().map(|limit| u32::try_from(limit).unwrap_or(u32::MAX))
}
