//! Files of profiles by folder and layer, and which of the owner's are set aside.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::problem::{Fault, File, Problem, Severity};
use crate::source::{Layer, SourceFile};

/// The files, by profile, path and layer.
pub(super) struct Shelf(pub(super) BTreeMap<String, Folder>);

#[derive(Default)]
pub(super) struct Folder {
    /// Modes that have a file, be it one that cannot be used.
    pub(super) modes: BTreeSet<String>,
    pub(super) shipped: BTreeMap<String, Arc<File>>,
    /// The last texts of the owner's files that could be used, each until it is called for.
    kept: BTreeMap<String, Arc<File>>,
    /// The owner's files, and the kept texts of those that cannot be used.
    pub(super) home: BTreeMap<String, Arc<File>>,
}

impl Folder {
    pub(super) fn get(&self, path: &str) -> Option<&Arc<File>> {
        self.home.get(path).or_else(|| self.shipped.get(path))
    }

    /// Puts what is next in the order of lookup in the place of an owner's file that cannot be used; says what that is.
    fn stand_in(&mut self, path: &str) -> Option<&'static str> {
        let was_there = self.home.remove(path).is_some();
        if let Some(kept) = self.kept.remove(path) {
            self.home.insert(path.to_owned(), kept);
            Some(LAST_GOOD)
        } else if self.shipped.contains_key(path) {
            Some(SHIPPED)
        } else {
            (was_there && self.shipped.contains_key(MANIFEST)).then_some(LEFT_OUT)
        }
    }

    /// Whether a profile is left without the owner's file.
    fn has_other(&self, path: &str) -> bool {
        self.kept.contains_key(path) || self.shipped.contains_key(path) || self.shipped.contains_key(MANIFEST)
    }

    pub(super) fn paths(&self) -> BTreeSet<&String> {
        self.shipped.keys().chain(self.home.keys()).collect()
    }
}

impl Shelf {
    pub(super) fn of(files: impl IntoIterator<Item = SourceFile>, problems: &mut Vec<Problem>) -> Self {
        let mut folders: BTreeMap<String, Folder> = BTreeMap::new();
        for file in files {
            let Some((profile, path)) = file.path.split_once('/') else { continue };
            if !is_read(path) {
                continue;
            }
            let (profile, path) = (profile.to_owned(), path.to_owned());
            let folder = folders.entry(profile).or_default();
            // A copy of a file that is gone makes no mode.
            if let FileKind::Mode(mode, _) = kind(&path)
                && file.layer != Layer::Kept
            {
                folder.modes.insert(mode);
            }
            match decode(file) {
                Ok(file) => {
                    let layer = match file.layer {
                        Layer::Home => &mut folder.home,
                        Layer::Kept => &mut folder.kept,
                        Layer::Shipped => &mut folder.shipped,
                    };
                    layer.insert(path, Arc::new(file));
                }
                Err(problem) if problem.layer == Layer::Kept => {}
                Err(problem) => problems.push(*problem),
            }
        }
        // What stands in for a file that could not be read depends on what is below it, whatever the order.
        for problem in problems.iter_mut().filter(|problem| problem.layer == Layer::Home) {
            let Some((profile, path)) = problem.path.split_once('/') else { continue };
            problem.kept = folders.get_mut(profile).and_then(|folder| folder.stand_in(path)).map(str::to_owned);
        }
        Self(folders)
    }

    /// Takes away the owner's files that have errors where something else can stand in for them; says what does.
    pub(super) fn set_aside(&mut self, problems: &[Problem]) -> BTreeMap<String, String> {
        let wrong = problems.iter().filter(|problem| problem.severity == Severity::Error);
        let paths: BTreeSet<&String> =
            wrong.filter(|problem| problem.layer != Layer::Shipped).map(|problem| &problem.path).collect();
        let mut aside = BTreeMap::new();
        for full in paths {
            let Some((profile, path)) = full.split_once('/') else { continue };
            let Some(folder) = self.0.get_mut(profile).filter(|folder| folder.home.contains_key(path)) else {
                continue;
            };
            if folder.has_other(path) {
                aside.extend(folder.stand_in(path).map(|stands_in| (full.clone(), stands_in.to_owned())));
            }
        }
        aside
    }

    /// Takes away the owner's manifests with which shipped files have errors: those are right by themselves. It is the manifest
    /// of the file's own profile, or else those of the profiles that it may build on. Says what is wrong with each, and what
    /// stands in for it.
    pub(super) fn set_aside_manifests(&mut self, problems: &[Problem]) -> Vec<Problem> {
        let wrong = problems.iter().filter(|one| one.severity == Severity::Error && one.layer == Layer::Shipped);
        // Each manifest once, however many files fail with it: what stands in for it has not been tried yet.
        let mut failing = BTreeMap::<String, &Problem>::new();
        for problem in wrong {
            let Some((profile, _)) = problem.path.split_once('/') else { continue };
            let is_own = |folder: &Folder| folder.home.contains_key(MANIFEST) && folder.has_other(MANIFEST);
            let own = self.0.get(profile).is_some_and(is_own);
            let names = self.0.iter().filter(|(name, folder)| is_own(folder) && (!own || *name == profile));
            for (name, _) in names {
                failing.entry(name.clone()).or_insert(problem);
            }
        }
        let mut aside = Vec::new();
        for (name, problem) in failing {
            let Some(folder) = self.0.get_mut(&name) else { continue };
            let Some(layer) = folder.home.get(MANIFEST).map(|file| file.layer) else { continue };
            let (profile, path) = problem.path.split_once('/').unwrap_or_default();
            aside.push(Problem {
                message: format!("with this file the shipped `{path}` of {profile} fails: {}", problem.message),
                layer,
                path: format!("{name}/{MANIFEST}"),
                place: None,
                kept: folder.stand_in(MANIFEST).map(str::to_owned),
                ..problem.clone()
            });
        }
        aside
    }
}

const LAST_GOOD: &str = "until then the last text of it that worked is used";
const SHIPPED: &str = "until then the shipped file is used";
const LEFT_OUT: &str = "until then the file is left out";
pub(super) const MANIFEST: &str = "profile.toml";

/// Whether a file of a profile's folder is the engine's to read. Scenarios are the tests' own, `templates/` are files
/// that a workspace starts with.
fn is_read(path: &str) -> bool {
    let foreign = ["scenarios/", "templates/"].iter().any(|folder| path.starts_with(folder));
    let hidden = path.split('/').any(|name| name.starts_with('.') || name.ends_with('~'));
    !foreign && !hidden
}

fn decode(file: SourceFile) -> Result<File, Box<Problem>> {
    let SourceFile { path, bytes, layer } = file;
    let (text, broken) = match String::from_utf8(bytes) {
        Ok(text) => (text.trim_start_matches('\u{feff}').replace("\r\n", "\n"), None),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            (text, Some((valid, "the file is not UTF-8 text", "save it as UTF-8")))
        }
    };
    let blank = text.trim().is_empty().then_some((
        0,
        "the file is empty",
        "write its text, or remove it with `limpid profile reset`",
    ));
    let file = File { layer, path, text };
    match broken.or(blank) {
        Some((at, message, fix)) => Err(file.error(Fault::new(at..at, message, fix)).into()),
        None => Ok(file),
    }
}

/// What a file of a profile's folder is, by its path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    Manifest,
    Section(String),
    SectionTier(String, usize),
    Mode(String, usize),
    ModePolicy(String),
    Tool(String),
    Other,
}

pub(super) fn kind(path: &str) -> FileKind {
    let names: Vec<&str> = path.split('/').collect();
    let markdown = |name: &str| name.strip_suffix(".md").filter(|stem| is_name(stem)).map(str::to_owned);
    let other = FileKind::Other;
    match names.as_slice() {
        [MANIFEST] => FileKind::Manifest,
        ["sections", file] => markdown(file).map_or(other, FileKind::Section),
        ["sections", id, file] if is_name(id) => {
            tier(file, &[".md"]).map_or(other, |tier| FileKind::SectionTier((*id).to_owned(), tier))
        }
        ["modes", mode, "policy.toml"] if is_mode(mode) => FileKind::ModePolicy((*mode).to_owned()),
        ["modes", mode, file] if is_mode(mode) => {
            tier(file, &[".md", ".txt"]).map_or(other, |tier| FileKind::Mode((*mode).to_owned(), tier))
        }
        ["tools", file] => markdown(file).map_or(other, FileKind::Tool),
        _ => other,
    }
}

/// The place of a tier in a list, from the name of its file.
fn tier(file: &str, endings: &[&str]) -> Option<usize> {
    let stem = endings.iter().find_map(|ending| file.strip_suffix(ending))?;
    let number: usize = stem.strip_prefix("tier")?.parse().ok()?;
    (1..=5).contains(&number).then(|| number - 1)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
}

/// Whether a folder's name is a mode's: `[a-z][a-z0-9-]{0,31}`.
fn is_mode(name: &str) -> bool {
    name.len() <= 32
        && name.starts_with(|letter: char| letter.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    // OLLM-032
    #[test]
    fn a_folder_is_a_modes_when_its_name_is_one() {
        let longest = format!("m{}", "x".repeat(31));
        for name in ["m", "night-watch", "v2", longest.as_str()] {
            assert!(is_mode(name), "{name}");
            assert_eq!(kind(&format!("modes/{name}/tier3.md")), FileKind::Mode(name.to_owned(), 2));
            assert_eq!(kind(&format!("modes/{name}/policy.toml")), FileKind::ModePolicy(name.to_owned()));
        }
        for name in ["", "2nd", "-m", "Night", "night_watch", "nächte", &format!("{longest}x")] {
            assert!(!is_mode(name), "{name}");
            assert_eq!(kind(&format!("modes/{name}/tier3.md")), FileKind::Other);
        }
        for file in ["tier0.md", "tier6.md", "tier.md", "tier3.rst", "3.md"] {
            assert_eq!(kind(&format!("modes/m/{file}")), FileKind::Other, "{file}");
        }
    }
}
