//! `[files]`: folders that file tools may touch besides the workspace.

use std::path::PathBuf;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

/// Folders that file tools may touch besides the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FilesConfig {
    /// Folders that may be read and changed.
    #[serde(deserialize_with = "absolute")]
    pub grants: Vec<PathBuf>,
    /// Folders that may be read.
    #[serde(deserialize_with = "absolute")]
    pub read: Vec<PathBuf>,
    /// Those of both whose files the owner wrote or looked through. What stands in the others is outside text, since
    /// anybody may have written it.
    #[serde(deserialize_with = "absolute")]
    pub trusted: Vec<PathBuf>,
    /// The folder where relative paths begin, if it is not the workspace. No file sets it: it is that of an editor's session.
    #[serde(skip)]
    pub base: Option<PathBuf>,
}

/// Folders by their whole path: nothing here knows where the owner's home folder is.
pub(super) fn absolute<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
    let folders = Vec::<PathBuf>::deserialize(deserializer)?;
    match folders.iter().find(|folder| !folder.is_absolute()) {
        Some(folder) => Err(D::Error::custom(format!("`{}` is no whole path; write it from `/` on", folder.display()))),
        None => Ok(folders),
    }
}
