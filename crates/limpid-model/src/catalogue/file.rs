//! The form of `models.toml`.

use serde::Deserialize;

use super::download::Download;
use super::entry::ModelEntry;
use super::family::Family;

/// The shipped file.
const SHIPPED: &str = include_str!("models.toml");

/// A `models.toml` or a table of models that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {reason}")]
pub struct CatalogueError {
    /// Which file.
    pub file: String,
    /// What is wrong, with the line where there is one.
    pub reason: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CatalogueFile {
    #[serde(default, rename = "model")]
    pub(super) models: Vec<ModelEntry>,
    #[serde(default, rename = "family")]
    pub(super) families: Vec<Family>,
    #[serde(default, rename = "download")]
    pub(super) downloads: Vec<Download>,
}

impl CatalogueFile {
    /// The shipped file, and before it the owner's: its name for errors, and its text.
    pub(super) fn load(owner: Option<(&str, &str)>) -> Result<Vec<Self>, CatalogueError> {
        let mut files = Vec::new();
        if let Some((name, text)) = owner {
            files.push(Self::read(name, text)?);
        }
        files.push(Self::read("the shipped models.toml", SHIPPED)?);
        Ok(files)
    }

    fn read(name: &str, text: &str) -> Result<Self, CatalogueError> {
        let error = |reason: String| CatalogueError { file: name.to_owned(), reason };
        let file: Self = toml::from_str(text).map_err(|wrong| error(wrong.to_string()))?;
        file.models.iter().try_for_each(ModelEntry::check).map_err(error)?;
        file.families.iter().try_for_each(Family::check).map_err(error)?;
        file.downloads.iter().try_for_each(Download::check).map_err(error)?;
        Ok(file)
    }
}
