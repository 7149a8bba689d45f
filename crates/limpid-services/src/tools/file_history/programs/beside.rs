//! What the owner knew last of files that were changed while a program ran.

use std::collections::BTreeMap;
use std::path::Path;

use limpid_store::{FileContent, FileHash, ProgramRun, Store, StoreError, file_key, path_of_key};

use crate::tools::file_history::entries::entry_hash;
use crate::tools::file_history::names::FileNames;

/// What was written down before a program, and what clean turns and the owner made of it since. Of each file only the newest content is
/// known: where a program puts an older one back, it takes away what was added.
pub(super) struct KnownBeside<'a> {
    pub(super) run: &'a ProgramRun,
    /// What such files hold since, by their keys; none for one that the owner took away.
    pub(super) made: BTreeMap<String, Option<FileContent>>,
}

impl<'a> KnownBeside<'a> {
    /// Follows the changes in their order. A tool's counts where its bytes are its own and it began with the newest content that was
    /// known: whatever a program wrote meanwhile is in none of them. An undo counts where it brings back what once was the owner's.
    pub(super) async fn read(run: &'a ProgramRun, store: &dyn Store, names: &FileNames) -> Result<Self, StoreError> {
        let mut known = Self { run, made: BTreeMap::new() };
        for change in store.own_changes_since(run.new.now_ms).await?.rows {
            // No tool can name a file whose name is no text, and what reads like that name is another file.
            let key = file_key(&names.place(&change.path));
            let is_known = match (&change.tool, &change.after) {
                (Some(_), _) => change.before.as_ref().map(|before| before.hash) == known.hash_at(&key),
                (None, Some(after)) => store.is_known(&key, after.hash).await?,
                (None, None) => true,
            };
            if is_known {
                known.made.insert(key, change.after);
            }
        }
        Ok(known)
    }

    /// What was known last of a file.
    pub(super) fn at(&self, key: &str) -> Option<&FileContent> {
        match self.made.get(key) {
            Some(content) => content.as_ref(),
            None => self.run.new.files.get(key),
        }
    }

    pub(super) fn hash_at(&self, key: &str) -> Option<FileHash> {
        self.at(key).map(|content| content.hash)
    }

    /// Whether a file was found to hold anything else. One that a tool wrote is looked at once more: that may have been after the look.
    pub(super) fn is_other(&self, key: &str, now: Option<FileHash>) -> bool {
        let known = self.hash_at(key);
        let is_written_since =
            || self.made.contains_key(key) && entry_hash(&path_of_key(key)).is_ok_and(|now| now == known);
        known != now && !is_written_since()
    }

    /// Whether the program may write a file.
    pub(super) fn is_written(&self, key: &str) -> bool {
        self.run.new.folders.iter().any(|folder| Path::new(key).starts_with(folder))
    }
}
