//! `api`.

use clap::{Subcommand, ValueEnum};

/// What to do with programs that ask over HTTP.
#[derive(Debug, Subcommand)]
pub enum ApiCommand {
    /// Make the token with which a program asks, and show it this once
    Token {
        /// The name of the program: small letters, digits and dashes
        name: String,
        /// As whom it asks
        #[arg(long = "as", value_name = "ROLE", default_value = "owner")]
        role: RoleWord,
        /// Another one in place of the one that is there
        #[arg(long)]
        new: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the programs that may ask
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take the token of a program away
    Revoke {
        /// The name of the program
        name: String,
    },
}

/// As whom a program asks.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RoleWord {
    /// You sit at it: what it sends counts as typed by you, and it may do what you may
    Owner,
    /// Nobody sits at it: what it sends counts as written by a stranger, and it may only chat
    Program,
    /// It may only read the numbers of /metrics
    Metrics,
}
