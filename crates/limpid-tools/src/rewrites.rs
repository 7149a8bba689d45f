//! What a call made of files, by hashes: what it read itself, and the very bytes that it wrote. Whoever looks at a file before and after a
//! call cannot know that, since a program may write there meanwhile.

use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

/// A file that a call wrote whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rewrite {
    from: Option<[u8; 32]>,
    to: [u8; 32],
}

impl Rewrite {
    /// One whose bytes are made of what the call read there and of its own words; of its own words alone where it read nothing.
    pub fn of(from: Option<&[u8]>, to: &[u8]) -> Self {
        let hash = |bytes: &[u8]| -> [u8; 32] { Sha256::digest(bytes).into() };
        Self { from: from.map(hash), to: hash(to) }
    }

    /// Whether it made the bytes with one hash, and of nothing else than the bytes with the other one.
    pub fn made(&self, after: [u8; 32], before: Option<[u8; 32]>) -> bool {
        self.to == after && (self.from.is_none() || self.from == before)
    }
}

/// Where a call says what it wrote. A call that starts programs can say nothing here of what those write.
#[derive(Clone, Debug, Default)]
pub struct Rewrites(Arc<Mutex<Vec<Rewrite>>>);

impl Rewrites {
    /// Adds a file that was written.
    pub fn note(&self, rewrite: Rewrite) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(rewrite);
    }

    /// Takes out everything that was added.
    pub fn take(&self) -> Vec<Rewrite> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-061
    #[test]
    fn bytes_are_a_calls_own_only_with_what_it_read_itself() {
        let hash = |text: &str| Rewrite::of(None, text.as_bytes()).to;
        let added = Rewrite::of(Some(b"kind"), b"kind, brief");
        assert!(added.made(hash("kind, brief"), Some(hash("kind"))));
        assert!(!added.made(hash("kind, brief, mean"), Some(hash("kind"))), "somebody added to it");
        assert!(!added.made(hash("kind, brief"), Some(hash("mean"))), "it read something else");
        assert!(!added.made(hash("kind, brief"), None));
        let whole = Rewrite::of(None, b"brief");
        assert!(whole.made(hash("brief"), Some(hash("kind"))) && whole.made(hash("brief"), None));
        assert!(!whole.made(hash("mean"), None));
    }
}
