//! What rendering returns: messages made of parts, each with its origin, and a report of every section.

mod message;
mod report;
mod tool;

use limpid_core::Role;

use crate::count::{Tally, TokenCounter};
use crate::diff::{PromptDiff, compare, compared};

pub use crate::hash::hash_of;
pub use message::{Part, Place, PromptMessage, StatePart};
pub use report::{BudgetUse, Outcome, SectionReport, Size};
pub use tool::{Loading, OfferedTool};

/// A rendered prompt: everything that a model will read, and where each byte of it comes from.
///
/// Nobody can change one, and it is made in two ways only: by rendering a profile, and from the record of a request that
/// was sent ([`PromptRecord::into_prompt`](crate::recorded::PromptRecord::into_prompt)). So every sentence that reaches a model comes from a file or a record that the
/// owner can open.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    pub(crate) profile: String,
    pub(crate) path: String,
    pub(crate) revision: String,
    pub(crate) messages: Vec<PromptMessage>,
    pub(crate) report: Vec<SectionReport>,
    pub(crate) budgets: Vec<BudgetUse>,
    pub(crate) offered: Vec<OfferedTool>,
    pub(crate) waiting: Vec<OfferedTool>,
    pub(crate) declared: bool,
    pub(crate) counter: String,
    pub(crate) totals: Option<Totals>,
    pub(crate) template: Vec<String>,
    pub(crate) window: Option<WindowUse>,
    pub(crate) system_target: Option<usize>,
}

/// The window that a prompt is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowUse {
    /// Its size in tokens.
    pub tokens: u32,
    /// How much of it is used at most.
    pub usable: u32,
}

impl WindowUse {
    /// A number of tokens as a share of the window, in percent.
    pub fn percent(self, tokens: usize) -> f64 {
        let percent = tokens as f64 * 100.0 / f64::from(self.tokens.max(1));
        (percent * 10.0).round() / 10.0
    }
}

/// Tokens of a whole prompt, by its counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Messages with their calls, and declared tools.
    pub total: usize,
    /// Declared tools.
    pub tools: usize,
}

impl Prompt {
    /// The profile that was rendered.
    pub fn profile(&self) -> &str {
        &self.profile
    }

    /// The path that was rendered.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The hash of the fixed parts: 16 hexadecimal digits that change only when what they stand for changes.
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// The messages in the order in which they are sent.
    pub fn messages(&self) -> &[PromptMessage] {
        &self.messages
    }

    /// What the model's own chat template puts around the messages, in order: shown, never sent from here.
    pub fn template(&self) -> &[String] {
        &self.template
    }

    /// The same prompt with what the model's own chat template puts around it, to be shown.
    #[must_use]
    pub fn with_template(self, template: Vec<String>) -> Self {
        Self { template, ..self }
    }

    /// One row for every section of the path.
    pub fn report(&self) -> &[SectionReport] {
        &self.report
    }

    /// How far each budget of a message and of the path is used, when tokens were counted.
    pub fn budgets(&self) -> &[BudgetUse] {
        &self.budgets
    }

    /// The window that it is for; none when it is not known.
    pub fn window(&self) -> Option<WindowUse> {
        self.window
    }

    /// Bytes below which its profile wants the system text of a usual turn.
    pub fn system_target(&self) -> Option<usize> {
        self.system_target
    }

    /// The hash of the system text: 32 hexadecimal digits.
    pub fn system_hash(&self) -> String {
        let system = self.messages.iter().filter(|message| message.role() == Role::System);
        hash_of(system.map(|message| message.text.as_bytes()))
    }

    /// The tools that are declared to the provider, in their fixed order; none when calls are made by other means.
    pub fn tools(&self) -> &[OfferedTool] {
        if self.declared { &self.offered } else { &[] }
    }

    /// The tools of which the model reads nothing until a result names them; none where it does not take such.
    pub fn waiting(&self) -> &[OfferedTool] {
        if self.declared { &self.waiting } else { &[] }
    }

    /// Everything that is declared, in an order that stays the same when a tool is found: what the model reads from the
    /// start, then by name what it reads where a result names it.
    pub fn declarations(&self) -> impl Iterator<Item = &OfferedTool> {
        let (always, loaded): (Vec<_>, Vec<_>) = self.tools().iter().partition(|tool| tool.loading == Loading::Always);
        let mut later: Vec<&OfferedTool> = loaded.into_iter().chain(self.waiting()).collect();
        later.sort_by(|one, other| one.name.cmp(&other.name));
        always.into_iter().chain(later)
    }

    /// The tools that the model may call, declared or only listed in the text.
    pub fn offered(&self) -> &[OfferedTool] {
        &self.offered
    }

    /// What counted the tokens, and how sure it is.
    pub fn counter(&self) -> &str {
        &self.counter
    }

    /// The tokens of the whole, when they were counted.
    pub fn totals(&self) -> Option<Totals> {
        self.totals
    }

    /// The rows of what a budget cut or dropped; nothing is cut silently.
    pub fn cuts(&self) -> impl Iterator<Item = &SectionReport> {
        self.report.iter().filter(|row| matches!(row.outcome, Outcome::Trimmed | Outcome::Dropped))
    }

    /// What differs from this prompt, the older one, to `newer`.
    pub fn diff(&self, newer: &Self) -> PromptDiff {
        let old: Vec<_> = self.messages.iter().map(compared).collect();
        let new: Vec<_> = newer.messages.iter().map(compared).collect();
        compare(&old, &new)
    }

    /// The same prompt with the tokens of parts, sections and the whole by this counter; no text changes.
    ///
    /// Budgets were kept by the counter that it was rendered with. What is shown may be counted more exactly.
    #[must_use]
    pub fn counted_by(mut self, counter: &dyn TokenCounter) -> Self {
        for part in self.messages.iter_mut().flat_map(|message| &mut message.parts) {
            part.tokens = Some(counter.count(&part.text));
        }
        for message in &mut self.messages {
            let tokens = message.calls.iter().map(|call| counter.count(&call.name) + counter.count(&call.arguments));
            message.call_tokens = Some(tokens.sum());
        }
        for state in self.messages.iter_mut().flat_map(|message| &mut message.state) {
            state.tokens = Some(counter.count(&state.input.json));
        }
        for row in &mut self.report {
            let parts = self.messages.iter().flat_map(|message| &message.parts);
            let own = parts.filter(|part| part.section == row.section && row.bytes > 0);
            row.tokens = Some(own.filter_map(|part| part.tokens).sum());
        }
        self.totals = Some(self.totals_by(counter));
        self.counter = counter.name().to_owned();
        self
    }

    /// What the whole is made of, by kind of text: messages with their calls and state, and declared tools.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for message in &self.messages {
            tally.add(&Tally::of(&message.text));
            for call in &message.calls {
                tally.add(&Tally::of(&call.name));
                tally.add(&Tally::of(&call.arguments));
            }
            for state in &message.state {
                tally.add(&Tally::of(state.json()));
            }
        }
        for tool in self.tools() {
            tally.add(&Tally::of(&tool.declaration()));
        }
        tally
    }

    /// The tokens of the whole by a counter, whichever one counted the parts.
    pub fn totals_by(&self, counter: &dyn TokenCounter) -> Totals {
        let tools = self.tools().iter().map(|tool| counter.count(&tool.declaration())).sum();
        let messages: usize = self.messages.iter().map(|message| message.tokens(counter)).sum();
        Totals { total: messages + tools, tools }
    }
}
