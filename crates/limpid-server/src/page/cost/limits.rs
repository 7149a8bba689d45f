//! The owner's spending limits, and how much of each is used.

use limpid_core::Money;
use limpid_core::spend::{LimitState, Quantity};
use limpid_prompt::shown::shown_line;

use super::words::dollars;
use crate::page::meter::thousands;
use crate::page::state::Page;
use crate::page::trouble::Trouble;

/// A limit of a day; without a cap there is none.
pub(super) struct Limit {
    pub(super) key: String,
    pub(super) name: String,
    pub(super) used: u64,
    pub(super) cap: Option<u64>,
    pub(super) words: String,
}

/// The limits of a day, those of money that are not set too.
pub(super) async fn limits(page: &Page) -> Result<Vec<Limit>, Trouble> {
    let states = page.agent.spending().limits().await?;
    let mut limits: Vec<Limit> = states.iter().map(limit).collect();
    for (key, name) in [("dollars_per_day", "Money, a day"), ("tokens_per_day", "Tokens, a day")] {
        if !limits.iter().any(|limit| limit.key == key) {
            limits.push(Limit { key: key.to_owned(), name: name.to_owned(), used: 0, cap: None, words: String::new() });
        }
    }
    let config = &page.agent.config().limits;
    let each = [
        ("dollars_per_run", config.dollars_per_run.map(|dollars| format!("${dollars} each"))),
        ("tokens_per_run", config.tokens_per_run.map(|tokens| format!("{} tokens each", thousands(tokens as usize)))),
    ];
    limits.extend(each.into_iter().map(|(key, words)| Limit {
        key: key.to_owned(),
        name: plain_key(key),
        used: 0,
        cap: None,
        words: words.unwrap_or_default(),
    }));
    Ok(limits)
}

fn limit(LimitState { limit, used }: &LimitState) -> Limit {
    let words = match limit.cap {
        Quantity::Tokens(cap) => format!("{} of {} tokens", thousands(used.number() as usize), thousands(cap as usize)),
        Quantity::Money(cap) => format!("{} of {}", dollars(Money(used.number())), dollars(cap)),
    };
    Limit {
        name: plain_key(&limit.key),
        key: limit.key.clone(),
        used: used.number(),
        cap: Some(limit.cap.number()),
        words,
    }
}

/// `background_tokens_per_day` as `Background tokens, a day`.
fn plain_key(key: &str) -> String {
    let (key, path) = match key.strip_prefix("path.").and_then(|rest| rest.rsplit_once('.')) {
        Some((path, key)) => (key, format!(" of {}", shown_line(path))),
        None => (key, String::new()),
    };
    let (what, span) = match (key.strip_suffix("_per_day"), key.strip_suffix("_per_run")) {
        (Some(what), _) => (what, ", a day"),
        (_, Some(what)) => (what, ", a turn"),
        _ => (key, ""),
    };
    let words = what.replace('_', " ").replace("dollars", "money");
    let mut letters = words.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}{path}{span}", letters.as_str())
}
