//! Values that are one of a few words.

use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer};

/// Reads one of a few words.
pub(super) fn word<'de, D: Deserializer<'de>, T: Copy>(
    deserializer: D,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<T, D::Error> {
    let word = String::deserialize(deserializer)?;
    all.iter().copied().find(|known| name(*known) == word).ok_or_else(|| {
        let known: Vec<String> = all.iter().map(|known| format!("`{}`", name(*known))).collect();
        D::Error::custom(format!("unknown value `{word}`, expected {}", known.join(" or ")))
    })
}
