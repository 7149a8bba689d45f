//! `[behaviour]` of `profile.toml`: what a profile makes the program do besides what its prompts say.
//!
//! Code that has to act differently for different profiles asks [`Profile::behaviour`](super::Profile::behaviour) and
//! nothing else: a profile under another name, or one built on another, then behaves as it says.

mod keys;
mod read;

use std::collections::BTreeMap;

use limpid_core::compaction::WindowSettings;
use limpid_core::heartbeat::Quiet;
use limpid_core::memory::MemoryPolicy;

use crate::source::SourceRef;

pub use keys::Setting;
pub(super) use read::{Given, read, resolve};

/// What a profile makes the program do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// Whether a conversation keeps the beginning of its prompt from turn to turn, so that providers can cache it.
    pub stable_prefix: bool,
    /// Whether tools for which there is no room stay behind `find_tools`. It needs a stable prefix.
    pub find_tools: bool,
    /// How memories reach the model.
    pub memory: MemoryPolicy,
    /// When the rules of the mode apply.
    pub mode_rules: ModeRulesApply,
    /// Paths on which only the tools for small models are offered.
    pub small_model_tools: Vec<String>,
    /// Modes that offer the tools for goals only after somebody has asked for a goal.
    pub goal_tools_on_request: Vec<String>,
    /// The heartbeat.
    pub heartbeat: HeartbeatBehaviour,
    /// When conversations are compacted, and what is left of them.
    pub compaction: WindowSettings,
    /// What the agent calls itself when the owner gave it no name.
    pub agent_name: String,
    /// Whether agents that turns hand work to may start agents of their own.
    pub agents_delegate: bool,
    /// Bytes below which the system text of a usual turn is to stay; none: nobody is told to shorten it.
    pub system_target: Option<usize>,
}

/// What a profile does in its heartbeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeartbeatBehaviour {
    /// When the text of a run means that there is nothing to report.
    pub quiet: Quiet,
    /// Whether HEARTBEAT.md is made when it is missing.
    pub create_checklist: bool,
}

/// When the rules of a mode apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModeRulesApply {
    /// In every conversation.
    #[default]
    Always,
    /// Once the person has set a mode.
    WhenSet,
}

impl ModeRulesApply {
    /// Every choice.
    pub const ALL: [Self; 2] = [Self::Always, Self::WhenSet];

    /// The name in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::WhenSet => "when-set",
        }
    }
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            stable_prefix: false,
            find_tools: false,
            memory: MemoryPolicy::default(),
            mode_rules: ModeRulesApply::default(),
            small_model_tools: Vec::new(),
            goal_tools_on_request: ["assistant", "user"].map(str::to_owned).into(),
            heartbeat: HeartbeatBehaviour::default(),
            compaction: WindowSettings::default(),
            agent_name: "Limpid".to_owned(),
            agents_delegate: false,
            system_target: None,
        }
    }
}

/// A key of `[behaviour]` with its value in one profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BehaviourValue {
    /// The key, with dots: `heartbeat.quiet`.
    pub key: &'static str,
    /// The value; the word `none` for a number that is not set.
    pub value: Setting,
    /// The line that sets it; none: it is the default.
    pub source: Option<SourceRef>,
}

/// Every key with its value, in the order of docs/profiles.md.
pub(super) fn values(behaviour: &Behaviour, sources: &BTreeMap<&'static str, SourceRef>) -> Vec<BehaviourValue> {
    let mut behaviour = behaviour.clone();
    let value = |key: &keys::Key| BehaviourValue {
        key: key.name,
        value: (key.slot)(&mut behaviour).value(),
        source: sources.get(key.name).cloned(),
    };
    keys::KEYS.iter().map(value).collect()
}
