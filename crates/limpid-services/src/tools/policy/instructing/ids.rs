//! Files and folders by what they are on the disk, whatever their names.

use std::fs::Metadata;
use std::path::Path;

/// A file or a folder by its device and its number there.
pub(super) type FileId = (u64, u64);

/// Which file a path leads to, and how many names it has. Nothing is opened: to close any file of the database would give back
/// every lock that this process holds on it (`fcntl(2)`), and the next process to leave would take its log away.
pub(super) fn opened(path: &Path) -> Option<(FileId, u64)> {
    numbered(&std::fs::metadata(path).ok()?)
}

/// The same of what is known of it.
#[cfg(unix)]
pub(super) fn numbered(about: &Metadata) -> Option<(FileId, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some(((about.dev(), about.ino()), about.nlink()))
}

#[cfg(not(unix))]
pub(super) fn numbered(_about: &Metadata) -> Option<(FileId, u64)> {
    None
}

/// Which file or folder is at a path; links are followed.
pub(super) fn id(path: &Path) -> Option<FileId> {
    opened(path).map(|(id, _)| id)
}

/// Whether a file has a second name.
pub(in crate::tools::policy) fn has_other_name(path: &Path) -> bool {
    opened(path).is_some_and(|(_, names)| names > 1) && path.is_file()
}
