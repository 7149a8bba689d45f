//! What happened to memories.

use limpid_core::{Memory, MemoryId};

/// How the agent came to know something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Author {
    /// Somebody said it.
    #[default]
    Said,
    /// The model inferred it.
    Inferred,
}

impl Author {
    /// The author's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Said => "said",
            Self::Inferred => "inferred",
        }
    }

    /// Reads an author's name.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Said, Self::Inferred].into_iter().find(|author| author.as_str() == word)
    }
}

/// One event of one memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryEventId(pub i64);

/// Something that happened to a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryEvent {
    /// Its number.
    pub id: MemoryEventId,
    /// The memory.
    pub memory: MemoryId,
    /// What happened.
    pub kind: MemoryEventKind,
    /// The memory before, if there was one.
    pub before: Option<Memory>,
    /// The memory after, if there is one.
    pub after: Option<Memory>,
    /// How the agent came to know what was stored.
    pub author: Option<Author>,
    /// Where what was stored comes from.
    pub source: Option<String>,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
}

/// What happened to a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryEventKind {
    /// It was stored.
    Stored,
    /// Its content or category was changed.
    Updated,
    /// It helped.
    Reinforced,
    /// It did not help.
    Demoted,
    /// It was pinned.
    Pinned,
    /// It was taken off the prompt.
    Unpinned,
    /// It was forgotten.
    Forgotten,
    /// It was taken into the soul.
    Promoted,
    /// It went to the archive.
    Archived,
    /// An earlier event was undone.
    Undone,
}

impl MemoryEventKind {
    const ALL: [Self; 10] = [
        Self::Stored,
        Self::Updated,
        Self::Reinforced,
        Self::Demoted,
        Self::Pinned,
        Self::Unpinned,
        Self::Forgotten,
        Self::Promoted,
        Self::Archived,
        Self::Undone,
    ];

    /// The kind's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Updated => "updated",
            Self::Reinforced => "reinforced",
            Self::Demoted => "demoted",
            Self::Pinned => "pinned",
            Self::Unpinned => "unpinned",
            Self::Forgotten => "forgotten",
            Self::Promoted => "promoted",
            Self::Archived => "archived",
            Self::Undone => "undone",
        }
    }

    /// Reads a kind's name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}
