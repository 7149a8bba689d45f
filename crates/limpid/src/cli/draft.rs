//! `draft`.

use clap::Subcommand;

/// What to do with calls that wait for the owner.
#[derive(Debug, Subcommand)]
pub enum DraftCommand {
    /// List the drafts that wait, oldest first
    List {
        /// Those too that were carried out, refused or are too old
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one: the exact action, why it waits, which text led to it
    Show {
        /// Its number
        id: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Change what one would do; an approval that it had is void
    Edit {
        /// Its number
        id: i64,
        /// The new arguments as JSON [default: what your editor leaves]
        #[arg(long, value_name = "JSON")]
        arguments: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Carry one out, once, exactly as it is shown
    Approve {
        /// Its number
        id: i64,
        /// Only if it still is what you looked at: the hash that `show` prints, or its first 32 digits or more
        #[arg(long, value_name = "HASH")]
        hash: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Say no to one
    Refuse {
        /// Its number
        id: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
