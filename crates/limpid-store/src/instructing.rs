//! Files that instruct the agent and lie where programs can write: what they held before each program, and what waits until
//! the owner accepts it.

use std::collections::BTreeMap;
use std::path::Path;

use async_trait::async_trait;

use crate::{FileContent, FileHash, Listed, StoreError};

/// What programs may have changed of the files that instruct the agent.
#[async_trait]
pub trait InstructingFiles: Send + Sync {
    /// Writes down what the files hold before a program is started.
    async fn begin_program(&self, new: NewProgramRun) -> Result<ProgramRunId, StoreError>;

    /// The programs that were started and were not seen to end, oldest first.
    async fn program_runs(&self) -> Result<Listed<ProgramRun>, StoreError>;

    /// How many programs ever began, of which most are over: one that begins raises it for good.
    async fn programs_begun(&self) -> Result<i64, StoreError>;

    /// Writes down that the process that started a program was found dead. The first time counts.
    async fn note_gone(&self, id: ProgramRunId, now_ms: i64) -> Result<(), StoreError>;

    /// Writes down that a program is over. What it may have changed waits for the owner from here on; what waited already
    /// goes on waiting with what it held first.
    async fn end_program(&self, id: ProgramRunId, changed: Vec<WaitingFile>) -> Result<(), StoreError>;

    /// The files that wait for the owner, by path.
    async fn waiting_files(&self) -> Result<Listed<WaitingFile>, StoreError>;

    /// The files that an older version knew as strangers' by their bytes.
    async fn former_labels(&self) -> Result<Vec<FormerLabel>, StoreError>;

    /// Forgets all of them: each has a place by now, or waits for the owner.
    async fn forget_former_labels(&self) -> Result<(), StoreError>;

    /// Has a file wait for the owner that no program changed.
    async fn wait_for_owner(&self, file: WaitingFile) -> Result<(), StoreError>;

    /// Writes down that the owner was told of files that wait, each with what it held then.
    async fn note_told(&self, told: Vec<(String, FileHash)>) -> Result<(), StoreError>;

    /// Writes down that the owner accepted a file. What they accepted is what they know of it from then on, so it waits no more, and
    /// whatever else a program has made of it since does.
    async fn accept_file(&self, new: NewRaisedLabel, accepted: AcceptedContent) -> Result<(), StoreError>;

    /// Deletes the rows of files that hold again what their owner knew, each with the hash of that, unless a program may have written
    /// there since they were looked at. `no_program_since` is [`InstructingFiles::programs_begun`] before that look, while none ran.
    async fn forget_waiting(
        &self,
        files: Vec<(String, Option<FileHash>)>,
        no_program_since: i64,
    ) -> Result<(), StoreError>;

    /// Writes down what files held while it was the owner's. The first time counts.
    async fn note_known(&self, contents: Vec<KnownContent>) -> Result<(), StoreError>;

    /// Whether a content ever was the owner's at a place.
    async fn is_known(&self, path: &str, hash: FileHash) -> Result<bool, StoreError>;

    /// Writes down what the owner made their own.
    async fn raise_label(&self, new: NewRaisedLabel) -> Result<(), StoreError>;

    /// What the owner made their own, oldest first.
    async fn raised_labels(&self) -> Result<Listed<RaisedLabel>, StoreError>;
}

/// One run of one program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProgramRunId(pub i64);

/// A program that is about to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewProgramRun {
    /// The process that starts it.
    pub holder: String,
    /// The tool that was called.
    pub tool: String,
    /// The folders that it may write.
    pub folders: Vec<String>,
    /// The files there that instruct the agent, by their paths with every link followed.
    pub files: BTreeMap<String, FileContent>,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

impl NewProgramRun {
    /// Whether it may write a file, by the key of its place: the key of a folder around it is a path around its key.
    pub fn may_write(&self, key: &str) -> bool {
        self.folders.iter().any(|folder| Path::new(key).starts_with(folder))
    }
}

/// A program that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramRun {
    /// Its number.
    pub id: ProgramRunId,
    /// What was written down before it.
    pub new: NewProgramRun,
    /// When the process that started it was first found dead, in milliseconds since 1970.
    pub gone_ms: Option<i64>,
}

/// A file that waits for the owner: no prompt is made from it unless it is what it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingFile {
    /// Its path with every link followed.
    pub path: String,
    /// What it held when the owner knew it last; none when there was none.
    pub before: Option<FileContent>,
    /// What changed it, for the owner: a tool.
    pub cause: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// What it held when the owner was told of it.
    pub told: Option<FileHash>,
}

/// What the owner accepted of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedContent {
    /// The hash by which they accepted it; one that stands for nothing where they accepted that the file is gone.
    pub hash: FileHash,
    /// What the file holds; none when it is gone.
    pub now: Option<FileContent>,
    /// [`InstructingFiles::programs_begun`] before the file was looked at; none where a program ran then.
    pub no_program_since: Option<i64>,
}

/// What a file held while it was the owner's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownContent {
    /// Its path with every link followed.
    pub path: String,
    /// The hash of what it held.
    pub hash: FileHash,
    /// How it became known: before a change, or by an act of the owner's.
    pub source: String,
    /// When, in milliseconds since 1970.
    pub now_ms: i64,
}

/// A file that an older version knew as a stranger's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerLabel {
    /// Where it lay.
    pub path: String,
    /// The SHA-256 of its bytes in hexadecimal digits; empty for a file without bytes.
    pub hash: String,
}

/// How the owner makes something their own that somebody else may have written. There is no other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RaisingAct {
    /// They accept a file.
    File,
    /// They adopt a memory.
    Memory,
    /// They enable a skill.
    Skill,
    /// They say that what they hand in is their own.
    Mine,
}

impl RaisingAct {
    /// Every act.
    pub const ALL: [Self; 4] = [Self::File, Self::Memory, Self::Skill, Self::Mine];

    /// The act's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Memory => "memory",
            Self::Skill => "skill",
            Self::Mine => "mine",
        }
    }

    /// Reads an act's name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|act| act.as_str() == word)
    }
}

/// Something that the owner makes their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRaisedLabel {
    /// How.
    pub act: RaisingAct,
    /// What: the path of a file, the number of a memory, the key of a skill, a conversation.
    pub subject: String,
    /// What they were shown.
    pub shown: String,
    /// Where they said so.
    pub source: String,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// Something that the owner made their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaisedLabel {
    /// Its number.
    pub id: i64,
    /// What was written down.
    pub new: NewRaisedLabel,
}
