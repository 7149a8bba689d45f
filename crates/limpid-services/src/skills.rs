//! The skills of an agent: what is built in, what stands in its folders, what its settings and servers offer. Folders are
//! read anew at every turn, so that an edit counts at once.
//!
//! # Layout
//! - `service`: the skills; `listed`: one of them, as lists show it.
//! - `folder`: the files of one skill, and their hash; `data_files`: which of them hold data only.
//! - `place`: where a skill's folder is written, over no link.
//! - `discovery`: the folders and files where skills are looked for.
//! - `change`: writing, installing, allowing and taking out, each an event that can be undone.
//! - `alone`: changes of skills one after another, beside no program.
//! - `known`: what the owner knows of skills where programs write.
//! - `states`: how the skill of each folder stands, by what was done to it.
//! - `owner`: what people and programs do with skills.

mod alone;
mod change;
mod data_files;
mod discovery;
mod folder;
mod known;
mod listed;
mod owner;
mod place;
mod service;
mod states;
mod tools;

pub use change::{Removed, SkillWriter};
pub use folder::ReviewFile;
pub(crate) use listed::no_such_skill;
pub use listed::{ListedSkill, SkillStatus};
pub use owner::{CheckedSkill, SkillReview, check_skill};
pub use service::Skills;
pub(crate) use service::{trust_in_skill, unused_skills};
pub use tools::tools;
pub(crate) use tools::{GROUP, LOAD_SKILL};
