//! What a compaction is given, what it asks, and what comes of it.

use std::collections::BTreeMap;

use limpid_core::compaction::WindowSettings;
use limpid_core::{Entry, Labelled, Message, MessageId, WindowView};

use super::settings::Budget;

/// What is to be compacted.
#[derive(Clone, Debug)]
pub struct Task {
    /// What is shown so far.
    pub view: WindowView,
    /// The messages after those that digests stand for, as they were sent.
    pub entries: Vec<Entry>,
    /// What the person typed, where something else was sent.
    pub typed: BTreeMap<MessageId, String>,
    /// The message that began the work.
    pub request: Option<Entry>,
    /// How.
    pub settings: WindowSettings,
    /// What there is room for.
    pub budget: Budget,
    /// Whether all but the newest turn leaves, although there is room for more.
    pub is_forced: bool,
    /// Digests that may stand beside each other.
    pub most_digests: usize,
}

/// A question to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// To summarise messages.
    Summarize {
        /// The summary so far, which the new one takes in.
        existing: Option<Labelled<String>>,
        /// The messages, calls in plain words.
        messages: Vec<Message>,
        /// Tokens that the summary may have.
        cap: usize,
    },
    /// To write the one note that is left when the window is rolled over.
    Snapshot {
        /// What digests say so far.
        existing: Option<Labelled<String>>,
        /// The messages, calls in plain words.
        messages: Vec<Message>,
        /// Tokens that the note may have.
        cap: usize,
    },
    /// To make one text of two.
    Merge {
        /// The older.
        first: Labelled<String>,
        /// The newer.
        second: Labelled<String>,
        /// Tokens that the text may have.
        cap: usize,
    },
}

impl Ask {
    /// Tokens that the answer may have.
    pub const fn cap(&self) -> usize {
        match self {
            Self::Summarize { cap, .. } | Self::Snapshot { cap, .. } | Self::Merge { cap, .. } => *cap,
        }
    }
}

/// What is next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A model is to be asked this.
    Ask(Ask),
    /// It is done.
    Done(Box<Made>),
}

/// What a compaction made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// What is shown from here on.
    pub view: WindowView,
    /// What was done, a line each.
    pub steps: Vec<String>,
}
