//! `[catalogue]`: what is known of models.

use super::by_hand;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where models.dev publishes its list of models.
const MODELS_DEV: &str = "https://models.dev/api.json";

/// What is known of models.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CatalogueConfig {
    /// Whether `limpid serve` fetches a newer table by itself.
    pub update: CatalogueUpdate,
    /// Where `limpid model update` gets the list from.
    #[schemars(extend("x-by-hand" = by_hand::ADDRESSES))]
    pub url: String,
}

impl Default for CatalogueConfig {
    fn default() -> Self {
        Self { update: CatalogueUpdate::Never, url: MODELS_DEV.to_owned() }
    }
}

/// Whether the table of models is updated by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CatalogueUpdate {
    /// Only when the owner says `limpid model update`.
    #[default]
    Never,
    /// Every week.
    Weekly,
}
