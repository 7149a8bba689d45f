//! Where a call wrote files. A program may move folders and lay links meanwhile, so a call may have written elsewhere than where its path
//! led when it was judged.

use std::any::Any;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Where a call says which places it wrote at. A call that starts programs can say nothing here of what those write.
#[derive(Clone, Default)]
pub struct Written {
    places: Arc<Mutex<Vec<PathBuf>>>,
    /// A call that was given up may still be writing on another thread, with a clone of this.
    _lock: Option<Arc<dyn Any + Send + Sync>>,
}

impl Written {
    /// One that keeps a lock for as long as whoever writes has a clone of it.
    pub fn under(lock: Arc<dyn Any + Send + Sync>) -> Self {
        Self { places: Arc::default(), _lock: Some(lock) }
    }

    /// Adds the place of a file that was written, with every link followed.
    pub fn note(&self, place: PathBuf) {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).push(place);
    }

    /// Takes out everything that was added.
    pub fn take(&self) -> Vec<PathBuf> {
        std::mem::take(&mut *self.places.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Written {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        formatter.debug_tuple("Written").field(&*places).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-061
    #[test]
    fn the_lock_is_kept_for_as_long_as_somebody_may_write() {
        let lock = Arc::new(());
        let written = Written::under(Arc::clone(&lock) as _);
        let writer = written.clone();
        drop(written);
        assert_eq!(Arc::strong_count(&lock), 2);
        drop(writer);
        assert_eq!(Arc::strong_count(&lock), 1);
    }
}
