//! The profiles that ship: loaded, and file by file.

use include_dir::{Dir, File};

use crate::source::SourceFile;

use super::embedded::SHIPPED;
use super::load::{Profiles, folder, one_of};
use super::shelf::MANIFEST;

impl Profiles {
    /// The profiles that ship.
    pub fn shipped() -> Self {
        Self::load(shipped_files())
    }

    /// The profiles that ship with the owner's files over them, and the owner's own profiles.
    pub fn with_home(files: impl IntoIterator<Item = SourceFile>) -> Self {
        Self::load(shipped_files().into_iter().chain(files))
    }

    /// One profile of those, with what it stands on ([`Profiles::load_one`]). Of what ships, the others are not touched.
    pub fn one_with_home(name: &str, files: impl IntoIterator<Item = SourceFile>) -> Self {
        let mut files: Vec<SourceFile> = files.into_iter().collect();
        let manifests = SHIPPED.dirs().filter_map(|dir| dir.get_file(dir.path().join(MANIFEST)));
        let near: Vec<SourceFile> = manifests.map(source).chain(files.iter().cloned()).collect();
        let wanted = one_of(name, &near);
        let is_wanted =
            |dir: &&Dir<'_>| wanted.as_ref().is_none_or(|wanted| wanted.contains(&*dir.path().to_string_lossy()));
        files.retain(|file| wanted.as_ref().is_none_or(|wanted| wanted.contains(folder(file))));
        let mut all = Vec::new();
        SHIPPED.dirs().filter(is_wanted).for_each(|dir| collect(dir, &mut all));
        Self::load(all.into_iter().chain(files))
    }
}

/// Every file of the profiles that ship, scenarios and templates included, in the order of their paths.
pub fn shipped_files() -> Vec<SourceFile> {
    let mut files = Vec::new();
    collect(&SHIPPED, &mut files);
    files.sort_by(|left, right| left.path.cmp(&right.path));
    files
}

/// The scenarios that ship with a profile, each with its name and text.
pub fn shipped_scenarios(profile: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let folder = SHIPPED.get_dir(format!("{profile}/scenarios"));
    folder.into_iter().flat_map(Dir::files).filter_map(|file| {
        let name = file.path().file_name()?.to_str()?.strip_suffix(".toml")?;
        Some((name, file.contents_utf8()?))
    })
}

/// What a file of a workspace starts with, as a profile that ships has it in `templates/`.
pub fn shipped_template(name: &str) -> Option<&'static str> {
    let mut found = SHIPPED.dirs().filter_map(|dir| SHIPPED.get_file(dir.path().join("templates").join(name)));
    found.find_map(|file| file.contents_utf8())
}

fn collect(dir: &Dir<'_>, files: &mut Vec<SourceFile>) {
    files.extend(dir.files().map(source));
    for dir in dir.dirs() {
        collect(dir, files);
    }
}

fn source(file: &File<'_>) -> SourceFile {
    let names: Vec<_> = file.path().iter().map(|name| name.to_string_lossy()).collect();
    SourceFile::shipped(names.join("/"), file.contents())
}
