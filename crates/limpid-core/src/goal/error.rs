//! Why changes of goals are refused.

use super::{DecisionLocked, GoalStatus};
use crate::GoalId;

/// Why a change of goals was refused: what was wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    /// A change needs a goal and none is shown.
    #[error("there is no goal; create or resume one first")]
    NoGoal,
    /// No goal waits that could be gone on with.
    #[error("no goal is paused; name the one to go on with: {known}")]
    NothingWaits {
        /// What there is.
        known: String,
    },
    /// There is no such thing.
    #[error("there is no {what} `{name}`; there are: {known}")]
    NotFound {
        /// What kind of thing.
        what: &'static str,
        /// How it was named.
        name: String,
        /// What there is.
        known: String,
    },
    /// A text means more than one step or goal.
    #[error("`{name}` may mean several {what}s; name one of them whole: {known}")]
    Ambiguous {
        /// What kind of thing.
        what: &'static str,
        /// How it was named.
        name: String,
        /// What there is.
        known: String,
    },
    /// Somebody else's text may be behind the change.
    #[error(
        "text of others was read in this conversation, so goals change only when the owner says so; change it with \
         `limpid goal` or a goal tool, or begin again with /clean"
    )]
    Tainted,
    /// The decision stands.
    #[error(transparent)]
    DecisionLocked(#[from] DecisionLocked),
    /// A text is too long.
    #[error("the {what} has {chars} characters; at most {limit} are kept, so say it shorter")]
    TooLong {
        /// What it is.
        what: &'static str,
        /// How long it is.
        chars: usize,
        /// How long it may be.
        limit: usize,
    },
    /// A text says nothing.
    #[error("the {what} is blank")]
    Blank {
        /// What it is.
        what: &'static str,
    },
    /// The goal's line and its locked decisions would not fit the prompt.
    #[error(
        "the goal has {allotment} tokens of the prompt; its frame takes {frame}, its line {line} and {locked} locked \
         decisions {decisions}; use shorter texts, fewer locks or a larger window"
    )]
    DoesNotFit {
        /// Tokens that the goal block may take.
        allotment: usize,
        /// Tokens of headings and the like.
        frame: usize,
        /// Tokens of the goal's line.
        line: usize,
        /// Tokens of the locked decisions.
        decisions: usize,
        /// How many they are.
        locked: usize,
    },
    /// The goal does not stand as the change needs it.
    #[error("goal {goal} is {status}; {advice}")]
    Status {
        /// The goal.
        goal: GoalId,
        /// How it stands.
        status: GoalStatus,
        /// What to do.
        advice: &'static str,
    },
}
