//! What requests of programs are answered with.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::bound::{Locks, Threads};
use super::live::Lives;
use super::tokens::ApiTokens;
use crate::door::Door;
use crate::page::Page;

/// Requests that are answered at once.
const AT_ONCE: usize = 64;

/// What requests of programs are answered with.
pub(super) struct Api {
    pub(super) page: Arc<Page>,
    pub(super) tokens: ApiTokens,
    pub(super) door: Door,
    pub(super) threads: Threads,
    pub(super) locks: Locks,
    pub(super) lives: Lives,
    pub(super) places: Arc<Semaphore>,
}

impl Api {
    pub(super) fn new(page: &Arc<Page>) -> Self {
        Self {
            page: Arc::clone(page),
            tokens: ApiTokens::new(page.agent.home()),
            door: Door::default(),
            threads: Threads::default(),
            locks: Locks::default(),
            lives: Lives::default(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }
}
