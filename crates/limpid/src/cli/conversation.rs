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
        /// Print JSON
        #[arg(long)]
        json: bool,
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
        /// The file; without it, standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
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
