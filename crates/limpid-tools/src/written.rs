//! Where a call may write files, and where it wrote them. A program may move folders and lay links meanwhile, so its path may lead elsewhere
//! than when it was judged.

use std::any::Any;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Where a call says which places it wrote at. A call that starts programs can say nothing here of what those write.
#[derive(Clone, Default)]
pub struct Written {
    places: Arc<Mutex<Vec<PathBuf>>>,
    /// The places that it was judged to write at, with every link followed; none where nobody judged it.
    judged: Option<Arc<[PathBuf]>>,
    is_given_up: Arc<AtomicBool>,
    /// A call that was given up may still be writing on another thread, with a clone of this.
    _lock: Option<Arc<dyn Any + Send + Sync>>,
}

impl Written {
    /// One for a call that was judged to write at these places, which keeps a lock for as long as whoever writes has a clone of it.
    pub fn under(lock: Arc<dyn Any + Send + Sync>, judged: Vec<PathBuf>) -> Self {
        Self { judged: Some(judged.into()), _lock: Some(lock), ..Self::default() }
    }

    /// Whether the call was judged to write at a place.
    pub fn may_write(&self, place: &Path) -> bool {
        self.judged.as_ref().is_none_or(|judged| judged.iter().any(|judged| judged == place))
    }

    /// Nobody waits for the call any more: from here on it begins no write.
    pub fn give_up(&self) {
        self.is_given_up.store(true, Ordering::SeqCst);
    }

    /// Whether nobody waits for the call any more.
    pub fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::SeqCst)
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
        let written = Written::under(Arc::clone(&lock) as _, Vec::new());
        let writer = written.clone();
        drop(written);
        assert_eq!(Arc::strong_count(&lock), 2);
        drop(writer);
        assert_eq!(Arc::strong_count(&lock), 1);
    }
}
