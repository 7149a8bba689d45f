//! A profile: every path and section of one style of agent, checked and compiled.

mod behaviour;
mod budget;
mod embedded;
mod file_set;
mod load;
mod loaded;
mod make;
mod manifest;
mod mode;
mod owners_texts;
mod path;
mod policy;
mod resolve;
mod shelf;
mod shipped;
mod tool_text;
mod unknown_name;

pub use behaviour::{Behaviour, BehaviourValue, HeartbeatBehaviour, ModeRulesApply, Setting};
pub use budget::{Budget, GroupBudget, Limit, Overflow, PerTier, Unit};
pub use embedded::{shipped_names, shipped_text};
pub use limpid_core::DEFAULT_PROFILE;
pub use load::{ProfileError, Profiles};
pub use loaded::Profile;
pub use mode::{Mode, ModeForm};
pub use owners_texts::OwnersText;
pub use path::{MessageSpec, Path, Step, tier};
pub use shipped::{shipped_files, shipped_scenarios, shipped_template};
pub use tool_text::{ToolGroup, ToolText};
pub use unknown_name::UnknownName;
