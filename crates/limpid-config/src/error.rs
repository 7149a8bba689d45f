//! Why a file of the home cannot be used.

use std::io;
use std::path::PathBuf;

use limpid_core::io_cause;

/// Why a file of the home cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read or written.
    #[error("{}: {}", .path.display(), io_cause(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It holds a secret, and others may read it.
    #[error("{path} may be read by others (mode {mode:o}); run: chmod 600 {path}", path = .path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
}

impl FileError {
    /// An error of the system's about a file.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
