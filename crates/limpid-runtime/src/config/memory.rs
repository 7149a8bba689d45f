//! `[memory]`.

use serde::Deserialize;

/// What the agent remembers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryConfig {
    /// Whether it has memory tools and reads what it remembers. What is stored stays when this is off (KAI-031).
    pub enabled: bool,
    /// How memories reach the model. Absent: as the profile has it.
    pub policy: Option<MemoryPolicy>,
    /// Megabytes of memories from which those that rarely helped go to the archive (KOSHI-028).
    pub keep_megabytes: u64,
    /// Whether memories and messages are found by what they mean, besides their words (KOSHI-029).
    pub semantic: SemanticConfig,
}

/// `[memory.semantic]`: the model that says what texts mean. Without one, words alone find them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SemanticConfig {
    /// The model of embeddings: `provider/model`. Absent: none.
    pub model: Option<String>,
    /// What stands before a query, for models that want it: `search_query: `.
    pub query_prefix: String,
    /// What stands before a text that is to be found: `search_document: `.
    pub text_prefix: String,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self { enabled: true, policy: None, keep_megabytes: 100, semantic: SemanticConfig::default() }
    }
}

/// How memories reach the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryPolicy {
    /// Every memory stands in the prompt, by category, as far as the profile's budget goes.
    Inject,
    /// None does but the pinned ones; the model asks (KOSHI-020).
    Recall,
    /// MEMORY.md and the daily notes stand in the prompt, and the model writes to these files.
    Files,
}

impl MemoryPolicy {
    /// What a profile does when the owner has not set it; `base` is the profile that lends it its files.
    pub fn of_profile(name: &str, base: Option<&str>) -> Self {
        match name {
            "kai" => Self::Inject,
            "picoclaw" => Self::Files,
            _ => base.filter(|base| *base != name).map_or(Self::Recall, |base| Self::of_profile(base, None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // KOSHI-020
    #[test]
    fn each_profile_has_a_policy_and_lends_it_with_its_files() {
        let of = MemoryPolicy::of_profile;
        assert_eq!(of("kai", None), MemoryPolicy::Inject);
        assert_eq!(of("picoclaw", None), MemoryPolicy::Files);
        assert_eq!(["koshi", "limpid"].map(|name| of(name, None)), [MemoryPolicy::Recall; 2]);
        assert_eq!(of("ollm", Some("limpid")), MemoryPolicy::Recall);
        assert_eq!(of("mine", Some("kai")), MemoryPolicy::Inject);
    }
}
