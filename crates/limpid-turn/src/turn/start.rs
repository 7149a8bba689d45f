//! What a turn begins with.

use std::collections::BTreeSet;
use std::time::Duration;

use limpid_core::CallId;

/// What a turn begins with. The person's message is stored and rendered by whoever drives the turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnStart {
    /// The tools that the prompt declares; nothing else is ever run.
    pub tools: Vec<OfferedTool>,
    /// Names of calls that stand in the history, so that no name comes twice.
    pub taken: BTreeSet<CallId>,
    /// How far the turn may go.
    pub limits: Limits,
    /// The tool that ends the turn: the first valid call of it does, and no text does.
    pub decision: Option<String>,
    /// Whether the answer has to be a screen; one that is none is asked for again, so often as [`Limits::screens_again`] says.
    pub is_screen: bool,
}

/// A tool that the model may call in this turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedTool {
    /// Its name.
    pub name: String,
    /// How long one call may take.
    pub timeout: Duration,
    /// Characters of its result that the model gets to read, when that is not the usual number.
    pub result_chars: Option<usize>,
}

/// How far a turn may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Calls of the model in which it may use tools; one more follows without.
    pub calls_with_tools: u32,
    /// The batch of equal calls in a row in whose place the last call without tools comes.
    pub equal_batches: u32,
    /// Characters of a tool's result that the model gets to read.
    pub result_chars: usize,
    /// How often an answer is asked for again that is no screen where it has to be one.
    pub screens_again: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { calls_with_tools: 15, equal_batches: 3, result_chars: 20_000, screens_again: 2 }
    }
}
