//! `goal`.

use clap::{Args, Subcommand, ValueEnum};
use limpid_core::goal::{CheckpointStatus, Priority};

use super::MineArgs;

/// What to do with the goals of a conversation.
#[derive(Debug, Subcommand)]
pub enum GoalCommand {
    /// Show the goal with its steps, decisions and files
    Show {
        /// What holds for every one of these.
        #[command(flatten)]
        of: GoalArgs,
    },
    /// List the goals of the conversation; `*` stands before the one that the prompt shows
    List {
        /// What holds for every one of these.
        #[command(flatten)]
        of: GoalArgs,
    },
    /// Make a goal; the active one pauses
    Create {
        /// What is to be done
        #[arg(required = true, value_name = "TEXT")]
        text: Vec<String>,
        /// How much it matters
        #[arg(long, value_enum, default_value = "medium")]
        priority: PriorityWord,
        /// Whose the words are.
        #[command(flatten)]
        mine: MineArgs,
        /// What holds for every one of these.
        #[command(flatten)]
        of: GoalArgs,
    },
    /// Have a goal wait; it leaves the prompt
    Pause {
        /// Its id or text; without it the shown one
        goal: Option<String>,
        /// What holds for every one of these.
        #[command(flatten)]
        of: GoalArgs,
    },
    /// Go on with a goal that waits or was completed; the active one pauses
    Resume {
        /// Its id or text; without it the newest that waits
        goal: Option<String>,
        /// What holds for every one of these.
        #[command(flatten)]
        of: GoalArgs,
    },
    /// End a goal; it stays in the prompt until a new task
    Complete {
        /// Its id or text; without it the shown one
        goal: Option<String>,
        /// What came of it
        #[arg(long, default_value = "", value_name = "TEXT")]
        summary: String,
        /// Whose the words are.
        #[command(flatten)]
        mine: MineArgs,
        /// What holds for every one of these.
        #[command(flatten)]
        of: GoalArgs,
    },
    /// Take the goal out of the prompt; an active one pauses
    Clear {
        /// What holds for every one of these.
        #[command(flatten)]
        of: GoalArgs,
    },
    /// Show what happened to the goals, by whom and when
    History {
        /// What holds for every one of these.
        #[command(flatten)]
        of: GoalArgs,
    },
    /// Keep a decision of the goal
    Decide {
        /// What was decided
        #[arg(required = true, value_name = "TEXT")]
        text: Vec<String>,
        /// Why
        #[arg(long, default_value = "", value_name = "TEXT")]
        because: String,
        /// Whose the words are.
        #[command(flatten)]
        mine: MineArgs,
        /// What holds for every one of these.
        #[command(flatten)]
        of: GoalArgs,
    },
    /// Make a decision stand for good: nothing changes or unlocks it
    Lock {
        /// Its id, its text or the beginning of it
        decision: String,
        /// What holds for every one of these.
        #[command(flatten)]
        of: GoalArgs,
    },
    /// List, add and set the steps of the goal
    #[command(subcommand)]
    Step(StepCommand),
}

/// What to do with the steps of a goal.
#[derive(Debug, Subcommand)]
pub enum StepCommand {
    /// List the steps
    List {
        /// What holds for every one of these.
        #[command(flatten)]
        of: GoalArgs,
    },
    /// Add a step
    Add {
        /// What is to be done
        #[arg(required = true, value_name = "TEXT")]
        text: Vec<String>,
        /// Whose the words are.
        #[command(flatten)]
        mine: MineArgs,
        /// What holds for every one of these.
        #[command(flatten)]
        of: GoalArgs,
    },
    /// Say how a step stands
    Set {
        /// Its id, its text or the beginning of it
        step: String,
        /// How it stands
        #[arg(value_enum)]
        status: StatusWord,
        /// What holds for every one of these.
        #[command(flatten)]
        of: GoalArgs,
    },
}

/// Options of every goal command.
#[derive(Clone, Debug, Args)]
pub struct GoalArgs {
    /// The conversation: an id or `last`
    #[arg(long, short, default_value = "last", value_name = "ID")]
    pub conversation: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// How much a goal matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PriorityWord {
    /// First
    High,
    /// In its turn
    Medium,
    /// When there is time
    Low,
}

impl From<PriorityWord> for Priority {
    fn from(word: PriorityWord) -> Self {
        match word {
            PriorityWord::High => Self::High,
            PriorityWord::Medium => Self::Medium,
            PriorityWord::Low => Self::Low,
        }
    }
}

/// How a step stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatusWord {
    /// It waits
    Pending,
    /// It is worked on
    InProgress,
    /// It is done
    Completed,
}

impl From<StatusWord> for CheckpointStatus {
    fn from(word: StatusWord) -> Self {
        match word {
            StatusWord::Pending => Self::Pending,
            StatusWord::InProgress => Self::InProgress,
            StatusWord::Completed => Self::Completed,
        }
    }
}
