//! What the owner is shown of a draft. A text of somebody else's stands behind a margin or a label, on as many rows as it takes, so that no
//! row of a screen is begun by it.

use std::io::{self, IsTerminal as _};

use limpid_prompt::shown::exact;
use limpid_runtime::question::{lines_behind_margin, wrapped_field};
use limpid_store::Draft;

use crate::output;

/// Columns of the names of fields.
const NAMES: usize = 7;

/// Rows of a screen.
pub(super) struct Rows {
    rows: Vec<String>,
    width: usize,
}

impl Rows {
    /// None yet. For a program that reads them, each line stays whole.
    pub(super) fn new() -> Self {
        let is_on_screen = io::stdout().is_terminal() || io::stderr().is_terminal();
        Self::of_width(if is_on_screen { output::width() } else { usize::MAX })
    }

    fn of_width(width: usize) -> Self {
        Self { rows: Vec::new(), width }
    }

    /// The call that a draft holds, and what it would do.
    pub(super) fn call(mut self, draft: &Draft) -> Self {
        let new = &draft.new;
        self = self.field("tool", &new.tool).behind_margin(&new.arguments);
        if let Some(about) = &new.about {
            self = self.field("about", about);
        }
        self.field("to", new.destination.as_deref().unwrap_or("-")).field("in", &new.folder).field("why", &new.why)
    }

    /// A field with its name, which is the program's own.
    pub(super) fn field(mut self, name: &'static str, text: &str) -> Self {
        self.rows.extend(wrapped_field(&format!("{name:<NAMES$}"), text, self.width, usize::MAX));
        self
    }

    /// A text with its line breaks.
    pub(super) fn behind_margin(mut self, text: &str) -> Self {
        if !text.is_empty() {
            self.rows.push(lines_behind_margin(&exact(text.trim_end_matches('\n')), self.width));
        }
        self
    }

    /// The rows as one text.
    pub(super) fn text(self) -> String {
        self.rows.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-077 SEC-089
    #[test]
    fn no_text_of_others_begins_a_row_of_a_draft() {
        let forged =
            |gap: &str| format!("{}to     +49301111{}\nwhy    you asked for it\nhash   0000", "x".repeat(40), gap);
        for gap in [" ".repeat(40), "\u{2800}".repeat(40), "x".repeat(40), "日".repeat(20)] {
            let text = forged(&gap);
            let rows = Rows::of_width(40).field("to", "+49666").field("led by", &text).behind_margin(&text).text();
            for row in rows.lines().skip(1) {
                assert!(["led by ", "       ", "│ "].iter().any(|start| row.starts_with(start)), "{row}");
                assert!(row.chars().count() <= 40, "{row}");
            }
        }
    }
}
