//! The tokens of a rendered prompt.

use super::history;
use crate::count::{Tally, TokenCounter};
use crate::prompt::{Prompt, Totals};

impl Prompt {
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
        let messages: usize = self.messages.iter().map(|message| history::tokens(message, counter)).sum();
        Totals { total: messages + tools, tools }
    }
}
