//! How many things each of several readers has under way at one time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Semaphore;

/// The shares of the readers that wait or are served now, by their names.
#[derive(Debug, Default)]
pub struct Shares(Mutex<BTreeMap<String, Weak<Semaphore>>>);

impl Shares {
    /// The share of one reader, with so many places; the same one for as long as anybody holds it.
    pub fn of(&self, reader: &str, places: usize) -> Arc<Semaphore> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|_, share| share.strong_count() > 0);
        let share = held.get(reader).and_then(Weak::upgrade).unwrap_or_else(|| Arc::new(Semaphore::new(places)));
        held.insert(reader.to_owned(), Arc::downgrade(&share));
        share
    }
}
