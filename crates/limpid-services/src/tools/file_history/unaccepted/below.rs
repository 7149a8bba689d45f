//! Whether anything below a folder waits for the owner, whatever it is: changed, new, hidden, or gone.

use std::path::Path;

use limpid_store::{file_key, path_of_key};

use super::{UnacceptedFiles, Unknown};
use crate::tools::file_history::entries::entry;
use crate::tools::policy::{Below, real};

impl UnacceptedFiles {
    /// Whether anything below a folder, or below what a link there leads to, is not as the owner knew it.
    pub(crate) fn waits_below(&self, folder: &Path) -> bool {
        if self.waiting.is_empty() && self.runs.is_empty() {
            return false;
        }
        let Ok(Below { places, ends }) = self.paths.lying_below(&real(folder)) else { return true };
        // What is gone or hidden is known by where it was.
        let mut known = self.keys().map(|key| path_of_key(&key));
        known.any(|path| path.ancestors().any(|around| ends.contains(around)) && self.is_other(&path))
            // What a program that runs has laid there is in no row yet.
            || places.iter().any(|path| self.is_other(path))
    }

    /// Whether what stands at a place itself, or nothing there, is not what was known of it.
    fn is_other(&self, path: &Path) -> bool {
        let key = file_key(path);
        if !self.is_in_question(&key) {
            return false;
        }
        // What cannot be read is nothing that anybody knew.
        let Ok(now) = entry(path) else { return true };
        !matches!(self.at(&key, now.as_ref()), Unknown::Nothing)
    }
}
