//! `model`.

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
    /// Remove a fetched model
    Remove {
        /// Its name in the catalogue
        name: String,
    },
}
