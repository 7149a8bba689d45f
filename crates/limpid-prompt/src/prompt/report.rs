//! What became of each section, and how far each budget is used.

use serde::Serialize;

use crate::profile::Unit;
use crate::source::SourceRef;

/// What became of one section of the path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectionReport {
    /// The section's id.
    pub section: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why, when it is not simply included: the gate that was false, the budget, the file that shadows it.
    pub reason: Option<String>,
    /// Bytes that it has in the prompt.
    pub bytes: usize,
    /// Its tokens by the prompt's counter, when they were counted.
    pub tokens: Option<usize>,
    /// Entries or paragraphs that are in the prompt; none for a text without any.
    pub kept: Option<usize>,
    /// Entries or paragraphs that were cut.
    pub dropped: Option<usize>,
    /// Where each entry that is in the prompt comes from, in order: `email:<account>/<id>`, `sms:<id>`, `task:<id>`.
    #[serde(skip)]
    pub entries: Vec<String>,
}

/// What became of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It is in the prompt, whole.
    Included,
    /// Its gate was false, or it has no text.
    Skipped,
    /// Some of it is in the prompt.
    Trimmed,
    /// A budget left no room for it.
    Dropped,
    /// Another file stands in its place.
    Shadowed,
}

impl Outcome {
    /// The word for it, as reports write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Included => "included",
            Self::Skipped => "skipped",
            Self::Trimmed => "trimmed",
            Self::Dropped => "dropped",
            Self::Shadowed => "shadowed",
        }
    }
}

/// How far a budget is used, after everything that it cuts was cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetUse {
    /// Whose it is: `message 0 (system) of path chat-remote`, `path chat-local`.
    pub what: String,
    /// How much is used.
    pub used: usize,
    /// How much is allowed.
    pub limit: usize,
    /// What is counted; tokens by the counter that the prompt was rendered with.
    pub unit: Unit,
    /// What each section takes, the largest first.
    pub parts: Vec<Size>,
    /// Sections that it does not count.
    pub except: Vec<String>,
}

/// How much one thing takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// The section, `history` or `tools`.
    pub section: String,
    /// Its size in the budget's unit.
    pub size: usize,
    /// The file that its text stands in, when that is one.
    pub source: Option<SourceRef>,
}

impl Size {
    pub(crate) fn new(section: &str, size: usize) -> Self {
        Self { section: section.to_owned(), size, source: None }
    }
}
