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
        #[arg(long, default_value = "limpid", value_name = "PROFILE")]
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
    /// Show the templates of a mode
    Show {
        /// Its name
        name: String,
        /// The profile
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
    },
}
