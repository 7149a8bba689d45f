//! Changes of files: what tools, and the owner by an undo, changed in them.

use std::fmt;

use async_trait::async_trait;
use limpid_core::{ConversationId, Trust};
use sha2::{Digest, Sha256};

use crate::{Author, Listed, StoreError};

/// What was changed in files. Every change can be undone while what the file held before is kept: for ever in files that
/// prompts quote, for a while in others.
#[async_trait]
pub trait FileVersions: Send + Sync {
    /// Writes down that a call is about to change a file. It counts as made when it has ended.
    async fn begin_file_change(&self, new: NewFileVersion) -> Result<FileVersionId, StoreError>;

    /// Writes down what came of it. A call that changed nothing leaves nothing.
    async fn end_file_change(&self, id: FileVersionId, end: FileChangeEnd) -> Result<(), StoreError>;

    /// Changes, oldest first: of one file (by the path that tools know it by) or of all.
    async fn file_versions(&self, path: Option<&str>) -> Result<Listed<FileVersion>, StoreError>;

    /// The newest change of a file; none when nobody changed it here.
    async fn newest_file_version(&self, path: &str) -> Result<Option<FileVersion>, StoreError>;

    /// One change.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none of that number.
    async fn file_version(&self, id: FileVersionId) -> Result<FileVersion, StoreError>;

    /// The conversation in which everything that a file at a path holds was written, by turns that had read a stranger's text, and the
    /// hash of what it left there; none where anything else came into it, or that is not known.
    async fn file_made_by(&self, path: &str) -> Result<Option<(ConversationId, FileHash)>, StoreError>;

    /// The files that calls of a conversation changed since a time, by the paths that tools know them by. Calls whose end nobody
    /// saw count too.
    async fn files_changed_in(&self, conversation: &ConversationId, since_ms: i64) -> Result<Vec<String>, StoreError>;

    /// The files whose path begins like this and that a change made or left there: the newest first, `most` of them at most. A file is
    /// foreign if only turns that had read a stranger's text changed it; else it is the owner's, and comes after their others if such a
    /// turn changed it last.
    async fn files_below(&self, folder: &str, is_foreign: bool, most: u32) -> Result<Vec<String>, StoreError>;

    /// What files held before changes, before programs that have not ended, and before they waited for the owner, and is
    /// no text of the store, in the order in which it is worth keeping: what waits and what clean turns changed, then
    /// what others changed, with `outside/` last; the newest first.
    async fn kept_files(&self) -> Result<Vec<KeptFile>, StoreError>;
}

/// What a file held before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptFile {
    /// The hash of its bytes.
    pub hash: FileHash,
    /// When it was changed last, in milliseconds since 1970; the latest time there is while a file waits that held it.
    pub at_ms: i64,
    /// Whether only turns that had read a stranger's text changed it.
    pub is_foreign: bool,
}

/// One change of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileVersionId(pub i64);

/// The SHA-256 of what a file holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileHash(pub [u8; 32]);

impl FileHash {
    /// The hash of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for FileHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for FileHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileHash({self})")
    }
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    /// The hash of its bytes.
    pub hash: FileHash,
    /// What it says, where the store keeps that: in a file that prompts quote.
    pub text: Option<String>,
}

impl FileContent {
    /// A text that the store keeps.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { hash: FileHash::of(text.as_bytes()), text: Some(text) }
    }

    /// Bytes of which the store keeps the hash.
    pub fn bytes(hash: FileHash) -> Self {
        Self { hash, text: None }
    }
}

/// A change that is about to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFileVersion {
    /// The file as tools know it: from the workspace, with `/` between folders, or absolute.
    pub path: String,
    /// The change that this one undoes.
    pub undoes: Option<FileVersionId>,
    /// What the file holds; none when there is none.
    pub before: Option<FileContent>,
    /// Who wrote the least trusted text that whoever changes it has read.
    pub trust: Trust,
    /// Who changes it: `turn:ID`, or a place of the owner's.
    pub source: String,
    /// The conversation whose turn it is.
    pub conversation: Option<ConversationId>,
    /// The tool that is called.
    pub tool: Option<String>,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// What came of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChangeEnd {
    /// What the file held before, by what is known afterwards.
    pub before: Option<FileContent>,
    /// What it holds from here on; none when it is gone.
    pub after: Option<FileContent>,
    /// How the agent came to know what is new in it; none for a file that no prompt quotes.
    pub author: Option<Author>,
}

/// A change that was written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileVersion {
    /// Its number.
    pub id: FileVersionId,
    /// The file as tools know it: from the workspace, with `/` between folders, or absolute.
    pub path: String,
    /// The change that this one undid.
    pub undoes: Option<FileVersionId>,
    /// What the file held before; none when there was none.
    pub before: Option<FileContent>,
    /// What it held from then on; none when it was gone, or when the call never ended.
    pub after: Option<FileContent>,
    /// How the agent came to know what was new in it; none for a file that no prompt quotes.
    pub author: Option<Author>,
    /// Who wrote the least trusted text that whoever changed it had read.
    pub trust: Trust,
    /// Who changed it: `turn:ID`, or a place of the owner's.
    pub source: String,
    /// The conversation whose turn it was.
    pub conversation: Option<ConversationId>,
    /// The tool that was called.
    pub tool: Option<String>,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// Whether the call ended; else what it did to the file is unknown.
    pub ended: bool,
}

impl FileVersion {
    /// What the file said before, where the store keeps that.
    pub fn said_before(&self) -> Option<&str> {
        self.before.as_ref()?.text.as_deref()
    }

    /// What it said from then on, where the store keeps that.
    pub fn said_after(&self) -> Option<&str> {
        self.after.as_ref()?.text.as_deref()
    }
}
