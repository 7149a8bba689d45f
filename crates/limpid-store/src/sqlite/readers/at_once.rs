//! The connection that whoever reads a few rows uses on their own thread.

use std::sync::Mutex;
use std::time::Duration;

use rusqlite::{Connection, Transaction};

use crate::StoreError;
use crate::sqlite::failure::{Failure, Outcome};
use crate::sqlite::open::Database;

/// One connection, opened when it is first needed; it waits for nobody.
#[derive(Debug, Default)]
pub(super) struct AtOnce(Mutex<Option<Connection>>);

impl AtOnce {
    /// Runs a read in one moment of the file; gives the work back when it cannot begin right now: the connection is in
    /// use, another program has locked the file, or it cannot be opened. Whoever waits may then say why.
    pub(super) fn run<T, F>(&self, database: &Database, work: F) -> Result<Result<T, StoreError>, F>
    where
        F: FnOnce(&Connection) -> Outcome<T>,
    {
        let Ok(mut connection) = self.0.try_lock() else { return Err(work) };
        if connection.is_none() {
            *connection = database.reader(Duration::ZERO).ok();
        }
        let Some(connection) = &*connection else { return Err(work) };
        let Ok(tx) = begin(connection) else { return Err(work) };
        Ok(work(&tx).map_err(|failure: Failure| failure.into_error(&database.path)))
    }
}

/// Begins to read: from here on the file is seen as it is now, and nothing that others do makes this wait.
fn begin(connection: &Connection) -> rusqlite::Result<Transaction<'_>> {
    let tx = connection.unchecked_transaction()?;
    tx.prepare_cached("SELECT 1 FROM sqlite_schema LIMIT 1")?.query_row([], |_| Ok(()))?;
    Ok(tx)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(sql: &Connection) -> Outcome<i64> {
        Ok(sql.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?)
    }

    // MEA-08 SEC-042
    #[test]
    fn work_that_cannot_begin_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database { path: folder.path().join("limpid.db"), busy_timeout: Duration::ZERO };
        let shared = AtOnce::default();
        let writer = database.create().unwrap();

        // A file that another program has for itself.
        writer.pragma_update(None, "journal_mode", "delete").unwrap();
        writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
        assert!(shared.run(&database, count).is_err());
        writer.execute_batch("ROLLBACK").unwrap();
        let tables = shared.run(&database, count).ok().unwrap().unwrap();
        assert!(tables > 0, "{tables}");

        // Within one read the connection is in use.
        let inner = shared.run(&database, |_: &Connection| Ok(shared.run(&database, count).is_err()));
        assert!(inner.ok().unwrap().unwrap());
    }
}
