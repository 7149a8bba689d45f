//! `inbox`.

use clap::{Subcommand, ValueEnum};

use super::MailCommand;

/// What to do with mail, text messages and notifications that came in.
#[derive(Debug, Subcommand)]
pub enum InboxCommand {
    /// Add, list, test and remove mail accounts
    #[command(subcommand)]
    Mail(MailCommand),
    /// List what nobody has seen, newest first; listing it here changes nothing
    List {
        /// Of one source
        #[arg(long)]
        source: Option<SourceWord>,
        /// Those too that were seen
        #[arg(long)]
        all: bool,
        /// Only those that have all of these words
        #[arg(long, value_name = "WORDS")]
        search: Option<String>,
        /// At most so many
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one item whole
    Show {
        /// Its number
        id: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Put items aside: no heartbeat and no list shows them as new
    Done {
        /// Their numbers
        #[arg(required = true)]
        ids: Vec<i64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Hand something in, as other machines do over HTTP
    Add {
        /// What it is
        kind: KindWord,
        /// What it says
        text: String,
        /// Who sent it; of a notification, the program
        #[arg(long, default_value = "")]
        from: String,
        /// Its subject or title
        #[arg(long, default_value = "")]
        title: String,
        /// What it is known by; the same key is kept once
        #[arg(long)]
        key: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make the token with which other machines hand things in, and show it this once
    Token {
        /// Another one in place of the one that is there
        #[arg(long)]
        new: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// A source.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SourceWord {
    /// Mail
    Mail,
    /// Text messages
    Sms,
    /// Notifications
    Notification,
}

/// What is handed in.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum KindWord {
    /// A mail
    Mail,
    /// A text message
    Sms,
    /// A notification
    Notification,
    /// What a program of yours has to say
    Custom,
}
