//! `model`.

use std::path::PathBuf;

use clap::Subcommand;

/// What to do with models.
#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// List the models that can answer here, and those that can be fetched
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Fetch a model; without a name, the one that suits this machine
    Pull {
        /// Its name in the catalogue, or hf:OWNER/REPOSITORY[:FORM] for a GGUF model of the Hugging Face hub
        name: Option<String>,
    },
    /// Ask a model for a short answer, and show how fast it came
    Test {
        /// provider/model; without it, the one that would answer
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Update what is known of models: windows, prices, abilities
    ///
    /// Fetches the list of models.dev, shows what changes, and keeps it in data/models.json of the home folder.
    #[command(
        after_help = "Examples:\n  limpid model update\n  limpid model update --from model_prices_and_context_window.json"
    )]
    Update {
        /// Take this file instead: models.dev's api.json or litellm's price file
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a fetched model
    Remove {
        /// Its name in the catalogue
        name: String,
    },
}
