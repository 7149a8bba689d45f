//! `[catalogue]`: what is known of models.

use serde::Deserialize;

/// Where models.dev publishes its list of models.
const MODELS_DEV: &str = "https://models.dev/api.json";

/// What is known of models.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CatalogueConfig {
    /// Whether `limpid serve` fetches a newer table by itself.
    pub update: CatalogueUpdate,
    /// Where `limpid model update` gets the list from.
    pub url: String,
}

impl Default for CatalogueConfig {
    fn default() -> Self {
        Self { update: CatalogueUpdate::Never, url: MODELS_DEV.to_owned() }
    }
}

/// Whether the table of models is updated by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CatalogueUpdate {
    /// Only when the owner says `limpid model update`.
    #[default]
    Never,
    /// Every week.
    Weekly,
}
