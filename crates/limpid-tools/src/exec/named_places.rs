//! Places that a call names, as they were found.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// The places that a call names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// Whether it names a place where strangers' text may be, or leads over a link in one.
    pub(super) low: bool,
    /// Whether it names one of the owner's, as the program or in a word.
    pub(super) high: bool,
    /// Whether it starts in one.
    pub(super) starts_high: bool,
    /// The granted low folders that it names itself, without links. What only a link leads to is not among them: whoever may
    /// change the link would choose what is seen.
    pub(super) low_folders: BTreeSet<PathBuf>,
    /// What it sees since it names something of what people put into folders of the system and nobody granted, without links.
    pub(super) installed: BTreeSet<PathBuf>,
    /// What it names in `outside/`, in the same way.
    pub(super) outside: NamedOutside,
}

/// What a call names in `outside/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NamedOutside {
    /// Whether it names anything there.
    pub(super) any: bool,
    /// Whether it names `outside/` itself, or more than one folder there in a way that is not followed.
    pub(super) whole: bool,
    /// The folders directly in `outside/` that it names, or something in them.
    pub(super) folders: BTreeSet<PathBuf>,
}

impl NamedOutside {
    /// Adds a place by its way from `outside/`; none where the way isn't known.
    pub(super) fn add(&mut self, outside: &Path, way: Option<&Path>) {
        self.any = true;
        match way.and_then(|way| way.components().next()) {
            Some(Component::Normal(name)) => {
                let folder = outside.join(name);
                // A file there needs no name to be seen.
                let is_folder = folder.symlink_metadata().is_ok_and(|about| about.is_dir());
                self.folders.extend(is_folder.then_some(folder));
            }
            _ => self.whole = true,
        }
    }
}
