//! Services that are left alone for a while: when one has asked a call to wait, others wait with it instead of asking too.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

/// Which services are left alone at present, by their names. Whoever calls the same services shares it.
#[derive(Debug, Default)]
pub struct BackOffs(Mutex<HashMap<String, watch::Sender<usize>>>);

/// Has a service left alone until it is dropped.
#[derive(Debug)]
pub(crate) struct LeftAlone(watch::Sender<usize>);

impl BackOffs {
    fn of(&self, service: &str) -> watch::Sender<usize> {
        let mut services = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        services.entry(service.to_owned()).or_insert_with(|| watch::Sender::new(0)).clone()
    }

    /// Has a service left alone.
    pub(crate) fn leave_alone(&self, service: &str) -> LeftAlone {
        let waiting = self.of(service);
        waiting.send_modify(|waiting| *waiting += 1);
        LeftAlone(waiting)
    }

    /// Waits until nobody has a service left alone.
    pub(crate) async fn over(&self, service: &str) {
        let mut waiting = self.of(service).subscribe();
        // The sender is kept in the map.
        let _ = waiting.wait_for(|waiting| *waiting == 0).await;
    }
}

impl Drop for LeftAlone {
    fn drop(&mut self) {
        self.0.send_modify(|waiting| *waiting = waiting.saturating_sub(1));
    }
}
