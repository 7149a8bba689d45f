//! Folders outside of the home, the workspace and the grants, to which links of the owner's lead. No tool and no program can write there, so
//! what lies there changes only through a link that leads back into a grant, or through another name of a file.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use limpid_tools::is_named_twice;

use super::ids::{FileId, id};

/// Levels down to which links are looked for: a shelf, and the eight that a skill on it may have.
const DEEPEST: usize = 9;

/// Entries of all such folders that are looked at in one look, those that lie higher first.
const MOST: usize = 50_000;

/// What was looked at in such folders.
#[derive(Debug, Default)]
pub(super) struct Elsewhere {
    /// The folders, each with the level that it was looked at: from a higher one, more of what lies below is seen.
    folders: BTreeMap<FileId, usize>,
    looked_at: usize,
}

/// What may change below such a folder.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The links.
    pub(super) links: Vec<PathBuf>,
    /// Files with a second name, by which they may be written.
    pub(super) named_twice: Vec<PathBuf>,
    /// Whether there was more than is looked at.
    pub(super) is_cut: bool,
}

impl Elsewhere {
    /// Looks for what may change below a folder, or in the file at its place. What was looked at before is left out.
    pub(super) fn look_below(&mut self, folder: &Path) -> Found {
        let (mut found, mut open) = (Found::default(), VecDeque::from([(folder.to_owned(), 0)]));
        if is_named_twice(folder) {
            found.named_twice.push(folder.to_owned());
        }
        while let Some((folder, level)) = open.pop_front() {
            if !self.is_new(&folder, level) {
                continue;
            }
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                self.looked_at += 1;
                if self.looked_at > MOST {
                    return Found { is_cut: true, ..found };
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_symlink() => found.links.push(entry.path()),
                    Ok(kind) if kind.is_file() && is_named_twice(&entry.path()) => {
                        found.named_twice.push(entry.path());
                    }
                    Ok(kind) if kind.is_dir() && level < DEEPEST && !is_passed_over(&entry, level) => {
                        open.push_back((entry.path(), level + 1));
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// Whether a folder was not looked at before from a level as high.
    fn is_new(&mut self, folder: &Path, level: usize) -> bool {
        let Some(id) = id(folder) else { return true };
        let before = self.folders.entry(id).or_insert(usize::MAX);
        let is_new = level < *before;
        *before = level.min(*before);
        is_new
    }
}

/// Whether a folder holds versions, or packages: one on the shelf itself may be a skill of that name.
fn is_passed_over(entry: &std::fs::DirEntry, level: usize) -> bool {
    entry.file_name() == ".git" || (level > 0 && entry.file_name() == "node_modules")
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-061 SEC-093
    #[cfg(unix)]
    #[test]
    fn a_folder_is_looked_at_once_and_again_where_more_of_what_lies_below_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let skill = folder.path().join("skill");
        std::fs::create_dir_all(skill.join("a/".repeat(DEEPEST))).unwrap();
        std::os::unix::fs::symlink("x", skill.join("a/".repeat(DEEPEST)).join("link")).unwrap();
        let mut elsewhere = Elsewhere::default();
        let mut links = |folder: &Path| elsewhere.look_below(folder).links.len();
        assert_eq!([links(folder.path()), links(&skill), links(&skill), links(folder.path())], [0, 1, 0, 0]);
        assert_eq!(elsewhere.looked_at, 2 * DEEPEST + 2, "what was looked at costs nothing");
    }
}
