//! `skill`.

use std::path::PathBuf;

use clap::Subcommand;

/// What to do with skills.
#[derive(Debug, Subcommand)]
pub enum SkillCommand {
    /// List every skill that was found, used or not, with the reason
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a skill in full: every file, and the hash of them all
    Show {
        /// Its name
        name: String,
        /// Only its text, as this profile's prompt holds it
        #[arg(long, value_name = "PROFILE", conflicts_with = "json")]
        rendered: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check a folder or a SKILL.md that is not installed; without one, every skill that was found
    Check {
        /// The folder or file
        path: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take a skill from a folder, show it in full and pin its hash; nothing of it runs, and it is used once it is enabled
    Install {
        /// The folder or SKILL.md
        path: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Allow a skill to be used
    Enable {
        /// Its name
        name: String,
        /// The hash that was shown, or its first 32 digits or more; needed when the files changed since they were installed
        #[arg(long, value_name = "HASH")]
        hash: Option<String>,
    },
    /// Put a skill aside
    Disable {
        /// Its name
        name: String,
    },
    /// Take a skill out; `undo` brings it back
    Remove {
        /// Its name
        name: String,
    },
    /// Take back the last change of a skill, or make it what it was before an earlier one
    Undo {
        /// Its name
        name: String,
        /// The number of the change, as `history` lists it
        #[arg(long, value_name = "N")]
        event: Option<i64>,
    },
    /// List what was done to skills
    History {
        /// Only this skill
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Choose the skills that every turn of a conversation has, in this order; without a name none
    Use {
        /// Their names
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// The conversation: an id, or `last`
        #[arg(long, default_value = "last", value_name = "ID")]
        conversation: String,
    },
}
