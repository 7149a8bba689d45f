//! The goal that the prompt shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TrustName;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $case:literal { $($(#[$vdoc:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = $case)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }
    };
}

words! {
    /// How much a goal matters.
    Priority, "lowercase" {
        /// First.
        High,
        /// In its turn.
        #[default]
        Medium,
        /// When there is time.
        Low,
    }
}

words! {
    /// How a goal stands.
    GoalStatus, "lowercase" {
        /// It is worked on.
        #[default]
        Active,
        /// It waits.
        Paused,
        /// It is done.
        Completed,
    }
}

words! {
    /// How a step stands.
    CheckpointStatus, "kebab-case" {
        /// It waits.
        #[default]
        Pending,
        /// It is worked on.
        InProgress,
        /// It is done.
        Completed,
    }
}

words! {
    /// What kind of file an artifact is.
    ArtifactType, "lowercase" {
        /// Any file.
        #[default]
        File,
        /// A test.
        Test,
        /// A document.
        Documentation,
    }
}

words! {
    /// What was done to an artifact.
    ArtifactAction, "lowercase" {
        /// It was made.
        #[default]
        Created,
        /// It was changed.
        Modified,
        /// It was removed.
        Deleted,
    }
}

/// A goal with its steps, decisions and artifacts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default = "GoalInput::of_file", deny_unknown_fields)]
pub struct GoalInput {
    /// Its name.
    pub id: String,
    /// What the person wants.
    pub description: String,
    /// How much it matters.
    pub priority: Priority,
    /// How it stands.
    pub status: GoalStatus,
    /// When it was made, in UTC.
    pub created_at: String,
    /// When it was done, in UTC.
    pub completed_at: Option<String>,
    /// Its steps, in order.
    pub checkpoints: Vec<CheckpointInput>,
    /// What was decided.
    pub decisions: Vec<DecisionInput>,
    /// What was made.
    pub artifacts: Vec<ArtifactInput>,
    /// What is left out of the lists for want of room.
    pub more: MoreInput,
    /// Who wrote the least trusted text that it was made from.
    #[serde(skip_serializing_if = "TrustName::is_file")]
    pub trust: TrustName,
}

impl GoalInput {
    /// A goal with nothing in it, whose texts somebody wrote.
    pub fn by(trust: TrustName) -> Self {
        Self {
            id: String::new(),
            description: String::new(),
            priority: Priority::default(),
            status: GoalStatus::default(),
            created_at: String::new(),
            completed_at: None,
            checkpoints: Vec::new(),
            decisions: Vec::new(),
            artifacts: Vec::new(),
            more: MoreInput::default(),
            trust,
        }
    }

    fn of_file() -> Self {
        Self::by(TrustName::File)
    }
}

/// Entries of a goal that a prompt has no room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MoreInput {
    /// How many steps.
    pub checkpoints: u32,
    /// How many decisions.
    pub decisions: u32,
    /// How many artifacts.
    pub artifacts: u32,
}

/// One step of a goal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CheckpointInput {
    /// Its name.
    pub id: String,
    /// What is to be done.
    pub description: String,
    /// How it stands.
    pub status: CheckpointStatus,
    /// When it was done, in UTC.
    pub completed_at: Option<String>,
}

/// One decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DecisionInput {
    /// Its name.
    pub id: String,
    /// What was decided.
    pub description: String,
    /// Why.
    pub rationale: String,
    /// Whether it can no longer be changed.
    pub locked: bool,
}

/// One file that the work made, changed or removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ArtifactInput {
    /// What kind of file it is.
    #[serde(rename = "type")]
    pub kind: ArtifactType,
    /// Where it is.
    pub path: String,
    /// What was done to it.
    pub action: ArtifactAction,
}
