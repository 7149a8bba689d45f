//! `[path.NAME]`: what is set for one prompt path, such as `heartbeat` or `summarize`.

use limpid_core::Effort;
use serde::{Deserialize, Deserializer};

use super::word;

/// What is set for one prompt path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PathConfig {
    /// How much models are to reason there. Absent: as everywhere.
    #[serde(deserialize_with = "some_effort")]
    pub effort: Option<Effort>,
}

pub(super) fn effort<'de, D: Deserializer<'de>>(from: D) -> Result<Effort, D::Error> {
    word(from, &Effort::ALL, Effort::as_str)
}

fn some_effort<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Effort>, D::Error> {
    effort(from).map(Some)
}
