//! `notify`.

use clap::Subcommand;

/// What to do with the ways in which you are told something.
#[derive(Debug, Subcommand)]
pub enum NotifyCommand {
    /// List the ways that are set up
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Tell something everywhere, to see whether it arrives
    Test,
    /// Print the public key that a page gives its browser when it subscribes (applicationServerKey)
    Key,
    /// Have a browser told: its subscription, as JSON, is read from standard input
    Subscribe,
    /// Have a browser told nothing any more
    Unsubscribe {
        /// Its name in the list
        browser: String,
    },
}
