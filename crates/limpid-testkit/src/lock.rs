//! Locks that a test's panic does not break.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes the lock, also after a thread panicked while it held it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is inside stays whole when another test's thread panics while it holds the lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
