//! `memory`.

use clap::Subcommand;

/// What to do with what the agent remembers.
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// List memories by category
    List {
        /// Only this category: general, preference, learning, error
        #[arg(long, value_name = "CATEGORY")]
        category: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Find memories by words
    Search {
        /// The words
        #[arg(required = true, value_name = "WORD")]
        words: Vec<String>,
        /// How many
        #[arg(long, default_value_t = 10, value_name = "N")]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Keep something; a key that exists is written anew
    Add {
        /// The name it is kept under
        key: String,
        /// What to keep
        content: String,
        /// general, preference, learning or error
        #[arg(long, default_value = "general", value_name = "CATEGORY")]
        category: String,
    },
    /// Put a memory into every prompt
    Pin {
        /// Its key
        key: String,
    },
    /// Take a memory out of every prompt; it is still found by search
    Unpin {
        /// Its key
        key: String,
    },
    /// Forget a memory
    Forget {
        /// Its key
        key: String,
    },
}
