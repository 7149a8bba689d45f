//! Which model answers, and how it is had.

pub mod cache_life;
mod catalogue;
mod detect;
mod effort;
mod offered;
mod registry;
mod reports;
mod settings;

use std::sync::Arc;

use limpid_model::Model;

pub use catalogue::{ModelUpdate, fetched_table};
pub use detect::{DetectedModel, NoModel};
pub use effort::{EffortChoice, lacking};
pub use offered::{ProviderAnswer, ask_providers, offered, others_than};
pub use registry::{ModelRegistry, ModelRegistryParts};

/// How a model is connected where none is.
pub const CONNECT_A_MODEL: &str = "Put a provider's key into the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, …), start \
    Ollama, run `limpid model pull`, or add your own OpenAI-compatible server to limpid.toml:\n\n\
    [provider.house]\nbase_url = \"http://127.0.0.1:8000/v1\"";

/// The same on one line.
pub const CONNECT_IN_SHORT: &str = "Put a provider's key into the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, …), start \
    Ollama, run `limpid model pull`, or add your own OpenAI-compatible server to limpid.toml: a table `[provider.house]` with \
    its `base_url`.";

/// The models of a turn: the one that was chosen, then those that stand in for it. Never empty.
pub type Models = Vec<Arc<dyn Model>>;

/// Bytes of memory that a local model may use, when the system says.
pub fn memory_available() -> Option<u64> {
    #[cfg(feature = "local")]
    return limpid_model::local::available();
    #[cfg(not(feature = "local"))]
    None
}
