//! What happens while an agent serves, and who is told.

use std::fmt::Display;
use std::sync::Arc;

/// What happens while an agent serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServeEvent {
    /// It serves from here on.
    Ready,
    /// Something that was due has begun.
    Began {
        /// What kind of thing: `task`, `heartbeat`, …
        kind: String,
        /// Which one.
        name: String,
        /// When it was due, in milliseconds since 1970.
        slot_ms: i64,
    },
    /// It is done.
    Done {
        /// What kind of thing.
        kind: String,
        /// Which one.
        name: String,
        /// When it is due next, in milliseconds since 1970; none: never again.
        next_ms: Option<i64>,
    },
    /// It failed and is tried again.
    Failed {
        /// What kind of thing.
        kind: String,
        /// Which one.
        name: String,
        /// Why.
        why: String,
        /// When it is tried again, in milliseconds since 1970.
        again_ms: i64,
    },
    /// Something that the owner should know.
    Notice {
        /// What happened, in words that are always the same: for logs that hold nothing of what anybody wrote.
        what: &'static str,
        /// The same with all that belongs to it.
        text: String,
    },
    /// Something that does not work.
    Trouble {
        /// As for a notice.
        what: &'static str,
        /// As for a notice.
        text: String,
    },
    /// It was told to stop and waits a moment for what is under way.
    Stopping,
}

impl ServeEvent {
    /// Something that the owner should know, with nothing that belongs to it.
    pub(crate) fn notice(what: &'static str) -> Self {
        Self::Notice { what, text: what.to_owned() }
    }

    /// Something that does not work, and why.
    pub(crate) fn trouble(what: &'static str, why: impl Display) -> Self {
        Self::Trouble { what, text: format!("{what}: {why}") }
    }
}

/// Whoever is told what happens.
pub(crate) type Log = Arc<dyn Fn(&ServeEvent) + Send + Sync>;
