//! Locks that processes on one home hold. Programs see none of the files that they are on.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

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
