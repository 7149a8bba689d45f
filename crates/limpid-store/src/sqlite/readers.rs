//! The threads that read. Each opens the file when it is first needed.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::failure::Outcome;
use super::open::Database;
use crate::StoreError;

type Work = Box<dyn FnOnce(Result<&Connection, StoreError>) + Send>;

/// The threads that read.
#[derive(Debug)]
pub(super) struct Readers {
    queue: Option<mpsc::Sender<Work>>,
    threads: Vec<JoinHandle<()>>,
    database: Database,
}

impl Readers {
    pub(super) fn start(threads: usize, database: &Database) -> Result<Self, StoreError> {
        let (queue, waiting) = mpsc::channel::<Work>();
        let waiting = Arc::new(Mutex::new(waiting));
        let threads = (1..=threads)
            .map(|number| {
                let waiting = Arc::clone(&waiting);
                let of_thread = database.clone();
                thread::Builder::new()
                    .name(format!("store-reader-{number}"))
                    .spawn(move || read_until_closed(&waiting, &of_thread))
            })
            .collect::<Result<_, _>>()
            .map_err(|error| StoreError::Unreachable { path: database.path.clone(), detail: error.to_string() })?;
        Ok(Self { queue: Some(queue), threads, database: database.clone() })
    }

    /// Runs a read that sees one moment of the file.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let path = self.database.path.clone();
        let work: Work = Box::new(move |connection| {
            let result = connection.and_then(|sql| {
                let in_one_moment = || {
                    let tx = sql.unchecked_transaction()?;
                    work(&tx)
                };
                in_one_moment().map_err(|failure: super::failure::Failure| failure.into_error(&path))
            });
            // Whoever asked may have stopped waiting.
            drop(sender.send(result));
        });
        let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
        queue.send(work).map_err(|_| StoreError::Closed)?;
        receiver.await.map_err(|_| StoreError::Closed)?
    }
}

impl Drop for Readers {
    /// Waits until the file is closed.
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

fn read_until_closed(waiting: &Mutex<mpsc::Receiver<Work>>, database: &Database) {
    let mut connection: Option<Connection> = None;
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = next else { return };
        if connection.is_none() {
            match database.reader() {
                Ok(opened) => connection = Some(opened),
                Err(error) => {
                    work(Err(error));
                    continue;
                }
            }
        }
        if let Some(connection) = &connection {
            work(Ok(connection));
        }
    }
}
