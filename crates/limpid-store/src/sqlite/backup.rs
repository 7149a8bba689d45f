//! Copying the file while it is in use.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::Backup;

use super::SqliteStore;
use super::failure::{Failure, classify};
use super::open::make_private;
use crate::StoreError;

/// Pages that are copied before writers get their turn.
const PAGES_AT_ONCE: i32 = 256;

impl SqliteStore {
    /// Copies the whole file, of every owner, as it is at one moment, and checks the copy. What is written meanwhile
    /// is not held up. The copy is made beside its place (mode 0600) and moved there when it is whole.
    ///
    /// # Errors
    /// When the copy cannot be written, or is damaged; what stood in its place before still does.
    pub async fn backup(&self, to: impl AsRef<Path>) -> Result<(), StoreError> {
        let to = to.as_ref().to_owned();
        self.search(move |tx| {
            let mut name = to.clone().into_os_string();
            name.push(".partial");
            let partial = Path::new(&name);
            let unreachable = |error: std::io::Error| -> Failure {
                StoreError::Unreachable { path: to.clone(), detail: error.to_string() }.into()
            };
            if partial.exists() {
                std::fs::remove_file(partial).map_err(unreachable)?;
            }
            make_private(partial)?;
            copy(tx.sql, partial).map_err(|error| classify(&error, partial))?;
            std::fs::rename(partial, &to).map_err(unreachable)
        })
        .await
    }
}

fn copy(from: &Connection, partial: &Path) -> Result<(), rusqlite::Error> {
    let mut copy = Connection::open(partial)?;
    Backup::new(from, &mut copy)?.run_to_completion(PAGES_AT_ONCE, Duration::ZERO, None)?;
    // A copy of a file with a write-ahead log would leave one of its own beside it.
    copy.pragma_update(None, "journal_mode", "delete")?;
    let verdict: String = copy.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if verdict == "ok" {
        return Ok(());
    }
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(code, Some(verdict)))
}
