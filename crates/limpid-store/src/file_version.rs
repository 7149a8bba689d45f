//! Versions of the files that prompts quote: MEMORY.md, daily notes and the files at the top of the workspace.

use async_trait::async_trait;
use limpid_core::Trust;

use crate::{Author, Listed, StoreError};

/// What the agent changed in such files. Every change can be undone, as those of memories can.
#[async_trait]
pub trait FileVersions: Send + Sync {
    /// Writes down a change. The file itself is the caller's.
    async fn record_file(&self, new: NewFileVersion) -> Result<FileVersion, StoreError>;

    /// Changes, oldest first: of one file (by its path from the workspace) or of all.
    async fn file_versions(&self, path: Option<&str>) -> Result<Listed<FileVersion>, StoreError>;

    /// The newest change of a file; none when the agent never changed it.
    async fn newest_file_version(&self, path: &str) -> Result<Option<FileVersion>, StoreError>;

    /// One change.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none of that number.
    async fn file_version(&self, id: FileVersionId) -> Result<FileVersion, StoreError>;
}

/// One change of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileVersionId(pub i64);

/// A change to be written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFileVersion {
    /// The file, from the workspace, with `/` between folders.
    pub path: String,
    /// The change that this one undoes.
    pub undoes: Option<FileVersionId>,
    /// What the file said before; none when there was none.
    pub before: Option<String>,
    /// What it says from here on; none when it is gone.
    pub after: Option<String>,
    /// How the agent came to know what is new in it.
    pub author: Author,
    /// Who wrote the least trusted text that whoever changed it had read.
    pub trust: Trust,
    /// Who changed it: `turn:ID`, or a place of the owner's.
    pub source: String,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// A change that was written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileVersion {
    /// Its number.
    pub id: FileVersionId,
    /// The file, from the workspace, with `/` between folders.
    pub path: String,
    /// The change that this one undid.
    pub undoes: Option<FileVersionId>,
    /// What the file said before; none when there was none.
    pub before: Option<String>,
    /// What it said from then on; none when it was gone.
    pub after: Option<String>,
    /// How the agent came to know what was new in it.
    pub author: Author,
    /// Who wrote the least trusted text that whoever changed it had read.
    pub trust: Trust,
    /// Who changed it: `turn:ID`, or a place of the owner's.
    pub source: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
}
