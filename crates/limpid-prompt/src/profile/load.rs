//! Loading: from plain files to profiles that were checked as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use limpid_core::DEFAULT_PROFILE;

use crate::problem::{Fault, Problem, Problems, Severity};
use crate::source::{Layer, SourceFile};
use crate::template::names::Names;

use super::file_set::FileSet;
use super::loaded::Profile;
use super::make::Made;
use super::shelf::{MANIFEST, Shelf};
use super::unknown_name::UnknownName;

/// A set of profiles: those that ship, the owner's, or both.
#[derive(Clone, Debug)]
pub struct Profiles {
    profiles: BTreeMap<String, Arc<Profile>>,
    broken: BTreeMap<String, Problems>,
    problems: Vec<Problem>,
}

/// Why a profile cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileError {
    /// There is none of that name.
    Unknown(UnknownName),
    /// Something is wrong with it.
    Broken(String, Problems),
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(unknown) => unknown.fmt(f),
            Self::Broken(name, problems) => write!(f, "the profile `{name}` cannot be used\n\n{problems}"),
        }
    }
}

impl std::error::Error for ProfileError {}

impl Profiles {
    /// Loads profiles from their files and checks them.
    ///
    /// A file of [`Layer::Home`] takes the place of the shipped one of its path. One that is broken is set aside: the last
    /// text of it that worked ([`Layer::Kept`]) or else the shipped text stays in use, and the problem is told. A profile
    /// that has errors all the same is kept out, with all of them.
    pub fn load(files: impl IntoIterator<Item = SourceFile>) -> Self {
        let mut problems = Vec::new();
        let mut shelf = Shelf::of(files, &mut problems);
        let names = Names::new();
        loop {
            let attempt = Attempt::of(&shelf, &names);
            let aside = shelf.set_aside(&attempt.problems);
            // A kept text may not fit what else has changed: then its file has something else in its place, or nothing.
            let unfit =
                attempt.problems.iter().filter(|one| one.severity == Severity::Error && one.layer == Layer::Kept);
            for unfit in unfit {
                for problem in problems.iter_mut().filter(|problem| problem.path == unfit.path) {
                    problem.kept = aside.get(&unfit.path).cloned();
                }
            }
            if aside.is_empty() {
                let manifests = shelf.set_aside_manifests(&attempt.problems);
                if manifests.is_empty() {
                    return attempt.finish(problems);
                }
                for manifest in manifests {
                    match problems.iter_mut().find(|problem| problem.path == manifest.path) {
                        Some(told) => told.kept = manifest.kept,
                        None => problems.push(manifest),
                    }
                }
                continue;
            }
            let own = attempt.problems.into_iter().filter(|problem| problem.layer != Layer::Kept);
            problems.extend(own.filter_map(|mut problem| {
                problem.kept = Some(aside.get(&problem.path)?.clone());
                Some(problem)
            }));
        }
    }

    /// Loads one profile with what it stands on: its bases, and the profile that lends what it lacks. It is the same as
    /// among all, and so is what is told of its files; the others cost no time. Without a folder of that name, all are
    /// loaded, so that an error can name them.
    pub fn load_one(name: &str, files: impl IntoIterator<Item = SourceFile>) -> Self {
        let files: Vec<SourceFile> = files.into_iter().collect();
        let wanted = one_of(name, &files);
        Self::load(files.into_iter().filter(|file| wanted.as_ref().is_none_or(|wanted| wanted.contains(folder(file)))))
    }

    /// A profile by name.
    pub fn get(&self, name: &str) -> Result<&Arc<Profile>, ProfileError> {
        if let Some(problems) = self.broken.get(name) {
            return Err(ProfileError::Broken(name.to_owned(), problems.clone()));
        }
        let unknown = || UnknownName::new("profile", name, self.profiles.keys());
        self.profiles.get(name).ok_or_else(|| ProfileError::Unknown(unknown()))
    }

    /// Every profile that can be used, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Profile>> {
        self.profiles.values()
    }

    /// Names of the profiles that have errors and cannot be used.
    pub fn broken(&self) -> impl Iterator<Item = &str> {
        self.broken.keys().map(String::as_str)
    }

    /// Whether this file of the owner's can be used: it was read, and nothing that is told of it is an error.
    pub fn can_use(&self, file: &SourceFile) -> bool {
        let profile = folder(file);
        let wrong = self.problems.iter().any(|one| one.severity == Severity::Error && one.path == file.path);
        !wrong && self.profiles.contains_key(profile)
    }

    /// What is wrong with the files, those included that were set aside.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

/// The folders that a profile is made of; none when it has no folder.
pub(super) fn one_of(name: &str, files: &[SourceFile]) -> Option<BTreeSet<String>> {
    files.iter().any(|file| folder(file) == name).then(|| stands_on(name, files))
}

/// The profile, its bases by any layer's manifest, and the profile that lends what they lack.
fn stands_on(name: &str, files: &[SourceFile]) -> BTreeSet<String> {
    let mut wanted = BTreeSet::new();
    let mut open = vec![name.to_owned(), DEFAULT_PROFILE.to_owned()];
    while let Some(name) = open.pop() {
        let manifest = format!("{name}/{MANIFEST}");
        if wanted.insert(name) {
            open.extend(files.iter().filter(|file| file.path == manifest).filter_map(base_of));
        }
    }
    wanted
}

/// The base that a manifest names; whether the rest of it is right is looked at when the profile is made.
fn base_of(manifest: &SourceFile) -> Option<String> {
    let text = String::from_utf8_lossy(&manifest.bytes);
    let text = text.trim_start_matches('\u{feff}');
    // It stands above the first table; a line that begins like one may also be inside a list.
    let head = text.split("\n[").next().and_then(|head| head.parse::<toml::Table>().ok());
    let table = match head {
        Some(head) => head,
        None => text.parse().ok()?,
    };
    Some(table.get("base")?.as_str()?.to_owned())
}

pub(super) fn folder(file: &SourceFile) -> &str {
    file.path.split('/').next().unwrap_or_default()
}

/// One try to make profiles of the files.
struct Attempt {
    profiles: BTreeMap<String, Arc<Profile>>,
    broken: BTreeSet<String>,
    problems: Vec<Problem>,
}

impl Attempt {
    fn of(shelf: &Shelf, names: &Names) -> Self {
        let mut problems = Vec::new();
        let mut sets = BTreeMap::new();
        for (name, folder) in &shelf.0 {
            if folder.get(MANIFEST).is_none()
                && let Some(file) = folder.home.values().next()
            {
                let fix = "write one with `base = \"limpid\"`, or begin with `limpid profile new NAME`";
                let message = format!("the folder has no {MANIFEST}, so it is no profile");
                problems.push(file.error(Fault::new(0..0, message, fix)));
            }
            if let Some(set) = FileSet::of(name, shelf, &mut Vec::new(), &mut problems) {
                sets.insert(name.clone(), set);
            }
        }
        let drafts: BTreeMap<&String, Made> =
            sets.iter().map(|(name, set)| (name, Made::of(name, set, names, &mut problems))).collect();
        let fallback = drafts.get(&DEFAULT_PROFILE.to_owned());
        let mut profiles = BTreeMap::new();
        for (name, made) in &drafts {
            let fallback = fallback.filter(|_| name.as_str() != DEFAULT_PROFILE);
            let profile = made.profile(name, &sets[*name], fallback, names, &mut problems);
            profiles.insert((*name).clone(), Arc::new(profile));
        }
        let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
        let mut broken: BTreeSet<String> =
            errors.filter_map(|problem| Some(problem.path.split_once('/')?.0.to_owned())).collect();
        // Whoever builds on a broken profile is broken with it.
        let based: Vec<_> = sets.iter().filter(|(_, set)| set.bases.iter().any(|base| broken.contains(base))).collect();
        broken.extend(based.into_iter().map(|(name, _)| name.clone()));
        Self { profiles, broken, problems }
    }

    fn finish(self, mut problems: Vec<Problem>) -> Profiles {
        let Self { mut profiles, broken, problems: own } = self;
        problems.extend(own);
        let belongs = |problem: &&Problem, name: &str| problem.path.split('/').next() == Some(name);
        let broken = broken.into_iter().map(|name| {
            profiles.remove(&name);
            let errors =
                problems.iter().filter(|problem| problem.severity == Severity::Error && problem.kept.is_none());
            let own: Vec<Problem> = errors.filter(|problem| belongs(problem, &name)).cloned().collect();
            (name, Problems(own))
        });
        let broken = broken.collect();
        Profiles { profiles, broken, problems }
    }
}
