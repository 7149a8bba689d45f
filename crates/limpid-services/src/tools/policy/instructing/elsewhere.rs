//! Folders that belong to nobody that tools or programs write for, and that links of the home or the workspace lead to. Nothing there
//! changes but by the links in them.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Levels down to which links are looked for: a shelf, and the eight that a skill on it may have.
const DEEPEST: usize = 9;

/// Entries of one folder that are looked at, those that lie higher first.
const MOST: usize = 16_384;

/// Folders that hold packages and versions, and no prompts.
const PASSED_OVER: [&str; 2] = ["node_modules", ".git"];

/// The links that lie below a folder; none below a file.
pub(super) fn links_below(folder: &Path) -> Vec<PathBuf> {
    let (mut links, mut open, mut looked_at) = (Vec::new(), VecDeque::from([(folder.to_owned(), 0)]), 0);
    while let Some((folder, level)) = open.pop_front() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            looked_at += 1;
            if looked_at > MOST {
                return links;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => links.push(entry.path()),
                Ok(kind) if kind.is_dir() && level < DEEPEST && !is_passed_over(&entry) => {
                    open.push_back((entry.path(), level + 1));
                }
                _ => {}
            }
        }
    }
    links
}

fn is_passed_over(entry: &std::fs::DirEntry) -> bool {
    PASSED_OVER.iter().any(|name| entry.file_name() == *name)
}
