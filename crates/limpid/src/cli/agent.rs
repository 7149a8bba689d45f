//! `agent`.

use clap::Subcommand;

/// What to do with agents that turns handed work to.
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// List agents, the newest first
    List {
        /// Those only that have not ended
        #[arg(long)]
        open: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one: its task, what it did, its result and everything that was said
    Show {
        /// Its number
        id: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the tasks that are planned for agents: what each waits for, what it came to
    Plan {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Say something to one: it hears it at its next step, or goes on when it had ended
    Tell {
        /// Its number
        id: i64,
        /// What to say
        message: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Stop one, and those that it started; what they came to is kept
    Cancel {
        /// Its number
        id: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
