//! The workspace folder and where a message came from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TrustName;

/// The workspace folder and the files that prompts quote from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspaceInput {
    /// Its absolute path.
    pub path: String,
    /// Files at its top, with their contents.
    pub files: Vec<WorkspaceFile>,
    /// memory/MEMORY.md.
    pub long_term: Option<String>,
    /// Notes of the last days.
    pub daily_notes: Vec<DailyNote>,
    /// Files that are there and were not read, with the reason.
    pub unread: Vec<UnreadFile>,
    /// The folder where relative paths begin, if it is another one.
    pub base: Option<String>,
    /// Folders that file tools may touch besides, by their absolute paths.
    pub folders: Vec<String>,
}

/// A file of the workspace that was not read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UnreadFile {
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// One file at the top of the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspaceFile {
    /// Its name.
    pub name: String,
    /// What it says.
    pub content: String,
}

/// The note of one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DailyNote {
    /// The day: `2026-02-17`.
    pub date: String,
    /// What it says.
    pub content: String,
}

/// Where a message came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default = "SessionInput::of_file", deny_unknown_fields)]
pub struct SessionInput {
    /// The channel: telegram, matrix, … Absent at the owner's own client.
    pub channel: Option<String>,
    /// The chat in that channel.
    pub chat_id: Option<String>,
    /// Who wrote, when it was not the owner.
    pub sender: Option<String>,
    /// Whether others read the chat too.
    pub group: bool,
    /// Who wrote the names in it.
    #[serde(skip_serializing_if = "TrustName::is_file")]
    pub trust: TrustName,
}

impl SessionInput {
    /// A session with nothing in it, whose texts somebody wrote.
    pub fn by(trust: TrustName) -> Self {
        Self { channel: None, chat_id: None, sender: None, group: false, trust }
    }

    fn of_file() -> Self {
        Self::by(TrustName::File)
    }
}
