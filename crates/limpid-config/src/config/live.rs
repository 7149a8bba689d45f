//! Settings that can be replaced while the agent runs, read like a plain field wherever they are used.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// The newest version of a value; clones see the same versions.
///
/// Every version stays in memory until the last clone is gone, so that a reference to one remains valid when a newer one
/// arrives. A version is a few kilobytes and a new one comes only when the owner edits a file: that is the price for
/// settings that cannot be read from an outdated copy.
pub struct Live<T>(Arc<Version<T>>);

struct Version<T> {
    value: T,
    next: OnceLock<Arc<Version<T>>>,
}

impl<T> Live<T> {
    /// The first version.
    pub fn new(value: T) -> Self {
        Self(Arc::new(Version { value, next: OnceLock::new() }))
    }

    /// Replaces the value for everybody who reads it from here on.
    pub fn replace(&self, value: T) {
        let mut new = Arc::new(Version { value, next: OnceLock::new() });
        let mut version = &self.0;
        // Whoever replaces it at the same moment comes before this.
        while let Err(refused) = version.next.set(new) {
            new = refused;
            while let Some(next) = version.next.get() {
                version = next;
            }
        }
    }
}

impl<T> Deref for Live<T> {
    type Target = T;

    fn deref(&self) -> &T {
        let mut version = &self.0;
        while let Some(next) = version.next.get() {
            version = next;
        }
        &version.value
    }
}

impl<T> Clone for Live<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Default> Default for Live<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Drop for Version<T> {
    fn drop(&mut self) {
        // One after the other: a long chain that drops itself would take a stack frame for each version.
        let mut next = self.next.take();
        while let Some(version) = next {
            next = Arc::into_inner(version).and_then(|mut version| version.next.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clone_reads_the_newest_value_and_old_references_stay_valid() {
        let live = Live::new("first".to_owned());
        let (clone, old) = (live.clone(), &*live);
        clone.replace("second".to_owned());
        assert_eq!((old.as_str(), live.as_str(), clone.as_str()), ("first", "second", "second"));
    }

    #[test]
    fn replacing_at_the_same_moment_loses_no_version() {
        let live = Live::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..1_000).for_each(|n| live.replace(n)));
            }
        });
        let versions = std::iter::successors(Some(&live.0), |version| version.next.get()).count();
        assert_eq!(versions, 8_001);
    }
}
