//! Where relative paths of a conversation's prompts begin.

use std::path::{Path, PathBuf};

use limpid_config::FilesConfig;
use serde::{Deserialize, Serialize};

/// Where relative paths begin: the workspace, or the folder of an editor's session. It is that of a process, so what was said of it
/// in a prompt holds in a process that has the same alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folders {
    /// The folder; the workspace where it is absent.
    base: Option<PathBuf>,
}

impl Folders {
    /// That of this process.
    pub fn of(files: &FilesConfig) -> Self {
        Self { base: files.base.clone() }
    }

    /// The folder, if it is not the workspace.
    pub fn base(&self) -> Option<&Path> {
        self.base.as_deref()
    }
}
