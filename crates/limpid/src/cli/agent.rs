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
    /// Stop one, and those that it started; what they came to is kept
    Cancel {
        /// Its number
        id: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
