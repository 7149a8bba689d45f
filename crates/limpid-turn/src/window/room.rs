//! Makes what stays fit its shares (OLLM-093, OLLM-099).

use limpid_core::{Digest, DigestLevel, Entry, Shortened, WindowView};

use super::settings::Budget;
use super::turns::sizes;
use super::{Count, ageing, shown};

/// Tokens that a shown message keeps however little room there is.
const LEAST: usize = 20;

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

/// How long each message may be for all of them to have at most `room` tokens, results no more than `result` each.
pub fn shorten_to(
    view: &WindowView,
    entries: &[Entry],
    room: usize,
    result: usize,
    count: Count<'_>,
) -> Option<Shortened> {
    let through = entries.last()?.id;
    let size = |limits: Shortened| {
        let view = WindowView { shortened: Some(limits), through: None, ..view.clone() };
        sizes(&shown::shown(&view, entries, count), count)
    };
    let now = WindowView { through: None, ..view.clone() };
    if sizes(&shown::shown(&now, entries, count), count) <= room {
        return None;
    }
    let old = view.shortened.filter(|old| entries.iter().any(|entry| entry.id <= old.through));
    let most = old.map_or(room, |old| room.min(old.texts as usize));
    let limits = |texts: usize| {
        let results = texts.min(result).min(old.map_or(usize::MAX, |old| old.results as usize));
        Shortened { through, results: results.max(LEAST) as u32, texts: texts.max(LEAST) as u32 }
    };
    let mut texts = most.max(LEAST);
    while texts > LEAST && size(limits(texts)) > room {
        texts = (texts * 3 / 4).max(LEAST);
    }
    Some(limits(texts))
}
