//! `heartbeat`.

use clap::{Args, Subcommand};

use super::MineArgs;

/// What to do with the heartbeat.
#[derive(Debug, Subcommand)]
pub enum HeartbeatCommand {
    /// Show whether it runs, when it ran last and runs next, and why it does not
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run it at once, whatever the hour and the interval
    Run {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the newest runs
    Log {
        /// How many
        #[arg(long, short, default_value_t = 5, value_name = "N")]
        number: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Read the reports that are unread
    Read {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take the reports that are unread for read, without showing them
    Dismiss {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the opening of its prompt: yours, or that of the profile
    Prompt {
        /// Take yours back, so that the profile's holds again
        #[arg(long)]
        reset: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Change settings; what is not named stays
    Set(HeartbeatSet),
}

/// Options of `heartbeat set`.
#[derive(Debug, Args)]
pub struct HeartbeatSet {
    /// Switch it on
    #[arg(long, conflicts_with = "off")]
    pub on: bool,
    /// Switch it off
    #[arg(long)]
    pub off: bool,
    /// Minutes from a good run to the next: 5 or more, 0 for the usual 30
    #[arg(long, value_name = "MINUTES")]
    pub interval: Option<u32>,
    /// Hours of the day in which it runs, such as 8-22; 22-6 crosses midnight
    #[arg(long, value_name = "FROM-TO")]
    pub hours: Option<String>,
    /// A model of its own: `provider/model`, or an empty text for none
    #[arg(long)]
    pub model: Option<String>,
    /// Your own opening of its prompt, up to 4000 characters; an empty text for the profile's
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,
    /// Whose the words are.
    #[command(flatten)]
    pub mine: MineArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
