//! Who reads: whoever asks for a few rows does it at once, in one connection that all share; what takes longer, or comes
//! while that connection is in use, is for threads. A thread is started, and opens the file, when all others are busy.

mod at_once;

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::failure::{Failure, Outcome};
use super::open::Database;
use crate::StoreError;
use at_once::AtOnce;

type Work = Box<dyn FnOnce(Result<&Connection, StoreError>) + Send>;

/// One connection that all share, and the threads that read.
#[derive(Debug)]
pub(super) struct Readers {
    at_once: AtOnce,
    desk: Arc<Desk>,
    /// Threads at most.
    most: usize,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// Where work waits for a thread, and threads for work.
struct Desk {
    database: Database,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Work>,
    /// Threads that wait for work.
    idle: usize,
    closed: bool,
}

impl Readers {
    /// None runs until there is something to read.
    pub(super) fn new(most: usize, database: &Database) -> Self {
        let desk = Desk { database: database.clone(), state: Mutex::default(), changed: Condvar::new() };
        Self { at_once: AtOnce::default(), desk: Arc::new(desk), most: most.max(1), threads: Mutex::default() }
    }

    /// Runs a read of a few rows, which takes microseconds, on the caller's own thread: to wake another one takes longer.
    /// It sees one moment of the file, as everything that is read here does.
    pub(super) async fn run_at_once<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    {
        match self.at_once.run(&self.desk.database, work) {
            Ok(result) => result,
            Err(work) => self.run(work).await,
        }
    }

    /// Runs a read that may take its time, on a thread.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let path = self.desk.database.path.clone();
        let work: Work = Box::new(move |connection| {
            let result = connection.and_then(|sql| {
                let in_one_moment = || {
                    let tx = sql.unchecked_transaction()?;
                    work(&tx)
                };
                in_one_moment().map_err(|failure: Failure| failure.into_error(&path))
            });
            // Whoever asked may have stopped waiting.
            drop(sender.send(result));
        });
        self.hand_in(work)?;
        receiver.await.map_err(|_| StoreError::Closed)?
    }

    /// Gives work to an idle thread, else to a new one; when there are enough, it waits.
    fn hand_in(&self, work: Work) -> Result<(), StoreError> {
        let mut state = self.desk.state();
        state.waiting.push_back(work);
        let are_enough = state.waiting.len() <= state.idle;
        drop(state);
        self.desk.changed.notify_one();
        if are_enough {
            return Ok(());
        }
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.len() == self.most {
            return Ok(());
        }
        let desk = Arc::clone(&self.desk);
        let name = format!("store-reader-{}", threads.len() + 1);
        match thread::Builder::new().name(name).spawn(move || desk.serve()) {
            Ok(thread) => threads.push(thread),
            // Those that run already take it, when there are any.
            Err(_) if !threads.is_empty() => {}
            Err(error) => {
                let path = self.desk.database.path.clone();
                return Err(StoreError::Unreachable { path, detail: error.to_string() });
            }
        }
        Ok(())
    }
}

impl Drop for Readers {
    /// Waits until the file is closed.
    fn drop(&mut self) {
        self.desk.state().closed = true;
        self.desk.changed.notify_all();
        for thread in self.threads.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            drop(thread.join());
        }
    }
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what is handed in until the desk is closed and nothing waits.
    fn serve(&self) {
        let mut connection: Option<Connection> = None;
        while let Some(work) = self.next() {
            if connection.is_none() {
                match self.database.reader(self.database.busy_timeout) {
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

    /// The next work; none when the desk is closed.
    fn next(&self) -> Option<Work> {
        let mut state = self.state();
        loop {
            if let Some(work) = state.waiting.pop_front() {
                return Some(work);
            }
            if state.closed {
                return None;
            }
            state.idle += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("database", &self.database).finish_non_exhaustive()
    }
}
