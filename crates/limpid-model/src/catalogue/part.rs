//! The beginning of a file that is being fetched.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::pull::PullError;

/// Where the beginning of a file is kept.
pub(super) fn part_path(folder: &Path, file: &str) -> PathBuf {
    folder.join(format!(".{file}.part"))
}

/// The file that is being filled.
pub(super) struct Part<'a> {
    pub(super) file: &'a mut File,
    pub(super) path: &'a Path,
}

impl Part<'_> {
    /// Bytes that are there; writing goes on behind them.
    pub(super) fn end(&mut self) -> Result<u64, PullError> {
        self.file.seek(SeekFrom::End(0)).map_err(|source| self.error(source))
    }

    /// Begins anew.
    pub(super) fn clear(&mut self) -> Result<(), PullError> {
        self.file.set_len(0).and_then(|()| self.file.rewind()).map_err(|source| self.error(source))
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), PullError> {
        self.file.write_all(bytes).map_err(|source| self.error(source))
    }

    pub(super) fn error(&self, source: std::io::Error) -> PullError {
        PullError::Io { path: self.path.to_owned(), source }
    }
}
