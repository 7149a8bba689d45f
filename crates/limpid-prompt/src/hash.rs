//! Hashes of texts.

use sha2::{Digest, Sha256};

/// The hash of texts, each kept apart from the next: 32 hexadecimal digits.
pub fn hash_of<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
