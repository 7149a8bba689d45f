//! The one thread that writes, and how writes that wait together share a commit.

use std::path::PathBuf;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::failure::{Outcome, classify};
use super::open::Database;
use crate::StoreError;

/// Writes that share a commit at most, so that the first of them does not wait for long.
const MAX_BATCH: usize = 256;

/// Carries out a write in an open transaction, or refuses it with the reason why there is none; keeps the answer back.
pub(super) type Work = Box<dyn FnOnce(Result<&Connection, StoreError>) -> Done + Send>;

/// A write that was carried out or refused.
pub(super) struct Done {
    /// Why it failed by itself, if it did.
    failed: Option<StoreError>,
    /// Gives the answer, or the error that undid the write after all.
    answer: Box<dyn FnOnce(Option<StoreError>) + Send>,
}

/// The thread that writes.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Work>>,
    thread: Option<JoinHandle<()>>,
    database: Database,
}

impl Writer {
    pub(super) fn start(connection: Connection, database: Database) -> Result<Self, StoreError> {
        let (queue, waiting) = mpsc::channel::<Work>();
        let of_thread = database.clone();
        let thread = thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || write_until_closed(&connection, &waiting, &of_thread))
            .map_err(|error| StoreError::Unreachable { path: database.path.clone(), detail: error.to_string() })?;
        Ok(Self { queue: Some(queue), thread: Some(thread), database })
    }

    /// Runs a write in a transaction; when this returns success, it is on the disk.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        // Whoever asked may have stopped waiting.
        let work = self::work(self.database.path.clone(), work, move |answer| drop(sender.send(answer)));
        let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
        queue.send(work).map_err(|_| StoreError::Closed)?;
        receiver.await.map_err(|_| StoreError::Closed)?
    }
}

impl Drop for Writer {
    /// Waits until everything that was asked for is written and the file is closed.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// A write that is waiting, with whom to tell what it came to.
pub(super) fn work<T, F, A>(path: PathBuf, work: F, answer: A) -> Work
where
    T: Send + 'static,
    F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    A: FnOnce(Result<T, StoreError>) + Send + 'static,
{
    Box::new(move |connection| {
        let result = connection.and_then(|sql| work(sql).map_err(|failure| failure.into_error(&path)));
        let failed = result.as_ref().err().cloned();
        Done { failed, answer: Box::new(move |undone| answer(undone.map_or(result, Err))) }
    })
}

fn write_until_closed(connection: &Connection, waiting: &mpsc::Receiver<Work>, database: &Database) {
    while let Ok(first) = waiting.recv() {
        let mut batch = vec![first];
        batch.extend(waiting.try_iter().take(MAX_BATCH - 1));
        write_batch(connection, batch, database);
    }
}

/// Carries out several writes in one transaction: one that fails is rolled back alone, the rest commits with one
/// `fsync`. Nobody is answered before the commit.
pub(super) fn write_batch(connection: &Connection, batch: Vec<Work>, database: &Database) {
    let mut batch = batch.into_iter();
    let mut done = Vec::with_capacity(batch.len());
    let undone = commit_all(connection, &mut batch, &mut done, database).err();
    if undone.is_some() && !connection.is_autocommit() {
        // When even this fails there is nothing left to do: the next BEGIN reports it.
        drop(connection.execute_batch("ROLLBACK"));
    }
    if let Some(error) = &undone {
        done.extend(batch.map(|work| work(Err(error.clone()))));
    }
    for one in done {
        // A write that failed by itself has its own error to tell.
        let undone = undone.clone().filter(|_| one.failed.is_none());
        (one.answer)(undone);
    }
}

fn commit_all(
    connection: &Connection,
    batch: &mut impl ExactSizeIterator<Item = Work>,
    done: &mut Vec<Done>,
    database: &Database,
) -> Result<(), StoreError> {
    let execute = |sql: &str| match connection.prepare_cached(sql).and_then(|mut statement| statement.execute([])) {
        Ok(_) => Ok(()),
        Err(error) => Err(classify(&error, &database.path)),
    };
    execute("BEGIN IMMEDIATE")?;
    if batch.len() == 1 {
        // Alone it needs no savepoint: what fails leaves nothing of the transaction.
        let failed = batch.next().and_then(|work| {
            let one = work(Ok(connection));
            let failed = one.failed.clone();
            done.push(one);
            failed
        });
        return match failed {
            Some(error) => Err(error),
            None => execute("COMMIT"),
        };
    }
    for work in batch {
        execute("SAVEPOINT one")?;
        let one = work(Ok(connection));
        let failed = one.failed.clone();
        done.push(one);
        if let Some(error) = failed {
            // A full disk and the like end the whole transaction, and what came before in it is gone too.
            if connection.is_autocommit() {
                return Err(error);
            }
            execute("ROLLBACK TO one")?;
        }
        execute("RELEASE one")?;
    }
    execute("COMMIT")
}
