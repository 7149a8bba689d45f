//! `[agents]`: agents that a turn hands work to.

use std::collections::BTreeMap;

use limpid_core::AgentLimits;
use schemars::JsonSchema;
use serde::Deserialize;

/// Agents that a turn hands work to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentsConfig {
    /// Agents per conversation at a time; as many more that a stranger's text started.
    pub max_concurrent: u32,
    /// Seconds that an agent may be inactive. One that its caller waits for has this much time in all.
    pub timeout_seconds: u64,
    /// Tokens, in and out, for all agents of one message; as many again after a stranger's text, and for agents that one started.
    pub tokens_per_tree: u64,
    /// Named agents that may be given work; `*` is all of them.
    pub allow: Vec<String>,
    /// Agents with names.
    pub named: BTreeMap<String, NamedAgent>,
}

/// An agent with a name, which work may be given to where `allow` has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NamedAgent {
    /// The skill that it follows, whose tools are the only ones that it has.
    pub skill: Option<String>,
    /// The model that it asks, as `provider/id`.
    pub model: Option<String>,
}

impl Default for AgentsConfig {
    fn default() -> Self {
        let (allow, named) = (Vec::new(), BTreeMap::new());
        Self { max_concurrent: 3, timeout_seconds: 300, tokens_per_tree: 500_000, allow, named }
    }
}

impl AgentsConfig {
    /// How many there may be, and what they may use.
    pub fn limits(&self) -> AgentLimits {
        AgentLimits { live: self.max_concurrent, tokens: self.tokens_per_tree, a_day: None }
    }

    /// Whether work may be given to an agent of this name.
    pub fn allows(&self, name: &str) -> bool {
        self.allow.iter().any(|allowed| allowed == "*" || allowed == name)
    }
}
