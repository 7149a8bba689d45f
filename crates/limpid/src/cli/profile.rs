//! `profile` and `mode`.

use clap::Subcommand;

/// What to do with profiles.
#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// List the profiles, shipped and your own
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the paths and sections of one, or one of its files
    Show {
        /// Its name
        name: String,
        /// A file of it: sections/soul.md
        file: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check one for errors; without a name, all of them
    Check {
        /// Its name
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Compare your files with the shipped ones
    Diff {
        /// Its name
        name: String,
    },
    /// Start a profile of your own
    New {
        /// The new name: a-z, 0-9 and dashes
        name: String,
        /// The profile that it starts from
        #[arg(long, default_value = limpid_prompt::profile::DEFAULT_PROFILE, value_name = "PROFILE")]
        from: String,
    },
    /// Put the shipped text back in place of a file of yours, which is kept beside it
    Reset {
        /// The file: kai/sections/soul.md
        file: String,
    },
}

/// What to do with modes.
#[derive(Debug, Subcommand)]
pub enum ModeCommand {
    /// List the modes of a profile
    List {
        /// The profile
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the mode of a conversation; with a name, the templates of that mode
    Show {
        /// Its name
        name: Option<String>,
        /// The profile, with a name
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
        /// The conversation, without a name: an id or `last` [default: last]
        #[arg(long, short, value_name = "ID")]
        conversation: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Switch the mode of a conversation
    Set {
        /// The mode
        name: String,
        /// The conversation: an id, `last` or `new` [default: last]
        #[arg(long, short, value_name = "ID")]
        conversation: Option<String>,
    },
    /// List the last hundred switches of a conversation, newest first
    History {
        /// The conversation: an id or `last` [default: last]
        #[arg(long, short, value_name = "ID")]
        conversation: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Keep the mode of a conversation for a while
    Focus {
        /// Minutes, 1 to 240 [default: 25]
        minutes: Option<u32>,
        /// Make the focus that is on longer, by 1 to 120 minutes
        #[arg(long, value_name = "MINUTES", conflicts_with = "minutes")]
        extend: Option<u32>,
        /// End it
        #[arg(long, conflicts_with_all = ["minutes", "extend"])]
        off: bool,
        /// The conversation: an id or `last` [default: last]
        #[arg(long, short, value_name = "ID")]
        conversation: Option<String>,
    },
}
