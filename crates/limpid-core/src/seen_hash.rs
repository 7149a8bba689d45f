//! The hash of what somebody was shown, as their yes names it.

/// Digits of a hash that a yes names at least: whoever writes both of two texts finds two whose hashes begin alike in fewer.
pub const SEEN_DIGITS: usize = 32;

/// Whether a yes that names these digits is one to what has this hash.
///
/// ```
/// let hash = "0123456789abcdef".repeat(4);
/// assert!(limpid_core::is_seen_hash(&hash[..32], &hash) && limpid_core::is_seen_hash(&hash, &hash));
/// assert!(!limpid_core::is_seen_hash(&hash[..31], &hash) && !limpid_core::is_seen_hash(&"f".repeat(64), &hash));
/// ```
pub fn is_seen_hash(seen: &str, hash: &str) -> bool {
    seen.len() >= SEEN_DIGITS && hash.starts_with(seen)
}
