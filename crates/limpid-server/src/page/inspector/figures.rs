//! The size of a prompt, what of it a provider had in its cache, and what it costs.

use limpid_core::{Money, Role, Usage};
use limpid_prompt::shown::shown_line;
use limpid_prompt::{Prompt, PromptMessage};
use limpid_runtime::Preview;
use limpid_store::{Request, RequestSummary};

use crate::page::meter::thousands;

/// A number and what it means.
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) value: String,
    pub(super) more: String,
}

/// A number as a provider counted it.
pub(super) fn by_provider(number: Option<u64>) -> String {
    number.map_or("unknown".to_owned(), |number| thousands(usize::try_from(number).unwrap_or(usize::MAX)))
}

fn system_bytes(prompt: &Prompt) -> (usize, usize) {
    let bytes = |message: &PromptMessage| message.text().len();
    let system = prompt.messages().iter().filter(|message| message.role() == Role::System).map(bytes).sum();
    (prompt.messages().iter().map(bytes).sum(), system)
}

/// Those of the next prompt; `last` is the request before it.
pub(super) fn figures(preview: &Preview, last: Option<&Request>) -> Vec<Figure> {
    let prompt = &preview.prompt;
    let total = prompt.totals().map_or(0, |totals| totals.total);
    let counter = shown_line(prompt.counter());
    let counted = prompt.window().map_or(counter.clone(), |window| {
        let usable = thousands(window.usable as usize);
        let all = thousands(window.tokens as usize);
        format!("{} % of the {all}-token window ({usable} usable); {counter}", window.percent(total))
    });
    let (bytes, system) = system_bytes(prompt);
    let mut figures = vec![
        Figure { name: "Tokens", value: thousands(total), more: counted },
        Figure { name: "Bytes", value: thousands(bytes), more: format!("{} of them system text", thousands(system)) },
    ];
    figures.push(match &preview.since {
        Some(since) => Figure {
            name: "Same as last time",
            value: format!("{} bytes", thousands(since.diff.prefix.bytes)),
            more: format!("{} whole messages, from the start", since.diff.prefix.messages),
        },
        None => Figure { name: "Same as last time", value: "–".to_owned(), more: "no request yet".to_owned() },
    });
    let usage = last.and_then(|last| last.summary.end.as_ref()?.usage);
    if let Some(usage) = usage {
        figures.push(cached("Cached, last request", usage));
    }
    let price = preview.price.as_ref().map(|price| {
        let input = total as u64;
        price.of(Usage { input, ..Usage::default() })
    });
    let more = if price.is_some() { "to read it, if nothing is cached" } else { "the model's price is unknown" };
    figures.push(Figure { name: "Price", value: money(price), more: more.to_owned() });
    figures
}

/// Those of a request that was sent.
pub(super) fn sent_figures(prompt: &Prompt, summary: &RequestSummary, has_before: bool) -> Vec<Figure> {
    let end = summary.end.as_ref();
    let usage = end.and_then(|end| end.usage);
    let (bytes, system) = system_bytes(prompt);
    let body = usize::try_from(summary.body_bytes).unwrap_or_default();
    let written = by_provider(usage.map(|usage| usage.output));
    let mut figures = vec![
        Figure {
            name: "Tokens read",
            value: by_provider(usage.map(|usage| usage.input)),
            more: format!("reported by the provider; {written} output"),
        },
        Figure {
            name: "Bytes",
            value: thousands(bytes),
            more: format!("{} of them system text; {} on the wire", thousands(system), thousands(body)),
        },
    ];
    if has_before {
        figures.push(Figure {
            name: "Same as the one before",
            value: format!("{} bytes", thousands(usize::try_from(summary.shared.bytes).unwrap_or_default())),
            more: format!("{} whole messages, from the start", summary.shared.messages),
        });
    }
    figures.extend(usage.map(|usage| cached("Cached", usage)));
    let cost = end.and_then(|end| end.cost);
    let more = if cost.is_some() { String::new() } else { "the model's price is unknown".to_owned() };
    figures.push(Figure { name: "Price", value: money(cost), more });
    figures
}

fn cached(name: &'static str, usage: Usage) -> Figure {
    let number = |tokens: u64| thousands(usize::try_from(tokens).unwrap_or(usize::MAX));
    let written = match usage.cache_written {
        0 => String::new(),
        tokens => format!("; {} written to the cache", number(tokens)),
    };
    let more = format!("of {} tokens, reported by the provider{written}", number(usage.input));
    Figure { name, value: number(usage.cached), more }
}

/// What something costs; a price that is not known is said to be so.
pub(super) fn money(money: Option<Money>) -> String {
    money.map_or("unknown".to_owned(), |money| money.to_string())
}
