//! `task`.

use clap::{Args, Subcommand, ValueEnum};

use super::MineArgs;

/// What to do with tasks.
#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// List the tasks that wait, the next one first
    List {
        /// Those too that are done, failed or taken out
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one: what it does, its next times, its newest runs
    Show {
        /// Its number
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make one
    Add(AddArgs),
    /// Change what one says or when it is due; what is not given stays
    Edit(EditArgs),
    /// Take one out
    Cancel {
        /// Its number
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Bring one back that was taken out; it stands as it did before
    Undo {
        /// Its number
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Switch one off
    Disable {
        /// Its number
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Switch one on again
    Enable {
        /// Its number
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run one at once
    Run {
        /// Its number
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Have one come again later
    Snooze {
        /// Its number
        id: String,
        /// How long, as 10m, 2h or 1d, or until when, as 2026-04-11T09:00
        until: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Say that what one is about is done
    Done {
        /// Its number
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the patterns that keep the clock of a zone that was yours, and what a move to yours would change
    Zone(ZoneArgs),
    /// List the newest runs of one, newest first
    Log {
        /// Its number
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// What to do with the tasks of a zone that was the owner's.
#[derive(Debug, Args)]
pub struct ZoneArgs {
    /// Move them to the clock of your zone
    #[arg(long = "move", conflicts_with = "undo")]
    pub move_tasks: bool,
    /// Take the last move back
    #[arg(long)]
    pub undo: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A task to be made.
#[derive(Debug, Args)]
pub struct AddArgs {
    /// What to do, to send or to run
    pub text: String,
    /// What it is, for you; the beginning of the text when left out
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// What becomes of the text
    #[arg(long, value_enum, default_value_t = TaskKindWord::Reminder)]
    pub kind: TaskKindWord,
    /// When.
    #[command(flatten)]
    pub when: WhenArgs,
    /// The conversation that its output goes to; the heartbeat's when left out
    #[arg(long, value_name = "ID")]
    pub conversation: Option<String>,
    /// What is done about runs that were missed: skip, run_once, or run_if_within:SECONDS
    #[arg(long, value_name = "POLICY")]
    pub missed: Option<String>,
    /// Whose the words are.
    #[command(flatten)]
    pub mine: MineArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A task to be changed.
#[derive(Debug, Args)]
pub struct EditArgs {
    /// Its number
    pub id: String,
    /// What to do, to send or to run
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// What it is, for you
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// When.
    #[command(flatten)]
    pub when: WhenArgs,
    /// What is done about runs that were missed: skip, run_once, or run_if_within:SECONDS
    #[arg(long, value_name = "POLICY")]
    pub missed: Option<String>,
    /// Whose the words are.
    #[command(flatten)]
    pub mine: MineArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// When something is due; one of them.
#[derive(Debug, Args)]
pub struct WhenArgs {
    /// Once, at a time such as 2026-04-11T09:00
    #[arg(long, value_name = "TIME", group = "when")]
    pub at: Option<String>,
    /// Once, after 10m, 2h or 1d
    #[arg(long, value_name = "SPAN", group = "when")]
    pub after: Option<String>,
    /// Again and again, every 10m, 2h or 1d
    #[arg(long, value_name = "SPAN", group = "when")]
    pub every: Option<String>,
    /// At the times of a pattern of five fields
    #[arg(long, value_name = "PATTERN", group = "when")]
    pub cron: Option<String>,
    /// At every heartbeat
    #[arg(long, group = "when")]
    pub heartbeat: bool,
    /// The IANA zone of its times; yours when left out
    #[arg(long, value_name = "ZONE")]
    pub zone: Option<String>,
}

/// What becomes of the text of a task.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TaskKindWord {
    /// It is sent as it stands
    Reminder,
    /// A model carries it out
    Agent,
    /// It is a command that is run in the sandbox
    Command,
}
