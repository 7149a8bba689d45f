//! What a prompt would be with a text that is being typed.

use std::collections::BTreeSet;

use limpid_core::Usage;
use limpid_prompt::problem::Problem;
use limpid_prompt::shown::{shown, shown_line};
use limpid_runtime::profiles::{PromptFile, Reader};
use limpid_runtime::{Preview, Trial};
use serde_json::{Value, json};

use crate::page::meter::thousands;
use crate::page::state::Page;

/// What a prompt has of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes {
    pub(super) bytes: usize,
    pub(super) tokens: usize,
    text: String,
    sections: BTreeSet<String>,
}

impl Sizes {
    /// What a prompt has of a file.
    pub(super) fn new(page: &Page, file: &PromptFile, preview: &Preview) -> Self {
        let prompt = &preview.prompt;
        let Ok(profile) = page.agent.profiles().profile(prompt.profile(), Reader::Owner) else {
            return Self::default();
        };
        let id = file.id();
        let mut sizes = Self::default();
        for message in prompt.messages() {
            let of_section = |section: &str, origin: &str| {
                super::file_of(page, &profile, section, origin).is_some_and(|known| known == id)
            };
            let own: BTreeSet<&str> = message
                .parts()
                .iter()
                .filter(|part| of_section(part.section(), part.origin()))
                .map(limpid_prompt::Part::section)
                .collect();
            // Entries of memories and the like stand in the section's text, too.
            for part in message.parts().iter().filter(|part| own.contains(part.section())) {
                sizes.bytes += part.text().len();
                sizes.tokens += part.tokens().unwrap_or_default();
                if !sizes.text.is_empty() {
                    sizes.text.push('\n');
                }
                sizes.text.push_str(part.text());
            }
            sizes.sections.extend(own.into_iter().map(str::to_owned));
        }
        sizes
    }
}

/// What a trial says, for the script of the editor.
pub(super) fn answer(page: &Page, file: &PromptFile, trial: &Trial) -> Value {
    let sizes = trial.preview.as_ref().map(|preview| Sizes::new(page, file, preview)).unwrap_or_default();
    let problems = trial.problems.iter().map(problem).chain(trial.unfit.as_deref().map(unfit));
    let problems = problems.chain(trial.preview.iter().flat_map(cuts));
    json!({
        "refused": trial.refusal().is_some(),
        "problems": problems.collect::<Vec<_>>(),
        "bytes": sizes.bytes,
        "tokens": sizes.tokens,
        "effect": trial.preview.as_ref().map(effect),
        "budget": trial.preview.as_ref().and_then(|preview| budget(&sizes, preview)),
        "shown": shown(&sizes.text),
    })
}

fn problem(problem: &Problem) -> Value {
    let place = problem.place.as_ref();
    json!({
        "severity": problem.severity.to_string(),
        "message": shown_line(&problem.message),
        "file": shown_line(&problem.path),
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "excerpt": place.map(|place| shown_line(&place.excerpt)),
        "fix": shown_line(&problem.fix),
    })
}

fn unfit(why: &str) -> Value {
    json!({ "severity": "error", "message": shown(why), "line": null, "fix": "" })
}

/// What budgets cut of the prompt, be it of this file or of another one that it leaves no room for.
fn cuts(preview: &Preview) -> impl Iterator<Item = Value> {
    preview.prompt.cuts().filter(|row| row.section != "tools").map(|row| {
        let reason = row.reason.as_deref().unwrap_or("a budget");
        let message = format!("{} is {}: {reason}", row.section, row.outcome.as_str());
        json!({ "severity": "warning", "message": shown_line(&message), "line": null, "fix": "" })
    })
}

/// What saving would do to the next turn.
fn effect(preview: &Preview) -> String {
    let total = preview.prompt.totals().map_or(0, |totals| totals.total);
    let price = preview.price.as_ref().map(|price| price.of(Usage { input: total as u64, ..Usage::default() }));
    let price = price.map_or_else(String::new, |price| format!(": about {price}"));
    let whole = thousands(total);
    match &preview.since {
        Some(since) => format!(
            "The first {} bytes are the same as in the last request; the rest is read at full price once{price} for all {whole} tokens.",
            thousands(since.diff.prefix.bytes)
        ),
        None => format!("First message: all {whole} tokens are read at full price{price}."),
    }
}

/// The budget that the file's sections fill most.
fn budget(sizes: &Sizes, preview: &Preview) -> Option<Value> {
    let counts =
        |budget: &&limpid_prompt::BudgetUse| budget.parts.iter().any(|part| sizes.sections.contains(&part.section));
    let fullest =
        preview.prompt.budgets().iter().filter(counts).max_by_key(|budget| budget.used * 1000 / budget.limit.max(1))?;
    Some(json!({
        "used": fullest.used, "limit": fullest.limit,
        "words": format!(
            "{} of {} {} of {}",
            thousands(fullest.used), thousands(fullest.limit), fullest.unit.as_str(), shown_line(&fullest.what)
        ),
    }))
}
