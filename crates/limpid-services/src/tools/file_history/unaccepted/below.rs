//! Whether anything below a folder waits for the owner, whatever it is: changed, new, hidden, or gone.

use std::io;
use std::path::Path;

use limpid_store::{FileContent, file_key, path_of_key};

use super::{UnacceptedFiles, Unknown};
use crate::tools::file_history::entries::{entry, own_entry};
use crate::tools::policy::real;

impl UnacceptedFiles {
    /// Whether anything below a folder, or below what a link there leads to, is not as the owner knew it. What was not
    /// looked at, since too much lies there or below the folders that were asked about before, may not be.
    pub(crate) fn waits_below(&self, folder: &Path) -> bool {
        if self.waiting.is_empty() && self.runs.is_empty() {
            return false;
        }
        let Ok(below) = self.paths.lying_below(&real(folder), &self.parts_left) else { return true };
        // What is gone or hidden is known by where it was.
        let mut known = self.keys().map(|key| path_of_key(&key));
        known.any(|path| below.is_around(&path) && self.is_other(&path, entry))
            // What a program that runs has laid there is in no row yet.
            || below.places.iter().any(|path| self.is_other(path, own_entry))
    }

    /// Whether what stands at a place itself, or nothing there, is not what was known of it.
    fn is_other(&self, path: &Path, entry: fn(&Path) -> io::Result<Option<FileContent>>) -> bool {
        let key = file_key(path);
        if !self.is_in_question(&key) {
            return false;
        }
        // What cannot be read is nothing that anybody knew.
        let Ok(now) = entry(path) else { return true };
        !matches!(self.at(&key, now.as_ref()), Unknown::Nothing)
    }
}
