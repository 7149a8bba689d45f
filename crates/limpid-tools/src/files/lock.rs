//! Locks of folders in which files are changed. They lie in the home's data, which no program sees: one that reads a folder
//! could hold a lock on it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a change waits for another one; less than a call may take, so that none comes after its call was given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(10);

/// Files that folders share. Two folders of one file wait for each other, for as long as a change takes.
const LOCKS: u64 = 64;

/// When a change that begins now gives up.
pub(super) fn patience() -> Instant {
    Instant::now() + PATIENCE
}

/// Waits until nobody else changes files of the folder with this device and number, here or in another process; none when
/// it is too late by then. The system lets go of the lock with the process.
///
/// # Errors
/// When the file of the lock cannot be made.
pub(super) fn lock(locks: &Path, (device, inode): (u64, u64), until: Instant) -> io::Result<Option<File>> {
    std::fs::create_dir_all(locks)?;
    let path = locks.join(format!("{}.lock", (device ^ inode) % LOCKS));
    #[expect(clippy::disallowed_methods, reason = "a handle to lock; what it holds is not read")]
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    while Instant::now() < until {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-093
    #[test]
    fn a_folder_is_locked_once_and_whoever_comes_too_late_gets_no_lock() {
        let locks = tempfile::tempdir().unwrap();
        let folder = locks.path().join("data/locks");
        let held = lock(&folder, (1, 7), patience()).unwrap().unwrap();
        assert!(lock(&folder, (1, 7), Instant::now() + PAUSE).unwrap().is_none(), "it is held");
        assert!(lock(&folder, (1, 8), patience()).unwrap().is_some(), "another folder");
        drop(held);
        assert!(lock(&folder, (1, 7), Instant::now()).unwrap().is_none(), "nothing begins after the time");
        assert!(lock(&folder, (1, 7), patience()).unwrap().is_some());
    }
}
