//! Folders outside of the home, the workspace and the grants, to which links in these lead. No tool and no program can write there, so what
//! lies there changes only through a link that leads back into a grant, or through another name of a file.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::ids::has_other_name;

/// Levels down to which links are looked for: a shelf, and the eight that a skill on it may have.
const DEEPEST: usize = 9;

/// Entries of one folder that are looked at, those that lie higher first.
const MOST: usize = 16_384;

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

/// Looks for what may change below a folder, or in the file at its place.
pub(super) fn look_below(folder: &Path) -> Found {
    let (mut found, mut open, mut looked_at) = (Found::default(), VecDeque::from([(folder.to_owned(), 0)]), 0);
    if has_other_name(folder) {
        found.named_twice.push(folder.to_owned());
    }
    while let Some((folder, level)) = open.pop_front() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            looked_at += 1;
            if looked_at > MOST {
                return Found { is_cut: true, ..found };
            }
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => found.links.push(entry.path()),
                Ok(kind) if kind.is_file() && has_other_name(&entry.path()) => found.named_twice.push(entry.path()),
                Ok(kind) if kind.is_dir() && level < DEEPEST && !is_passed_over(&entry, level) => {
                    open.push_back((entry.path(), level + 1));
                }
                _ => {}
            }
        }
    }
    found
}

/// Whether a folder holds versions, or packages: one on the shelf itself may be a skill of that name.
fn is_passed_over(entry: &std::fs::DirEntry, level: usize) -> bool {
    entry.file_name() == ".git" || (level > 0 && entry.file_name() == "node_modules")
}
