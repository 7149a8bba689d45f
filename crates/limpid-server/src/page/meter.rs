//! The prompt of the next turn, to scale.

use askama::Template;
use limpid_core::Role;
use limpid_prompt::shown::shown;
use limpid_prompt::{Prompt, PromptMessage};
use limpid_runtime::Preview;

/// How wide the bar is, in its own units.
const WIDTH: usize = 1000;

/// The parts of a prompt as a bar, and its size in words.
#[derive(Template)]
#[template(path = "parts/meter.html")]
pub(super) struct Meter {
    pub(super) bars: Vec<Bar>,
    pub(super) total: String,
    pub(super) usable: Option<String>,
    pub(super) conversation: Option<String>,
    /// The system text.
    pub(super) system: Vec<SystemPart>,
    pub(super) system_bytes: String,
    pub(super) tools: usize,
}

/// A part of the bar.
pub(super) struct Bar {
    pub(super) kind: &'static str,
    pub(super) at: usize,
    pub(super) width: usize,
}

/// A section's text in the system message.
pub(super) struct SystemPart {
    pub(super) section: String,
    pub(super) kind: &'static str,
    pub(super) text: String,
}

impl Meter {
    /// That of a prompt of a conversation; none: a new one.
    pub(super) fn new(preview: &Preview, conversation: Option<String>) -> Self {
        let prompt = &preview.prompt;
        let totals = prompt.totals();
        let total = totals.map_or(0, |totals| totals.total);
        let tools = totals.map_or(0, |totals| totals.tools);
        let mut sizes = [("tools", tools), ("fixed", 0), ("session", 0), ("history", 0), ("turn", 0)];
        for message in prompt.messages() {
            for part in message.parts() {
                let kind = kind_of(message.role(), part.section(), part.stability().as_str());
                let size = sizes.iter_mut().find(|(known, _)| *known == kind);
                if let Some((_, size)) = size {
                    *size += part.tokens().unwrap_or_default();
                }
            }
        }
        let whole = sizes.iter().map(|(_, size)| size).sum::<usize>().max(1);
        let mut at = 0;
        let bars = sizes.into_iter().filter(|(_, size)| *size > 0).map(|(kind, size)| {
            let bar = Bar { kind, at, width: (size * WIDTH / whole).max(2) };
            at += bar.width;
            bar
        });
        let bars = bars.collect();
        let system = system(prompt);
        Self {
            bars,
            total: thousands(total),
            usable: prompt.window().map(|window| thousands(window.usable as usize)),
            conversation,
            system_bytes: thousands(system.iter().map(|part| part.text.len()).sum()),
            system,
            tools: prompt.tools().len(),
        }
    }
}

/// The kind of a part: how long it stays as it is.
pub(super) fn kind_of(role: Role, section: &str, stability: &'static str) -> &'static str {
    match (role, section) {
        (Role::System, _) => stability,
        (_, "history") => "history",
        _ => "turn",
    }
}

fn system(prompt: &Prompt) -> Vec<SystemPart> {
    let messages = prompt.messages().iter().filter(|message| message.role() == Role::System);
    let parts = messages.flat_map(PromptMessage::parts);
    let part = parts.map(|part| SystemPart {
        section: part.section().to_owned(),
        kind: part.stability().as_str(),
        text: shown(part.text()).into_owned(),
    });
    part.collect()
}

/// A number with a comma at every third digit.
pub(super) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}
