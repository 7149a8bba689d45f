//! Services that are left alone for a while: when one has asked a call to wait, others wait with it instead of asking too.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

/// Which services are left alone at present, by their names, and for how long. Whoever calls the same services shares it.
#[derive(Debug, Default)]
pub struct BackOffs(Mutex<HashMap<String, watch::Sender<Vec<Duration>>>>);

/// Has a service left alone until it is dropped.
#[derive(Debug)]
pub(crate) struct LeftAlone {
    waits: watch::Sender<Vec<Duration>>,
    wait: Duration,
}

impl BackOffs {
    fn of(&self, service: &str) -> watch::Sender<Vec<Duration>> {
        let mut services = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        services.entry(service.to_owned()).or_insert_with(|| watch::Sender::new(Vec::new())).clone()
    }

    /// Has a service left alone, for so long as it seems.
    pub(crate) fn leave_alone(&self, service: &str, wait: Duration) -> LeftAlone {
        let waits = self.of(service);
        waits.send_modify(|waits| waits.push(wait));
        LeftAlone { waits, wait }
    }

    /// The longest time for which somebody has a service left alone; part of it may have passed. None: nobody has.
    pub(crate) fn longest(&self, service: &str) -> Option<Duration> {
        self.of(service).borrow().iter().max().copied()
    }

    /// Waits until nobody has a service left alone.
    pub(crate) async fn over(&self, service: &str) {
        let mut waits = self.of(service).subscribe();
        // The sender is kept in the map.
        let _ = waits.wait_for(Vec::is_empty).await;
    }
}

impl Drop for LeftAlone {
    fn drop(&mut self) {
        self.waits.send_modify(|waits| {
            if let Some(own) = waits.iter().position(|wait| *wait == self.wait) {
                waits.swap_remove(own);
            }
        });
    }
}
