//! Programs beside each other, and one that runs alone: what the owner said yes to stays as they saw it until it has ended.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use limpid_config::Home;
use limpid_core::{Sentence, sentence};
use limpid_tools::echoed;

/// How long a program waits for others to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// How old copies of approved files are that nobody runs any more.
const LEFT_BEHIND: Duration = Duration::from_hours(1);

/// As long as this lives, no program starts that would run alone; with such a one no other program and no change of a file.
pub(crate) struct Turn {
    /// The system lets go of them with the process.
    _held: Vec<File>,
}

/// Waits until a program may start.
///
/// # Errors
/// A sentence, when others do not end in time: then it must not start.
pub(super) async fn turn(home: &Home, alone: bool) -> Result<Turn, Sentence> {
    let until = tokio::time::Instant::now() + PATIENCE;
    let mut held = vec![locked(&home.programs_lock(), alone, until).await?];
    if alone {
        held.push(locked(&home.files_lock(), true, until).await?);
    }
    Ok(Turn { _held: held })
}

async fn locked(path: &Path, alone: bool, until: tokio::time::Instant) -> Result<File, Sentence> {
    let failed = |error: io::Error| sentence!("it cannot be kept apart from other programs: {}", echoed(error));
    #[expect(clippy::disallowed_methods, reason = "a handle to lock; what it holds is not read")]
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(failed)?;
    loop {
        match if alone { file.try_lock() } else { file.try_lock_shared() } {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) if tokio::time::Instant::now() >= until => {
                return Err(sentence!(
                    "another program is running, and what was approved may change meanwhile; call it again when that has ended"
                ));
            }
            Err(TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Removes copies of approved files that a process left behind when it was killed.
pub(super) fn clear_copies(home: &Home, now: SystemTime) {
    let Ok(entries) = home.approved_copies().read_dir() else { return };
    let is_old = |entry: &std::fs::DirEntry| {
        let changed = entry.metadata().and_then(|about| about.modified());
        changed.is_ok_and(|changed| now.duration_since(changed).is_ok_and(|age| age > LEFT_BEHIND))
    };
    // One that stays takes room, and nothing more.
    entries.flatten().filter(is_old).for_each(|entry| drop(std::fs::remove_dir_all(entry.path())));
}
