//! Values that are one of a few words.

use schemars::{Schema, json_schema};
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

/// How a setting that is one of a few words is described.
pub(super) fn words<T: Copy>(all: &[T], name: fn(T) -> &'static str) -> Schema {
    let words: Vec<&str> = all.iter().copied().map(name).collect();
    json_schema!({ "type": "string", "enum": words })
}
