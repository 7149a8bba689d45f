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
    pub(super) home: BTreeMap<String, Arc<File>>,
}

impl Folder {
    pub(super) fn get(&self, path: &str) -> Option<&Arc<File>> {
        self.home.get(path).or_else(|| self.shipped.get(path))
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
            if let FileKind::Mode(mode, _) = kind(&path) {
                folder.modes.insert(mode);
            }
            match decode(file) {
                Ok(file) => {
                    let layer = if file.layer == Layer::Home { &mut folder.home } else { &mut folder.shipped };
                    layer.insert(path, Arc::new(file));
                }
                Err(problem) => problems.push(*problem),
            }
        }
        // What is said of a file that could not be read depends on what stands below it, whatever the order.
        for problem in problems.iter_mut() {
            let below =
                problem.path.split_once('/').and_then(|(profile, path)| folders.get(profile)?.shipped.get(path));
            problem.kept = below.filter(|_| problem.layer == Layer::Home).map(|_| KEPT.to_owned());
        }
        Self(folders)
    }

    /// Takes away the owner's files that have errors where something else can stand in for them; says what does.
    pub(super) fn set_aside(&mut self, problems: &[Problem]) -> BTreeMap<String, String> {
        let mut aside = BTreeMap::new();
        for problem in
            problems.iter().filter(|problem| problem.severity == Severity::Error && problem.layer == Layer::Home)
        {
            let Some((profile, path)) = problem.path.split_once('/') else { continue };
            let Some(folder) = self.0.get_mut(profile) else { continue };
            let stands_in = if folder.shipped.contains_key(path) {
                KEPT
            } else if folder.shipped.contains_key(MANIFEST) {
                "until then the file is left out"
            } else {
                continue;
            };
            if folder.home.remove(path).is_some() || aside.contains_key(&problem.path) {
                aside.insert(problem.path.clone(), stands_in.to_owned());
            }
        }
        aside
    }
}

const KEPT: &str = "until then the shipped file is used";
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

/// Whether a folder's name is a mode's: `[a-z][a-z0-9-]{0,31}` (OLLM-032).
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
