//! The folders that a conversation's prompts speak of.

use std::path::{Path, PathBuf};

use limpid_config::FilesConfig;
use serde::{Deserialize, Serialize};

/// Where relative paths begin, and which folders stand behind the names that prompts have for folders of others. They are those of a
/// process: an editor's session has its own. What was said of them in a prompt holds in a process that has the same alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folders {
    /// Where relative paths begin; the workspace where it is absent.
    base: Option<PathBuf>,
    /// The folders with names, in the order of these.
    named: Vec<PathBuf>,
}

impl Folders {
    /// Those of this process.
    pub fn of(files: &FilesConfig) -> Self {
        Self { base: files.base.clone(), named: files.named().map(|(_, folder)| folder.clone()).collect() }
    }

    /// Where relative paths begin, if that is not the workspace.
    pub fn base(&self) -> Option<&Path> {
        self.base.as_deref()
    }

    /// Whether a prompt that spoke of these means the same in a process that has others.
    pub fn hold_in(&self, others: &Self) -> bool {
        self.base == others.base && others.named.starts_with(&self.named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-095
    #[test]
    fn a_prompt_means_the_same_where_its_names_do() {
        let folders = |base: Option<&str>, named: &[&str]| Folders {
            base: base.map(PathBuf::from),
            named: named.iter().map(PathBuf::from).collect(),
        };
        let said = folders(None, &["/a"]);
        for (others, same) in [
            (folders(None, &["/a"]), true),
            (folders(None, &["/a", "/b"]), true),
            (folders(None, &["/b", "/a"]), false),
            (folders(None, &[]), false),
            (folders(Some("/a"), &["/a"]), false),
        ] {
            assert_eq!(said.hold_in(&others), same, "{others:?}");
        }
    }
}
