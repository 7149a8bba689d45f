//! Whether anything below a folder waits for the owner, whatever it is: changed, new, hidden, or gone.

use std::io;
use std::path::{Path, PathBuf};

use super::{UnacceptedFiles, Unknown};
use crate::tools::file_history::entries::entry;
use crate::tools::policy::{LOOKED_AT, real};

impl UnacceptedFiles {
    /// Whether anything below a folder is not as the owner knew it.
    pub(crate) fn waits_below(&self, folder: &Path) -> bool {
        if self.waiting.is_empty() && self.runs.is_empty() {
            return false;
        }
        let folder = real(folder);
        if self.paths().map(PathBuf::from).any(|path| path.starts_with(&folder) && self.is_other(&path)) {
            return true;
        }
        // What a link leads to is known at its own place.
        let Ok(found) = lying_below(&folder) else { return true };
        let mut ends = found.iter().filter(|path| path.is_symlink()).map(|path| real(path));
        let waits_at = |end: PathBuf| {
            end.is_file() && self.is_other(&end)
                || self.paths().map(PathBuf::from).any(|path| path.starts_with(&end) && self.is_other(&path))
        };
        if ends.any(waits_at) {
            return true;
        }
        // What a program that runs has laid there is in no row yet.
        let mut written = self.runs.iter().flat_map(|run| &run.new.folders).map(Path::new);
        written.any(|written| folder.starts_with(written) || written.starts_with(&folder))
            && found.iter().any(|path| self.is_other(path))
    }

    /// Whether what stands at a place itself, or nothing there, is not what was known of it.
    fn is_other(&self, path: &Path) -> bool {
        // What cannot be read is nothing that anybody knew.
        let Ok(now) = entry(path) else { return true };
        !matches!(self.at(&path.display().to_string(), now.as_ref()), Unknown::Nothing)
    }
}

/// Everything below a folder but folders; no link is followed.
fn lying_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut open, mut found) = (vec![folder.to_owned()], Vec::new());
    let mut looked_at = 0;
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            looked_at += 1;
            if looked_at > LOOKED_AT {
                return Err(io::Error::other("there is too much of it"));
            }
            let places = if entry.file_type()?.is_dir() { &mut open } else { &mut found };
            places.push(entry.path());
        }
    }
    Ok(found)
}
