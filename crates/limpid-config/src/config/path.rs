//! `[path.NAME]`: what is set for one prompt path, such as `heartbeat` or `summarize`.

use limpid_core::{CacheLife, Effort};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

use super::word::{word, words};

/// What is set for one prompt path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PathConfig {
    /// How much models are to reason there. Default: as everywhere.
    #[serde(deserialize_with = "some_effort")]
    #[schemars(schema_with = "efforts")]
    pub effort: Option<Effort>,
    /// How long providers keep what they have read there: `5m`, `1h`, `off`, or `auto`.
    #[serde(deserialize_with = "cache")]
    #[schemars(schema_with = "caches", extend("default" = CacheSetting::default().as_str()))]
    pub cache: CacheSetting,
}

/// How long providers are asked to keep what they have read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheSetting {
    /// Always so long.
    Fixed(CacheLife),
    /// As the gaps between requests suggest.
    Auto,
}

impl CacheSetting {
    const ALL: [Self; 4] =
        [Self::Fixed(CacheLife::Minutes), Self::Fixed(CacheLife::Hour), Self::Fixed(CacheLife::Off), Self::Auto];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Fixed(life) => life.as_str(),
            Self::Auto => "auto",
        }
    }
}

impl Default for CacheSetting {
    fn default() -> Self {
        Self::Fixed(CacheLife::default())
    }
}

fn cache<'de, D: Deserializer<'de>>(from: D) -> Result<CacheSetting, D::Error> {
    word(from, &CacheSetting::ALL, CacheSetting::as_str)
}

pub(super) fn effort<'de, D: Deserializer<'de>>(from: D) -> Result<Effort, D::Error> {
    word(from, &Effort::ALL, Effort::as_str)
}

pub(super) fn efforts(_: &mut SchemaGenerator) -> Schema {
    words(&Effort::ALL, Effort::as_str)
}

fn caches(_: &mut SchemaGenerator) -> Schema {
    words(&CacheSetting::ALL, CacheSetting::as_str)
}

fn some_effort<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Effort>, D::Error> {
    effort(from).map(Some)
}
