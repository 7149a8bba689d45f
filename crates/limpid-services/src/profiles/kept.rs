//! The last texts of the owner's profile files that could be used, kept as copies under `data/`. A file that an editor or a
//! full disk leaves broken then has its own last text in its place, in this process and in the next.

use std::collections::BTreeSet;
use std::io;

use limpid_config::{Home, private_file, regular_file};
use limpid_prompt::fs::read_profiles;
use limpid_prompt::{Layer, Profiles, SourceFile};

use crate::error::AgentError;

/// The owner's profile files, and the copies that stand in for those of them that cannot be used.
///
/// # Errors
/// When a file cannot be read.
pub fn own_profile_files(home: &Home) -> Result<Vec<SourceFile>, AgentError> {
    Ok(own(home)?.into_iter().chain(kept(home)?).collect())
}

/// The owner's profile files.
pub(super) fn own(home: &Home) -> Result<Vec<SourceFile>, AgentError> {
    let folder = home.profiles();
    read_profiles(&folder, Layer::Home, &regular_file::read).map_err(AgentError::file(&folder))
}

/// The copies of those that could be used.
pub(super) fn kept(home: &Home) -> Result<Vec<SourceFile>, AgentError> {
    let folder = home.kept_profiles();
    read_profiles(&folder, Layer::Kept, &regular_file::read).map_err(AgentError::file(&folder))
}

/// Copies the owner's files that can be used, and removes the copies of files that are no longer there.
///
/// # Errors
/// When a copy cannot be written or removed.
pub(super) fn keep(home: &Home, own: &[SourceFile], kept: &[SourceFile], profiles: &Profiles) -> io::Result<()> {
    let folder = home.kept_profiles();
    let same = |file: &SourceFile| kept.iter().any(|copy| copy.path == file.path && copy.bytes == file.bytes);
    for file in own.iter().filter(|file| profiles.can_use(file) && !same(file)) {
        private_file::put(&folder.join(&file.path), &file.bytes)?;
    }
    let there: BTreeSet<&str> = own.iter().map(|file| file.path.as_str()).collect();
    for copy in kept.iter().filter(|copy| !there.contains(copy.path.as_str())) {
        match std::fs::remove_file(folder.join(&copy.path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
