//! `inbox mail`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What to do with mail accounts.
#[derive(Debug, Subcommand)]
pub enum MailCommand {
    /// Add an account, or change one: you are asked for its password
    Add(Box<MailAddArgs>),
    /// List the accounts, how far each was read and what went wrong last
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Log in where an account's mail is read and where it is sent
    Test {
        /// Its address
        address: String,
    },
    /// Look into an account now
    Check {
        /// Its address
        address: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take an account out, with its password; what came from it stays
    Remove {
        /// Its address
        address: String,
    },
}

/// Options of `inbox mail add`.
#[derive(Debug, Args)]
pub struct MailAddArgs {
    /// Its address
    pub address: String,

    /// The name that stands before the address in letters
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// The name to log in with [default: the address]
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,

    /// Where mail is read: HOST or HOST:PORT [default: what is known of the provider]
    #[arg(long, value_name = "SERVER")]
    pub imap: Option<String>,

    /// Where mail is sent: HOST or HOST:PORT [default: what is known of the provider]
    #[arg(long, value_name = "SERVER")]
    pub smtp: Option<String>,

    /// How connections are secured: tls, starttls, or none for servers on this machine [default: as the port has it]
    #[arg(long, value_name = "WORD")]
    pub security: Option<String>,

    /// Trust the servers' certificates when an authority of this PEM file has signed them, and no others
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,

    /// Log in with an OAuth 2 access token in place of a password
    #[arg(long)]
    pub token: bool,

    /// Log in with OAuth 2 access tokens that are fetched with a refresh token; CLIENT is what the provider knows the
    /// program by
    #[arg(long, value_name = "CLIENT", conflicts_with = "token")]
    pub oauth: Option<String>,

    /// Where OAuth 2 tokens are fetched [default: what is known of the provider]
    #[arg(long, value_name = "URL", requires = "oauth")]
    pub token_url: Option<String>,

    /// The environment variable that holds the secret of the OAuth 2 client
    #[arg(long, value_name = "VARIABLE", requires = "oauth")]
    pub client_secret_env: Option<String>,

    /// Take the password, token or refresh token from this environment variable each time, and keep none
    #[arg(long, value_name = "VARIABLE")]
    pub password_env: Option<String>,

    /// Run this program for it each time, as for the system's keyring, and keep none; the first line that it prints counts.
    /// The rest of the line is its arguments
    #[arg(long, value_name = "PROGRAM", num_args = 1.., allow_hyphen_values = true, conflicts_with = "password_env")]
    pub password_command: Vec<String>,
}
