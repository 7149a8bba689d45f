//! `[memory]`.

use limpid_core::memory::MemoryPolicy;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

use super::word::{word, words};

/// What the agent remembers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryConfig {
    /// Whether it has memory tools and reads what it remembers. What is stored stays when this is off.
    pub enabled: bool,
    /// How memories reach the model. Default: as the profile has it.
    #[serde(deserialize_with = "policy")]
    #[schemars(schema_with = "policies")]
    pub policy: Option<MemoryPolicy>,
    /// What the model is told of remembering, in the profiles that have a place for it. Default: the words of the profile. Empty:
    /// none.
    #[schemars(extend("x-long" = true))]
    pub instructions: Option<String>,
    /// Megabytes of memories from which those that rarely helped go to the archive.
    pub keep_megabytes: u64,
    /// Whether memories and messages are found by what they mean, besides their words.
    pub semantic: SemanticConfig,
}

/// `[memory.semantic]`: the model that says what texts mean. Without one, words alone find them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SemanticConfig {
    /// The model of embeddings: `provider/model`. Default: none.
    pub model: Option<String>,
    /// What stands before a query, for models that want it: `search_query: `.
    pub query_prefix: String,
    /// What stands before a text that is to be found: `search_document: `.
    pub text_prefix: String,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            policy: None,
            instructions: None,
            keep_megabytes: 100,
            semantic: SemanticConfig::default(),
        }
    }
}

impl MemoryConfig {
    /// How memories reach the model with a profile whose own policy is this.
    pub fn policy(&self, of_profile: MemoryPolicy) -> MemoryPolicy {
        self.policy.unwrap_or(of_profile)
    }
}

fn policies(_: &mut SchemaGenerator) -> Schema {
    words(&MemoryPolicy::ALL, MemoryPolicy::as_str)
}

fn policy<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<MemoryPolicy>, D::Error> {
    word(deserializer, &MemoryPolicy::ALL, MemoryPolicy::as_str).map(Some)
}
