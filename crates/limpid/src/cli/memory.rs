//! `memory`.

use clap::Subcommand;

use super::MineArgs;

/// What to do with what the agent remembers.
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// List memories by category
    List {
        /// Only this category: general, preference, learning, error
        #[arg(long, value_name = "CATEGORY")]
        category: Option<String>,
        /// Those in the archive, which no prompt shows and search finds
        #[arg(long, conflicts_with = "category")]
        archived: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a memory in full: what it says, who said it, where and when
    Show {
        /// Its key or number
        key: String,
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
        /// Whose the words are.
        #[command(flatten)]
        mine: MineArgs,
    },
    /// Correct what a memory says, its category, or both
    #[command(group = clap::ArgGroup::new("change").required(true).multiple(true))]
    Edit {
        /// Its key or number
        key: String,
        /// What it is to say
        #[arg(group = "change")]
        content: Option<String>,
        /// general, preference, learning or error
        #[arg(long, value_name = "CATEGORY", group = "change")]
        category: Option<String>,
        /// Whose the words are.
        #[command(flatten)]
        mine: MineArgs,
    },
    /// Put a memory into every prompt
    Pin {
        /// Its key or number
        key: String,
    },
    /// Take a memory out of every prompt; it is still found by search
    Unpin {
        /// Its key or number
        key: String,
    },
    /// Say that a memory helped
    Reinforce {
        /// Its key or number
        key: String,
    },
    /// Say that a memory did not help
    Demote {
        /// Its key or number
        key: String,
    },
    /// Forget a memory
    Forget {
        /// Its key or number
        key: String,
    },
    /// Show what happened to a memory, or to all of them
    History {
        /// Its key or number; a number finds a forgotten one too
        key: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Undo an event of the history; `limpid file undo` undoes a change of a file
    Undo {
        /// Its number
        #[arg(value_name = "NUMBER")]
        event: String,
    },
    /// List what memories added to the soul, and what the agent proposes
    Promotions {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a memory that helped often a part of the soul
    Promote {
        /// Its key or number
        key: String,
        /// What the soul gains
        addition: String,
        /// Whose the words are.
        #[command(flatten)]
        mine: MineArgs,
    },
    /// Approve a promotion that the agent proposes
    ///
    /// The memory that goes and the words that come into the soul are shown whole, and you are asked. Without a terminal nothing is
    /// approved and the command fails; `--hash` says that you looked at it before.
    Approve {
        /// Its number
        promotion: i64,
        /// Ask nothing if it still is what you looked at: the hash that was shown, or its first 32 digits or more
        #[arg(long, value_name = "HASH")]
        hash: Option<String>,
    },
    /// Refuse a promotion that the agent proposes
    Refuse {
        /// Its number
        promotion: i64,
    },
    /// Take a promotion out of the soul and bring its memory back
    Unpromote {
        /// Its number
        promotion: i64,
    },
    /// Show how much search covers, and give the semantic index what it lacks
    Index {
        /// Only show it
        #[arg(long)]
        status: bool,
        /// Empty the semantic index first, so that every text is looked at again
        #[arg(long, conflicts_with = "status")]
        anew: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make the search index of memories anew
    Reindex,
}
