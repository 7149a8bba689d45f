//! What the agent remembers.

use limpid_core::Category;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TrustName;

/// Memories by category, and whether memory is on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryInput {
    /// Whether the agent has memory tools and reads what it remembers.
    pub enabled: bool,
    /// The owner's memory instructions. Absent: the shipped ones. Empty: none.
    pub instructions: Option<String>,
    /// Facts.
    pub general: Vec<MemoryEntry>,
    /// How the owner likes things.
    pub preference: Vec<MemoryEntry>,
    /// What was learned at work.
    pub learning: Vec<MemoryEntry>,
    /// Problems and their cures.
    pub error: Vec<MemoryEntry>,
    /// Memories that stand in every prompt.
    pub pinned: Vec<MemoryEntry>,
    /// Memories with enough hits to be promoted into the soul.
    pub promotions: Vec<MemoryEntry>,
}

/// One memory. Those that a stranger wrote are never put into a prompt by the engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default = "MemoryEntry::of_file", deny_unknown_fields)]
pub struct MemoryEntry {
    /// The name it is stored under.
    pub key: String,
    /// What is remembered.
    pub content: String,
    /// How often it was stored or reinforced.
    pub hits: u32,
    /// What kind of thing it is.
    pub category: CategoryName,
    /// Who wrote it.
    pub trust: TrustName,
}

impl MemoryEntry {
    /// A memory with nothing in it, whose texts somebody wrote.
    pub fn by(trust: TrustName) -> Self {
        Self { key: String::new(), content: String::new(), hits: 0, category: CategoryName::default(), trust }
    }

    fn of_file() -> Self {
        Self::by(TrustName::File)
    }
}

/// What kind of thing a memory is; see [`Category`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum CategoryName {
    /// A fact.
    #[default]
    General,
    /// How the owner likes things.
    Preference,
    /// Something learned at work.
    Learning,
    /// A problem and its cure.
    Error,
}

impl From<Category> for CategoryName {
    fn from(category: Category) -> Self {
        match category {
            Category::General => Self::General,
            Category::Preference => Self::Preference,
            Category::Learning => Self::Learning,
            Category::Error => Self::Error,
        }
    }
}

impl From<CategoryName> for Category {
    fn from(name: CategoryName) -> Self {
        match name {
            CategoryName::General => Self::General,
            CategoryName::Preference => Self::Preference,
            CategoryName::Learning => Self::Learning,
            CategoryName::Error => Self::Error,
        }
    }
}
