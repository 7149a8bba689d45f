//! The profiles that ship, embedded into the program.

use include_dir::{Dir, include_dir};

use crate::source::SourceFile;

use super::Profiles;

static SHIPPED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/profiles");

impl Profiles {
    /// The profiles that ship.
    pub fn shipped() -> Self {
        Self::load(shipped_files())
    }

    /// The profiles that ship with the owner's files over them, and the owner's own profiles.
    pub fn with_home(files: impl IntoIterator<Item = SourceFile>) -> Self {
        Self::load(shipped_files().into_iter().chain(files))
    }

    /// One profile of those, with what it stands on ([`Profiles::load_one`]).
    pub fn one_with_home(name: &str, files: impl IntoIterator<Item = SourceFile>) -> Self {
        Self::load_one(name, shipped_files().into_iter().chain(files))
    }
}

/// Every file of the profiles that ship, scenarios and templates included, in the order of their paths.
pub fn shipped_files() -> Vec<SourceFile> {
    let mut files = Vec::new();
    collect(&SHIPPED, &mut files);
    files.sort_by(|left, right| left.path.cmp(&right.path));
    files
}

fn collect(dir: &Dir<'_>, files: &mut Vec<SourceFile>) {
    for file in dir.files() {
        let names: Vec<_> = file.path().iter().map(|name| name.to_string_lossy()).collect();
        files.push(SourceFile::shipped(names.join("/"), file.contents()));
    }
    for dir in dir.dirs() {
        collect(dir, files);
    }
}
