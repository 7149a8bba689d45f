//! How far ways are followed to look at what instructs the agent. Time grows with the length of each path that a disk is
//! asked about, and a program chooses how long paths are, where its links lead, and how many there are.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Parts of paths that are followed for one look, some hundred for each entry that is looked at.
pub(super) const PARTS: usize = 10_000_000;

/// The parts of paths that may still be followed.
#[derive(Debug)]
pub(crate) struct PartsLeft(AtomicUsize);

impl Default for PartsLeft {
    fn default() -> Self {
        Self::of(PARTS)
    }
}

impl PartsLeft {
    /// So many.
    pub(crate) const fn of(parts: usize) -> Self {
        Self(AtomicUsize::new(parts))
    }

    /// Takes what a question about a path costs: a system follows all of its parts anew. Whether any are left.
    pub(super) fn take(&self, path: &Path) -> bool {
        let parts = path.as_os_str().as_encoded_bytes().iter().filter(|byte| matches!(byte, b'/' | b'\\')).count();
        let left = self.left().saturating_sub(parts + 1);
        self.0.store(left, Ordering::Relaxed);
        left > 0
    }

    /// How many there are.
    pub(crate) fn left(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}
