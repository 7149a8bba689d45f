//! The store in one SQLite file.

mod agent_plans;
mod agents;
mod archive;
mod backup;
mod chain;
mod conversation_row;
mod conversations;
#[cfg(test)]
mod damage_tests;
mod deleted;
#[cfg(test)]
mod deleted_tests;
mod deliveries;
mod drafts;
mod failure;
mod file_versions;
mod found_conversations;
mod goals;
mod heartbeats;
mod history;
mod inbound;
mod inbox;
mod instructing;
mod leases;
mod mail_accounts;
mod memories;
mod memory_events;
mod memory_index;
mod memory_row;
mod memory_table;
mod messages;
mod open;
mod places;
mod promotions;
mod provenance;
mod prune;
mod pushes;
mod readers;
mod recall;
mod request_log;
mod requests;
mod row;
mod settings;
mod skills;
mod spent;
mod state;
mod tasks;
#[cfg(test)]
mod tests;
mod timers;
mod transcripts;
mod turns;
mod vectors;
mod view;
mod windows;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

use crate::StoreError;
use failure::Outcome;
use open::Database;
use places::{HomeFolders, Places};
use readers::Readers;
use writer::Writer;

/// Everything in one SQLite file: one thread writes; a few rows are read by whoever asks for them, more by a few threads.
///
/// Writes that wait at the same time share one transaction and one `fsync`; each still succeeds or fails alone. An
/// operation whose future is dropped is carried out all the same. Clones share the file.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    writer: Arc<Writer>,
    readers: Arc<Readers>,
    owner: Arc<str>,
    folders: Arc<HomeFolders>,
}

/// How a file is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// Whose records are seen and written.
    pub owner: String,
    /// Threads that read what takes its time, at most, at least one; each is started when all others are busy.
    pub readers: usize,
    /// How long to wait for another program that has locked the file.
    pub busy_timeout: Duration,
    /// Folders whose files are kept by the folder's name and the way below it, wherever the folder lies: those of the home. A name never
    /// changes and has no `/`.
    pub folders: Vec<(&'static str, PathBuf)>,
}

impl Default for SqliteOptions {
    /// The owner `owner`, three readers, five seconds, no folders: every file is kept by its whole path.
    fn default() -> Self {
        Self { owner: "owner".to_owned(), readers: 3, busy_timeout: Duration::from_secs(5), folders: Vec::new() }
    }
}

impl SqliteStore {
    /// Opens a file, or makes it (mode 0600, its folders 0700), and brings its schema up to date.
    ///
    /// Blocks while it does so.
    ///
    /// # Errors
    /// When the file is damaged, locked, another program's, of a newer version, or cannot be written.
    pub fn open(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self, StoreError> {
        let database = Database { path: path.as_ref().into(), busy_timeout: options.busy_timeout };
        let folders = HomeFolders(options.folders);
        let mut connection = database.create()?;
        places::give_places(&mut connection, &folders.now()).map_err(|failure| failure.into_error(&database.path))?;
        Ok(Self {
            writer: Arc::new(Writer::start(connection, database.clone())?),
            readers: Arc::new(Readers::new(options.readers, &database)),
            owner: options.owner.into(),
            folders: Arc::new(folders),
        })
    }

    /// The same file, seen by another owner.
    #[must_use]
    pub fn for_owner(&self, owner: &str) -> Self {
        Self { owner: owner.into(), ..self.clone() }
    }

    /// Where the folders of the home lie now.
    fn places(&self) -> Places {
        self.folders.now()
    }

    async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Tx<'_>) -> Outcome<T> + Send + 'static,
    {
        let owner = Arc::clone(&self.owner);
        self.writer.run(move |sql| work(&Tx { sql, owner: &owner })).await
    }

    /// Reads a few rows, by their keys or by an index that holds few: it is done on the caller's thread.
    async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Tx<'_>) -> Outcome<T> + Send + 'static,
    {
        let owner = Arc::clone(&self.owner);
        self.readers.run_at_once(move |sql| work(&Tx { sql, owner: &owner })).await
    }

    /// Searches, or reads what grows with the months: it is done on a thread of the store's.
    async fn search<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Tx<'_>) -> Outcome<T> + Send + 'static,
    {
        let owner = Arc::clone(&self.owner);
        self.readers.run(move |sql| work(&Tx { sql, owner: &owner })).await
    }
}

/// A transaction in the name of one owner; every statement asks for it.
#[derive(Clone, Copy)]
struct Tx<'a> {
    sql: &'a Connection,
    owner: &'a str,
}
