//! A prompt as people and programs read it: JSON, text, and a table of its sections.

pub mod frames;
mod json;

use std::fmt::{self, Write as _};

use limpid_core::Role;

use crate::inputs::CallInput;
use crate::profile::Unit;
use crate::prompt::{BudgetUse, Outcome, Part, Prompt, PromptMessage, SectionReport, StatePart, WindowUse};
use crate::render::{IN_FLIGHT, PAST};
use crate::section::Stability;
use crate::show::frames::{Framed, page};

/// The origin of what a model's own chat template adds.
const TEMPLATE: &str = "model:chat_template";

impl Prompt {
    /// The messages as text, each under a line that says who speaks and how long it is.
    pub fn to_text(&self) -> String {
        let messages = self.messages().iter().enumerate().map(|(n, message)| {
            let (role, bytes) = (message.role(), message.text().len());
            let mut framed = Framed::message(format!("{n} {role}, {bytes} bytes"), message);
            if !message.loads().is_empty() {
                framed = framed.note(&format!("declares {}", message.loads().join(", ")));
            }
            message.state().iter().fold(framed, |framed, state| {
                let (size, model) = (state.json().len(), &state.input().model);
                framed.note(&format!("{}, {size} bytes of {model}", StatePart::ORIGIN))
            })
        });
        let template = self.template().iter();
        let template = template.map(|text| Framed::new(format!("{TEMPLATE}, {} bytes", text.len()), text));
        page(&messages.chain(template).collect::<Vec<_>>())
    }

    /// A budget of tokens as a share of the window.
    fn window_percent(&self, budget: &BudgetUse) -> Option<f64> {
        self.window().filter(|_| budget.unit == Unit::Tokens).map(|window| window.percent(budget.limit))
    }

    /// A table of the sections with their sizes, shares, stability, origins and outcomes, the total with its share of the
    /// window, and which section to shorten when the system text is over its profile's target.
    pub fn explain(&self) -> String {
        let mut rows: Vec<Row> = self.report().iter().map(|row| self.section_row(row)).collect();
        rows.extend([PAST, IN_FLIGHT].into_iter().filter_map(|section| self.conversation_row(section)));
        rows.extend(self.calls_row());
        rows.extend(self.state_row());
        if !self.tools().is_empty() {
            let tokens = self.totals().map(|totals| totals.tools);
            let waiting = self.waiting().len();
            let waiting = if waiting > 0 { format!(", {waiting} more unread") } else { String::new() };
            let outcome = format!("{} declared{waiting}", self.tools().len());
            rows.push(Row { outcome, ..Row::new("tools", self.tool_bytes(), tokens) });
        }
        let bytes: usize = self.messages().iter().map(|message| message.text().len()).sum();
        let state: usize = self.state().map(|state| state.json().len()).sum();
        let calls: usize = self.calls().map(|call| call.name.len() + call.arguments.len()).sum();
        let bytes = bytes + calls + state + self.tool_bytes();
        let template: usize = self.template().iter().map(String::len).sum();
        if template > 0 {
            rows.push(Row { origin: TEMPLATE.to_owned(), ..Row::new("template", template, None) });
        }
        let bytes = bytes + template;
        let total = Row::new("total", bytes, self.totals().map(|totals| totals.total));
        for row in &mut rows {
            row.share = Some(row.share_of(&total));
        }
        rows.push(total);
        let mut out = format!("{}\nTokens by {}.\n", table(&rows), self.counter());
        let (hash, revision) = (self.system_hash(), self.revision());
        push(&mut out, format_args!("Hash of the system text: {hash}; revision of its fixed parts: {revision}.\n"));
        if let Some((window, totals)) = self.window().zip(self.totals()) {
            let (percent, WindowUse { tokens, usable }) = (window.percent(totals.total), window);
            let total = totals.total;
            push(&mut out, format_args!("Window: {total} of {tokens} tokens, {percent} %; {usable} are usable.\n"));
        }
        for budget in self.budgets() {
            let percent =
                self.window_percent(budget).map(|percent| format!("; the budget is {percent} % of the window"));
            push(&mut out, format_args!("{budget}{}.\n", percent.unwrap_or_default()));
        }
        out.push_str(&self.size_advice().unwrap_or_default());
        out.push_str(&self.advice().unwrap_or_default());
        out
    }

    /// What to do when a budget cut something.
    pub fn size_advice(&self) -> Option<String> {
        let cut: Vec<&str> =
            self.cuts().map(|row| row.section.as_str()).filter(|section| *section != "tools").collect();
        (!cut.is_empty()).then(|| {
            format!(
                "Budgets cut {}: shorten it, move what is not always needed into a skill, or use a lower tier's \
                 template (/context size).\n",
                cut.join(", ")
            )
        })
    }

    /// Which section to shorten when the system text is over its profile's target.
    pub fn advice(&self) -> Option<String> {
        let target = self.system_target()?;
        let system: Vec<&PromptMessage> = self.messages().iter().filter(|m| m.role() == Role::System).collect();
        let bytes: usize = system.iter().map(|message| message.text().len()).sum();
        if bytes <= target {
            return None;
        }
        let sections = self.report().iter().map(|row| row.section.as_str());
        let size = |section: &str| -> usize {
            let parts = system.iter().flat_map(|message| message.parts());
            parts.filter(|part| part.section() == section).map(|part| part.text().len()).sum()
        };
        // The first of the largest, so that the advice does not depend on how often it is asked for.
        let largest = sections.map(|section| (size(section), section)).max_by_key(|(size, _)| *size)?;
        Some(format!(
            "The system text has {bytes} bytes, {} more than the target of {target}: shorten `{}` ({} bytes) first.\n",
            bytes - target,
            largest.1,
            largest.0
        ))
    }

    fn section_row(&self, row: &SectionReport) -> Row {
        let parts: Vec<&Part> =
            self.parts().filter(|part| part.section() == row.section && row.outcome != Outcome::Shadowed).collect();
        let outcome = match (&row.reason, row.kept.zip(row.dropped)) {
            (Some(reason), Some((kept, dropped))) if dropped > 0 => {
                format!("{}: {kept} of {} kept; {reason}", row.outcome.as_str(), kept + dropped)
            }
            (Some(reason), _) => format!("{}: {reason}", row.outcome.as_str()),
            (None, _) => row.outcome.as_str().to_owned(),
        };
        Row {
            stability: parts.first().map(|part| part.stability().as_str().to_owned()),
            origin: origins(&parts),
            outcome,
            ..Row::new(&row.section, row.bytes, row.tokens)
        }
    }

    fn conversation_row(&self, section: &str) -> Option<Row> {
        let parts: Vec<&Part> = self.parts().filter(|part| part.section() == section).collect();
        let first = parts.first()?;
        let tokens = parts.iter().map(|part| part.tokens()).sum();
        let bytes = parts.iter().map(|part| part.text().len()).sum();
        let (stability, origin) = (Some(first.stability().as_str().to_owned()), origins(&parts));
        Some(Row { stability, origin, outcome: "as sent".to_owned(), ..Row::new(section, bytes, tokens) })
    }

    /// The calls of the conversation, whose results are messages.
    fn calls_row(&self) -> Option<Row> {
        let count = self.calls().count();
        let bytes = self.calls().map(|call| call.name.len() + call.arguments.len()).sum();
        let tokens = self.messages().iter().map(|message| message.call_tokens).sum();
        let outcome = format!("{count} as sent");
        (count > 0).then(|| Row { outcome, ..Row::new("calls", bytes, tokens) })
    }

    fn calls(&self) -> impl Iterator<Item = &CallInput> {
        self.messages().iter().flat_map(PromptMessage::calls)
    }

    /// What providers get back with their messages, by its size alone.
    fn state_row(&self) -> Option<Row> {
        let count = self.state().count();
        let tokens = self.state().map(StatePart::tokens).sum();
        let bytes = self.state().map(|state| state.json().len()).sum();
        let stability = Some(Stability::Session.as_str().to_owned());
        let (origin, outcome) = (StatePart::ORIGIN.to_owned(), format!("{count} as received"));
        (count > 0).then(|| Row { stability, origin, outcome, ..Row::new(StatePart::SECTION, bytes, tokens) })
    }

    fn state(&self) -> impl Iterator<Item = &StatePart> {
        self.messages().iter().flat_map(PromptMessage::state)
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.messages().iter().flat_map(PromptMessage::parts)
    }

    /// Bytes of the declared tools with their schemas.
    pub fn tool_bytes(&self) -> usize {
        self.tools().iter().map(|tool| tool.declaration().len()).sum()
    }
}

impl fmt::Display for BudgetUse {
    /// `message 0 (system) of path chat-remote: 987 of 1000 tokens (mode 520, soul 467), without goal`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} of {} {}", self.what, self.used, self.limit, self.unit.as_str())?;
        let parts: Vec<String> = self.parts.iter().map(|part| format!("{} {}", part.section, part.size)).collect();
        if !parts.is_empty() {
            write!(f, " ({})", parts.join(", "))?;
        }
        if !self.except.is_empty() {
            write!(f, ", without {}", self.except.join(", "))?;
        }
        Ok(())
    }
}

/// One line of the table.
struct Row {
    section: String,
    bytes: usize,
    tokens: Option<usize>,
    share: Option<usize>,
    stability: Option<String>,
    origin: String,
    outcome: String,
}

impl Row {
    fn new(section: &str, bytes: usize, tokens: Option<usize>) -> Self {
        let (origin, outcome) = (String::new(), String::new());
        Self { section: section.to_owned(), bytes, tokens, share: None, stability: None, origin, outcome }
    }

    /// Percent of the total, by tokens where they were counted.
    fn share_of(&self, total: &Self) -> usize {
        let (own, all) = self.tokens.zip(total.tokens).unwrap_or((self.bytes, total.bytes));
        (own * 100 + all / 2).checked_div(all).unwrap_or(0)
    }

    fn cells(&self) -> [String; 7] {
        [
            self.section.clone(),
            self.bytes.to_string(),
            self.tokens.map_or_else(|| "-".to_owned(), |tokens| tokens.to_string()),
            self.share.map_or_else(String::new, |share| format!("{share} %")),
            self.stability.clone().unwrap_or_default(),
            self.origin.clone(),
            self.outcome.clone(),
        ]
    }
}

/// The first origin, and how many others there are.
fn origins(parts: &[&Part]) -> String {
    match parts {
        [] => String::new(),
        [part] => part.origin().to_owned(),
        [part, others @ ..] => format!("{} +{}", part.origin(), others.len()),
    }
}

fn table(rows: &[Row]) -> String {
    let heads = ["section", "bytes", "tokens", "share", "stability", "origin", "outcome"].map(str::to_owned);
    let lines: Vec<[String; 7]> = std::iter::once(heads).chain(rows.iter().map(Row::cells)).collect();
    let mut widths = [0; 7];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    for line in &lines {
        let mut text = String::new();
        for (at, (cell, width)) in line.iter().zip(widths).enumerate() {
            // Numbers stand to the right.
            match at {
                1..=3 => push(&mut text, format_args!("{cell:>width$}  ")),
                _ => push(&mut text, format_args!("{cell:<width$}  ")),
            }
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

/// Writing to a text cannot fail.
fn push(out: &mut String, text: fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}
