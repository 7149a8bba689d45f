//! Whether anything below a folder waits for the owner, whatever it is: changed, new, hidden, or gone.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use limpid_store::{FileHash, file_key, path_of_key};

use super::{Place, UnacceptedFiles, end_before};
use crate::tools::file_history::entries::{entry_hash, own_entry_hash};
use crate::tools::policy::real;

impl UnacceptedFiles {
    /// Whether anything below a folder, or below what a link there leads to, is not as the owner knew it. What was not
    /// looked at, since too much lies there or below the folders that were asked about before, may not be.
    pub(crate) fn waits_below(&self, folder: &Path) -> bool {
        if self.waiting.is_empty() && self.runs.is_empty() {
            return false;
        }
        let end = real(folder);
        // A program that runs may lay a link in the way for as long as a look takes.
        let leads_elsewhere = |run| end_before(run, folder).is_none_or(|before| before != end);
        if self.runs.iter().any(leads_elsewhere) {
            return true;
        }
        let Ok(below) = self.paths.lying_below(&end, &self.parts_left) else { return true };
        // What is gone or hidden is known by where it was.
        let mut known = self.keys().map(|key| path_of_key(&key));
        known.any(|path| below.is_around(&path) && self.is_other(&path, entry_hash))
            // What a program that runs has laid there is in no row yet.
            || below.places.iter().any(|path| self.is_other(path, own_entry_hash))
    }

    /// Whether a program that runs may have made the files of a folder what was read of them: `files` are their paths in the folder and the
    /// hashes of what they held. Hidden files are not among them.
    pub(crate) fn is_changing(&self, folder: &Path, files: &BTreeMap<&str, FileHash>) -> bool {
        if self.runs.is_empty() {
            return false;
        }
        let end = real(folder);
        // A file that it took away it can put back later.
        let was_there = |key: &String| {
            let path = path_of_key(key);
            let Ok(inside) = path.strip_prefix(&end) else { return false };
            let parts = inside.components().map(|part| part.as_os_str().to_string_lossy());
            let parts: Vec<_> = parts.collect();
            let is_hidden = parts.iter().any(|part| part.starts_with('.'));
            !parts.is_empty() && !is_hidden && !files.contains_key(parts.join("/").as_str())
        };
        files.iter().any(|(file, hash)| self.contains_hash(&Place::of(folder, file), *hash))
            || self.runs.iter().flat_map(|run| run.new.files.keys()).any(was_there)
    }

    /// Whether what stands at a place itself, or nothing there, is not what was known of it.
    fn is_other(&self, path: &Path, entry: fn(&Path) -> io::Result<Option<FileHash>>) -> bool {
        let key = file_key(path);
        if !self.is_in_question(&key) {
            return false;
        }
        // What cannot be read is nothing that anybody knew.
        let Ok(now) = entry(path) else { return true };
        self.other_than(&key, now).is_some()
    }
}
