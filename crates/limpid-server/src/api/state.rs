//! What requests of programs are answered with.

use std::sync::Arc;

use limpid_runtime::Shares;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::bound::{Threads, Turns};
use super::live::Lives;
use super::quota::Quotas;
use super::tokens::{ApiRole, ApiToken, ApiTokens};
use crate::door::Door;
use crate::page::Page;

/// Requests of the owner's programs that are answered at once.
const AT_ONCE: usize = 64;

/// Requests of one other program that are answered at once: what it is sent takes no place of anybody else's.
const AT_ONCE_OF_OTHERS: usize = 16;

/// What requests of programs are answered with.
pub(super) struct Api {
    pub(super) page: Arc<Page>,
    pub(super) tokens: ApiTokens,
    pub(super) door: Door,
    pub(super) threads: Threads,
    pub(super) turns: Turns,
    pub(super) lives: Lives,
    pub(super) quotas: Quotas,
    places: Arc<Semaphore>,
    places_of_others: Shares,
}

impl Api {
    pub(super) fn new(page: &Arc<Page>) -> Self {
        Self {
            page: Arc::clone(page),
            tokens: ApiTokens::new(page.agent.home()),
            door: Door::default(),
            threads: Threads::default(),
            turns: Turns::default(),
            lives: Lives::new(&page.numbers),
            quotas: Quotas::default(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
            places_of_others: Shares::default(),
        }
    }

    /// A place among the requests that are answered at once; none where all are taken.
    pub(super) fn enter(&self, program: &ApiToken) -> Option<OwnedSemaphorePermit> {
        let places = match program.role {
            ApiRole::Owner => Arc::clone(&self.places),
            ApiRole::Program | ApiRole::Metrics => self.places_of_others.of(&program.name, AT_ONCE_OF_OTHERS),
        };
        places.try_acquire_owned().ok()
    }
}
