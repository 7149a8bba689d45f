//! Locks that processes on one home hold. Programs see none of the files that they are on.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use limpid_config::Home;
use tokio::time::Instant;

use crate::error::AgentError;

/// How long a change of a file waits for others; less than a call may take, so that it can say why nothing was changed.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// Who may hold a lock at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// Whoever holds it in this way too.
    Shared,
    /// Nobody else.
    Alone,
}

/// Tries until a lock is held; none when it is not by then. No thread waits for it, and whoever stops waiting has none. The
/// system lets go of it with the process.
///
/// # Errors
/// When the file of the lock cannot be made.
pub(super) async fn take(path: &Path, how: How, until: Instant) -> io::Result<Option<File>> {
    loop {
        if let Some(lock) = now(path, how)? {
            return Ok(Some(lock));
        }
        if Instant::now() >= until {
            return Ok(None);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// As long as this lives, nobody else changes files of a home by Limpid, in whatever process, and no program begins.
pub(crate) struct FilesLock {
    /// The system lets go of it with the process.
    _file: File,
}

impl FilesLock {
    /// The lock, as soon as it can be had; none when it cannot be had by then.
    ///
    /// # Errors
    /// When the home has no room for it.
    pub(super) async fn take(home: &Home, until: Instant) -> io::Result<Option<Self>> {
        Ok(take(&home.files_lock(), How::Alone, until).await?.map(|file| Self { _file: file }))
    }
}

/// Waits until nobody else changes files of a home, and lets others wait until this is dropped.
///
/// # Errors
/// When the home has no room for the lock, and when others do not end in time.
pub(super) async fn lock_files(home: &Home, until: Instant) -> Result<FilesLock, AgentError> {
    let lock = FilesLock::take(home, until).await.map_err(AgentError::file(home.files_lock()))?;
    lock.ok_or_else(|| {
        let why = "an approved program is running, or another change is being made; call again when that has ended";
        AgentError::Invalid(why.to_owned())
    })
}

/// The lock, if it can be had now.
pub(super) fn now(path: &Path, how: How) -> io::Result<Option<File>> {
    #[expect(clippy::disallowed_methods, reason = "a handle to lock; what it holds is not read")]
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    match if how == How::Alone { file.try_lock() } else { file.try_lock_shared() } {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
