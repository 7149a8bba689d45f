//! `service`.

use clap::Subcommand;

/// What to do with the service that keeps `limpid serve` running.
#[derive(Debug, Subcommand)]
pub enum ServiceCommand {
    /// Have the system start `limpid serve` when you log in, and start it now
    Install {
        /// Print the file that would be written, and do nothing
        #[arg(long)]
        print: bool,
    },
    /// Stop it and take it out
    Uninstall,
}
