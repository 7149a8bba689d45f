//! Loading: from plain files to profiles that were checked as a whole (PRO-005, PRO-007).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::problem::{Fault, File, Problem, Problems, Severity};
use crate::section::Section;
use crate::section::build::{SectionFiles, Shop};
use crate::section::front::{self, ToolFront};
use crate::source::{Layer, SourceFile};
use crate::template::names::Names;

use super::manifest::{self, Manifest};
use super::resolve::{Draft, Resolver};
use super::{Mode, Profile, ToolText, UnknownName};

/// The profile that lends every other what it does not define.
const FALLBACK: &str = "limpid";

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
    /// A file of [`Layer::Home`] takes the place of the shipped one of its path. One that is broken is set aside: the
    /// shipped text stays in use, and the problem is told (OLLM-052). A profile that has errors all the same is kept
    /// out, with all of them.
    pub fn load(files: impl IntoIterator<Item = SourceFile>) -> Self {
        let mut problems = Vec::new();
        let mut shelf = Shelf::of(files, &mut problems);
        let names = Names::new();
        loop {
            let attempt = Attempt::of(&shelf, &names);
            let aside = shelf.set_aside(&attempt.problems);
            if aside.is_empty() {
                return attempt.finish(problems);
            }
            problems.extend(attempt.problems.into_iter().filter_map(|mut problem| {
                problem.kept = Some(aside.get(&problem.path)?.clone());
                Some(problem)
            }));
        }
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

    /// What is wrong with the files, those included that were set aside.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

/// The files, by profile, path and layer.
struct Shelf(BTreeMap<String, Folder>);

#[derive(Default)]
struct Folder {
    shipped: BTreeMap<String, Arc<File>>,
    home: BTreeMap<String, Arc<File>>,
}

impl Folder {
    fn get(&self, path: &str) -> Option<&Arc<File>> {
        self.home.get(path).or_else(|| self.shipped.get(path))
    }

    fn paths(&self) -> BTreeSet<&String> {
        self.shipped.keys().chain(self.home.keys()).collect()
    }
}

impl Shelf {
    fn of(files: impl IntoIterator<Item = SourceFile>, problems: &mut Vec<Problem>) -> Self {
        let mut folders: BTreeMap<String, Folder> = BTreeMap::new();
        for file in files {
            let Some((profile, path)) = file.path.split_once('/') else { continue };
            if !is_read(path) {
                continue;
            }
            let (profile, path) = (profile.to_owned(), path.to_owned());
            let folder = folders.entry(profile).or_default();
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
    fn set_aside(&mut self, problems: &[Problem]) -> BTreeMap<String, String> {
        let mut aside = BTreeMap::new();
        for problem in
            problems.iter().filter(|problem| problem.severity == Severity::Error && problem.layer == Layer::Home)
        {
            let Some((profile, path)) = problem.path.split_once('/') else { continue };
            let Some(folder) = self.0.get_mut(profile) else { continue };
            let stands_in = if folder.shipped.contains_key(path) {
                KEPT
            } else if folder.shipped.contains_key(MANIFEST) {
                "nothing in its place"
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

const KEPT: &str = "the shipped text";
const MANIFEST: &str = "profile.toml";

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
        for name in shelf.0.keys() {
            if let Some(set) = FileSet::of(name, shelf, &mut Vec::new(), &mut problems) {
                sets.insert(name.clone(), set);
            }
        }
        let drafts: BTreeMap<&String, Made> =
            sets.iter().map(|(name, set)| (name, Made::of(name, set, names, &mut problems))).collect();
        let fallback = drafts.get(&FALLBACK.to_owned());
        let mut profiles = BTreeMap::new();
        for (name, made) in &drafts {
            let fallback = fallback.filter(|_| name.as_str() != FALLBACK);
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

/// The files of a profile, those of its bases below them.
struct FileSet {
    manifest: Manifest,
    files: BTreeMap<String, Arc<File>>,
    /// The owner's files that hide shipped ones.
    shadowed: BTreeMap<String, Arc<File>>,
    bases: Vec<String>,
}

impl FileSet {
    fn of(name: &str, shelf: &Shelf, open: &mut Vec<String>, problems: &mut Vec<Problem>) -> Option<Self> {
        let folder = shelf.0.get(name)?;
        let file = folder.get(MANIFEST)?;
        let mut manifest = manifest::read(name, file, problems)?;
        let own: BTreeMap<String, Arc<File>> =
            folder.paths().into_iter().filter_map(|path| Some((path.clone(), Arc::clone(folder.get(path)?)))).collect();
        let shadowed =
            folder.home.keys().filter_map(|path| Some((path.clone(), Arc::clone(folder.shipped.get(path)?))));
        let mut set =
            Self { files: own, shadowed: shadowed.collect(), bases: Vec::new(), manifest: Manifest::default() };
        if let Some(base) = manifest.base.clone() {
            open.push(name.to_owned());
            if open.contains(base.get_ref()) {
                let round = format!("a cycle of bases: {} → {}", open.join(" → "), base.get_ref());
                problems.push(file.error(Fault::new(base.span(), round, "break it at one of them")));
            } else if let Some(below) = Self::of(base.get_ref(), shelf, open, &mut Vec::new()) {
                manifest.inherit(&below.manifest);
                for (path, file) in below.files {
                    set.files.entry(path).or_insert(file);
                }
                set.bases = below.bases;
                set.bases.push(base.get_ref().clone());
            } else {
                let message = format!("unknown profile `{}`", base.get_ref());
                problems.push(file.error(Fault::new(base.span(), message, "`limpid profile list` shows them")));
            }
            open.pop();
        }
        Some(Self { manifest, ..set })
    }
}

/// The parts of a profile, each compiled by itself.
struct Made {
    draft: Draft,
    modes: BTreeMap<String, Mode>,
    tools: BTreeMap<String, ToolText>,
    lists: Manifest,
}

impl Made {
    fn of(name: &str, set: &FileSet, names: &Names, problems: &mut Vec<Problem>) -> Self {
        let mut all = Vec::new();
        let shop = Shop { names, words: &set.manifest.words, budgets: &set.manifest.budgets };
        let sections = sections(set, &shop, &mut all);
        let modes = modes(set, &shop, &mut all);
        let tools = tools(set, &mut all);
        for file in set.files.iter().filter(|(path, _)| kind(path) == FileKind::Other).map(|(_, file)| file) {
            let fix = "docs/profiles.md shows what a profile's folder holds; remove it, or correct its name";
            all.push(file.warning(Fault::new(0..0, "this file is never used", fix)));
        }
        // A file of a base is told about when the base is loaded.
        let prefix = format!("{name}/");
        problems.extend(all.into_iter().filter(|problem| problem.path.starts_with(&prefix)));
        let lists = Manifest {
            groups: set.manifest.groups.clone(),
            tool_order: set.manifest.tool_order.clone(),
            file_order: set.manifest.file_order.clone(),
            ..Manifest::default()
        };
        let (words, paths) = (set.manifest.words.clone(), set.manifest.paths.clone());
        Self { draft: Draft { name: name.to_owned(), words, paths, sections }, modes, tools, lists }
    }

    fn profile(
        &self,
        name: &str,
        set: &FileSet,
        fallback: Option<&Self>,
        names: &Names,
        problems: &mut Vec<Problem>,
    ) -> Profile {
        let resolver = Resolver { names, own: &self.draft, fallback: fallback.map(|made| &made.draft) };
        let mut found = Vec::new();
        let paths = resolver.paths(&mut found);
        for (file, path) in set.manifest.budget_paths.iter().filter(|(_, path)| !paths.contains_key(path.get_ref())) {
            let message = format!("unknown path `{}`", path.get_ref());
            found.push(file.error(Fault::new(path.span(), message, "name a path of this profile or of `limpid`")));
        }
        let on_paths: BTreeSet<&str> =
            paths.values().flat_map(|path| path.sections()).map(|section| section.id.as_str()).collect();
        found.extend(self.strays(set, &on_paths));
        let prefix = format!("{name}/");
        problems.extend(found.into_iter().filter(|problem| problem.path.starts_with(&prefix)));

        let mut lists = self.lists.clone();
        let mut modes = self.modes.clone();
        let mut tools = self.tools.clone();
        if let Some(fallback) = fallback {
            lists.inherit_lists(&fallback.lists);
            if modes.is_empty() {
                modes = fallback.modes.clone();
            }
            for (name, text) in &fallback.tools {
                tools.entry(name.clone()).or_insert_with(|| text.clone());
            }
        }
        Profile {
            name: name.to_owned(),
            title: set.manifest.title.clone().unwrap_or_else(|| name.to_owned()),
            about: set.manifest.about.clone().unwrap_or_default(),
            base: set.manifest.base.as_ref().map(|base| base.get_ref().clone()),
            paths,
            sections: self
                .draft
                .sections
                .iter()
                .filter_map(|(id, section)| Some((id.clone(), section.clone()?)))
                .collect(),
            modes,
            tools,
            groups: lists.groups.unwrap_or_default(),
            tool_order: lists.tool_order.unwrap_or_default(),
            file_order: lists.file_order.unwrap_or_default(),
        }
    }

    /// Sections on no path. A shipped file that the owner's own manifest leaves out is none: it cannot be removed.
    fn strays(&self, set: &FileSet, on_paths: &BTreeSet<&str>) -> Vec<Problem> {
        let manifest_layer = set.files.get(MANIFEST).map(|file| file.layer);
        let stray = |(path, file): (&String, &Arc<File>)| {
            let FileKind::Section(id) = kind(path) else { return None };
            let mine = file.path.split('/').next() == Some(self.draft.name.as_str());
            let removable = Some(file.layer) >= manifest_layer;
            if on_paths.contains(id.as_str()) || !mine || !removable || !self.draft.sections.contains_key(&id) {
                return None;
            }
            let fix = format!("add \"{id}\" to a message of profile.toml, or remove the file");
            Some(file.error(Fault::new(0..0, format!("section `{id}` is on no path"), fix)))
        };
        set.files.iter().filter_map(stray).collect()
    }
}

/// What a file of a profile's folder is, by its path.
#[derive(Debug, PartialEq, Eq)]
enum FileKind {
    Manifest,
    Section(String),
    SectionTier(String, usize),
    Mode(String, usize),
    Tool(String),
    Other,
}

fn kind(path: &str) -> FileKind {
    let names: Vec<&str> = path.split('/').collect();
    let markdown = |name: &str| name.strip_suffix(".md").filter(|stem| is_name(stem)).map(str::to_owned);
    let other = FileKind::Other;
    match names.as_slice() {
        [MANIFEST] => FileKind::Manifest,
        ["sections", file] => markdown(file).map_or(other, FileKind::Section),
        ["sections", id, file] if is_name(id) => {
            tier(file, &[".md"]).map_or(other, |tier| FileKind::SectionTier((*id).to_owned(), tier))
        }
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

fn sections(set: &FileSet, shop: &Shop<'_>, problems: &mut Vec<Problem>) -> BTreeMap<String, Option<Arc<Section>>> {
    let mut found: BTreeMap<String, SectionFiles> = BTreeMap::new();
    for (path, file) in &set.files {
        match kind(path) {
            FileKind::Section(id) => found.entry(id).or_default().main = Some(Arc::clone(file)),
            FileKind::SectionTier(id, tier) => found.entry(id).or_default().tiers[tier] = Some(Arc::clone(file)),
            _ => {}
        }
    }
    let mut section = |(id, files): (String, SectionFiles)| {
        let shadowed = set.shadowed.get(&format!("sections/{id}.md"));
        let made = shop.section(&id, &files, problems).map(|section| {
            let shadows = shadowed.map(|file| file.lines(0..file.text.trim_end().len()));
            Arc::new(Section { shadows, ..section })
        });
        (id, made)
    };
    found.into_iter().map(|row| section(row)).collect()
}

fn modes(set: &FileSet, shop: &Shop<'_>, problems: &mut Vec<Problem>) -> BTreeMap<String, Mode> {
    let mut modes: BTreeMap<String, Mode> = BTreeMap::new();
    for (path, file) in &set.files {
        let FileKind::Mode(name, tier) = kind(path) else { continue };
        let mode = modes.entry(name.clone()).or_insert_with(|| Mode { name, ..Mode::default() });
        // `.md` stands before `.txt` in the order of paths, so it wins (OLLM-046).
        if mode.tiers[tier].is_none() {
            mode.tiers[tier] = shop.form(file, problems);
        }
    }
    modes
}

fn tools(set: &FileSet, problems: &mut Vec<Problem>) -> BTreeMap<String, ToolText> {
    let mut tools = BTreeMap::new();
    for (path, file) in &set.files {
        let FileKind::Tool(name) = kind(path) else { continue };
        let text = front::split(&file.text).and_then(|halves| {
            let front: ToolFront = match halves.front {
                Some(range) => front::read(&file.text, range)?,
                None => ToolFront::default(),
            };
            let description = file.text[halves.body.clone()].to_owned();
            Ok(ToolText {
                name: name.clone(),
                description,
                parameters: front.parameters.0,
                source: file.lines(halves.body),
            })
        });
        match text {
            Ok(text) => drop(tools.insert(name, text)),
            Err(fault) => problems.push(file.error(fault)),
        }
    }
    tools
}
