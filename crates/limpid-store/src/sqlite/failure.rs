//! From SQLite's errors to the store's.

use std::path::Path;

use rusqlite::{Error, ErrorCode};

use crate::StoreError;

/// What an operation inside a transaction comes to.
pub(super) type Outcome<T> = Result<T, Failure>;

/// Why an operation inside a transaction failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The store's own reason.
    Store(StoreError),
    /// SQLite's reason.
    Sql(Error),
}

impl Failure {
    /// The store's error for it.
    pub(super) fn into_error(self, path: &Path) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Sql(error) => classify(&error, path),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Whether a row could not be written because its key is taken.
pub(super) fn is_taken(error: &Error) -> bool {
    matches!(error, Error::SqliteFailure(e, _)
        if e.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE
        || e.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY)
}

/// Whether a row could not be written because what it belongs to is not there, or deleted because it has others.
pub(super) fn is_orphan(error: &Error) -> bool {
    matches!(error, Error::SqliteFailure(e, _) if e.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY)
}

/// The store's error for an error of SQLite.
pub(super) fn classify(error: &Error, path: &Path) -> StoreError {
    let path = path.to_owned();
    let detail = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked { path },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt { path, detail },
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path },
        Some(ErrorCode::DiskFull) => StoreError::DiskFull { path },
        Some(ErrorCode::SystemIoFailure) => StoreError::Disk { path, detail },
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => StoreError::Unreachable { path, detail },
        _ => StoreError::Database { path, detail },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-042
    #[test]
    fn each_trouble_says_what_it_is_and_what_to_do() {
        let codes = [
            rusqlite::ffi::SQLITE_BUSY,
            rusqlite::ffi::SQLITE_CORRUPT,
            rusqlite::ffi::SQLITE_NOTADB,
            rusqlite::ffi::SQLITE_READONLY,
            rusqlite::ffi::SQLITE_FULL,
            rusqlite::ffi::SQLITE_CANTOPEN,
            rusqlite::ffi::SQLITE_IOERR,
        ];
        let told: Vec<String> = codes
            .into_iter()
            .map(|code| classify(&Error::SqliteFailure(rusqlite::ffi::Error::new(code), None), Path::new("limpid.db")))
            .map(|error| error.to_string())
            .collect();
        insta::assert_snapshot!(told.join("\n"));
    }
}
