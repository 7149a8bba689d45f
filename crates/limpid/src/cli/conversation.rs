//! `conversation`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

/// What to do with conversations.
#[derive(Debug, Subcommand)]
pub enum ConversationCommand {
    /// List conversations, the newest first
    List {
        /// How many
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: usize,
        /// List archived conversations instead
        #[arg(long)]
        archived: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Find conversations by their title or by what was said in them, archived ones too
    #[command(
        after_help = "Examples:\n  limpid conversation find train to Bern\n  limpid conversation find invoice --json"
    )]
    Find {
        /// The words; all of them have to be in the title or in one message
        #[arg(required = true)]
        words: Vec<String>,
        /// How many
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Archive one: it leaves the list and is kept whole; a new message brings it back
    #[command(after_help = "Examples:\n  limpid conversation archive c12\n  limpid conversation archive c12 --undo")]
    Archive {
        /// An id
        id: String,
        /// Bring it back instead
        #[arg(long)]
        undo: bool,
    },
    /// Delete one for good; memories, files, tasks and what it cost stay
    #[command(after_help = "Examples:\n  limpid conversation delete c12\n  limpid conversation delete c12 --yes")]
    Delete {
        /// An id
        id: String,
        /// Delete it without asking
        #[arg(long)]
        yes: bool,
    },
    /// Show the messages of one
    Show {
        /// An id or `last`
        #[arg(default_value = "last")]
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write one out whole
    Export {
        /// An id or `last`
        #[arg(default_value = "last")]
        id: String,
        /// The form
        #[arg(long, value_enum, default_value = "markdown")]
        format: ExportFormat,
        /// Include the reasoning that providers want back, in JSON; otherwise only its size is written
        #[arg(long)]
        reasoning: bool,
        /// The file; without it, standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Say what the next request of one is made of, and what was done about its size
    Context {
        /// An id or `last`
        #[arg(default_value = "last")]
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a digest of the older messages of one; nothing is deleted
    Compact {
        /// An id or `last`
        #[arg(default_value = "last")]
        id: String,
        /// Undo the newest change instead
        #[arg(long)]
        undo: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Keep the present moment of one, to go back to it
    Keep {
        /// An id or `last`
        #[arg(default_value = "last")]
        id: String,
        /// Why
        #[arg(long, default_value = "by hand", value_name = "TEXT")]
        reason: String,
    },
    /// Go back to a kept moment; what was said since stays in the store
    Restore {
        /// The number of the moment; `conversation context` lists them
        moment: i64,
        /// An id or `last`
        #[arg(default_value = "last")]
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// The form of an exported conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// For people
    Markdown,
    /// For programs
    Json,
}
