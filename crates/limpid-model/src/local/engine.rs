//! The thread that owns a loaded model, and the handle to it.

use std::path::PathBuf;
use std::sync::mpsc as std_mpsc;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use limpid_core::FailureClass;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::session::{self, Job};
use crate::model::{ModelError, ModelEvent};

/// Events that may wait for a reader; the model waits when there are more.
const WAITING_EVENTS: usize = 64;

/// How a model is loaded.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) file: PathBuf,
    pub(super) window: u32,
    pub(super) threads: u32,
    pub(super) batch: u32,
    pub(super) parked_bytes: u64,
}

/// Events of one reply.
pub(super) type Events = mpsc::Receiver<Result<ModelEvent, ModelError>>;

/// A model that is loaded by its first job and answers one job after another, on a thread of its own.
#[derive(Debug)]
pub(super) struct Engine {
    setup: Setup,
    thread: Mutex<Option<Running>>,
    /// Stops what runs when the engine is dropped.
    stop: CancellationToken,
}

#[derive(Debug)]
struct Running {
    jobs: std_mpsc::Sender<Job>,
    thread: JoinHandle<()>,
}

impl Engine {
    pub(super) fn new(setup: Setup) -> Self {
        Self { setup, thread: Mutex::new(None), stop: CancellationToken::new() }
    }

    /// Queues a reply. The engine cancels it too when it is dropped.
    pub(super) fn submit(&self, make: impl FnOnce(mpsc::Sender<Result<ModelEvent, ModelError>>) -> Job) -> Events {
        let (sender, events) = mpsc::channel(WAITING_EVENTS);
        let mut job = make(sender);
        let mut running = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        // The thread ends when loading fails; the next job tries again.
        for _ in 0..2 {
            if running.is_none() {
                *running = self.start().map_err(|error| job.fail(error)).ok();
            }
            let Some(engine) = running.as_ref() else { break };
            match engine.jobs.send(job) {
                Ok(()) => break,
                Err(std_mpsc::SendError(returned)) => job = returned,
            }
            if let Some(ended) = running.take() {
                let _ = ended.thread.join();
            }
        }
        events
    }

    fn start(&self) -> Result<Running, ModelError> {
        let (jobs, queue) = std_mpsc::channel();
        let (setup, stop) = (self.setup.clone(), self.stop.clone());
        let thread = thread::Builder::new()
            .name("local model".into())
            .spawn(move || session::serve(&setup, &queue, &stop))
            .map_err(|error| {
                ModelError::new(FailureClass::Server, format!("the local model's thread cannot be started: {error}"))
            })?;
        Ok(Running { jobs, thread })
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(Running { jobs, thread }) = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            drop(jobs);
            let _ = thread.join();
        }
    }
}
