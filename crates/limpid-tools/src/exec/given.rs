//! Which folders of `[exec] path` and `[exec] toolchains` programs get: none that somebody else could choose or fill.

use std::path::{Path, PathBuf};

use limpid_config::named_folder::{NamedFolder, NotUsed};

use crate::files::Grants;

/// Why programs do not get a folder that limpid.toml names for programs or a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotGiven {
    /// Nothing is there, which is nothing to tell of.
    Missing,
    /// Somebody else could choose or fill it, or it is something else; said so that it follows the folder's name.
    Because(&'static str),
}

/// What decides about such folders: what is granted, the folder for what strangers wrote, and Limpid's home.
#[derive(Clone, Copy, Debug)]
pub(super) struct Giver<'a> {
    pub(super) grants: &'a Grants,
    pub(super) outside: &'a Path,
    pub(super) home: &'a Path,
}

impl<'a> Giver<'a> {
    /// The folders of these that programs get, each as the owner wrote it and opened.
    pub(super) fn given(self, named: &'a [PathBuf]) -> impl Iterator<Item = (&'a PathBuf, NamedFolder)> {
        named.iter().filter_map(move |folder| Some((folder, self.look_at(folder).ok()?)))
    }

    /// Opens a folder that limpid.toml names for programs or a language.
    ///
    /// What is in it counts as the owner's, in every view. So it must not lead over a link that somebody else could lay, nor lie where
    /// strangers write, nor be a folder that counts as something else.
    ///
    /// # Errors
    /// Why programs do not get it.
    pub(super) fn look_at(self, folder: &Path) -> Result<NamedFolder, NotGiven> {
        let opened = self.grants.open_named(folder).map_err(|error| match error {
            NotUsed::Missing => NotGiven::Missing,
            NotUsed::Link(_) => NotGiven::Because("leads over a link that somebody else could have laid"),
            NotUsed::Cannot(_) => NotGiven::Because("cannot be opened as a folder"),
        })?;
        let roots = self.grants.roots().filter_map(|root| Some((self.grants.real(root)?, root.trust.is_foreign())));
        let outside = self.outside.canonicalize().unwrap_or_else(|_| self.outside.to_owned());
        let roots: Vec<(PathBuf, bool)> = roots.chain([(outside, true)]).collect();
        // The innermost folder around it decides, as for a file; of one by two names what is less trusted counts.
        let around = roots.iter().filter(|(root, _)| opened.path.starts_with(root));
        let innermost = around.max_by_key(|(root, is_foreign)| (root.components().count(), *is_foreign));
        if innermost.is_some_and(|(_, is_foreign)| *is_foreign) {
            return Err(NotGiven::Because("lies where strangers may have written"));
        }
        if roots.iter().any(|(root, _)| *root == opened.path) {
            return Err(NotGiven::Because("is a folder of [files] itself"));
        }
        match self.home.canonicalize().is_ok_and(|home| home == opened.path) {
            true => Err(NotGiven::Because("is Limpid's home")),
            false => Ok(opened),
        }
    }
}
