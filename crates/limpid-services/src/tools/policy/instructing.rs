//! Which files and folders prompts, skills and policies are made from, by what they are on the disk: no link, no `..` and no
//! spelling gives one of them another name that is not known.

mod elsewhere;
mod ids;
mod known;
mod parts;

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{MAIN_SEPARATOR_STR, Path, PathBuf};

use limpid_config::Home;
use limpid_tools::is_named_twice;

pub(super) use self::ids::has_other_name;
use self::ids::{FileId, id, numbered, opened};
pub(crate) use self::known::Below;
use self::known::Known;
pub(crate) use self::parts::PartsLeft;
use super::paths::{Way, way};

/// Files and folders that are looked at; where there are more, nothing there that can be changed counts as harmless, and
/// no program is started.
pub(crate) const LOOKED_AT: usize = 50_000;

/// Levels below a folder of ours down to which folders are looked at; a deeper one counts as too much, too.
pub(crate) const DEEPEST: usize = 64;

/// Folders of the home with skills and prompts, which may be links of the owner's to where they keep them.
const SHELVES: [&str; 2] = ["skills", "prompts"];

/// Folder with versions of a shelf: git itself gives files there a second name, and none of them is read as a skill.
const VERSIONS: &str = ".git";

/// Folders of the workspace that prompts and skills are read from.
const FOLDERS: [&str; 4] = ["memory", "skills", "prompts", "profiles"];

/// The places that instruct, and what lies there now.
#[derive(Clone, Debug)]
pub(super) struct Instructing {
    home: PathBuf,
    workspace: PathBuf,
    /// The folder for what strangers wrote.
    outside: PathBuf,
    /// Files of the workspace that prompts quote.
    prompt_files: Vec<PathBuf>,
    /// Whether every file at the top of the workspace may be one of them.
    all_at_top: bool,
    /// The folders that programs may write.
    writable: Vec<PathBuf>,
}

/// Something that is to be looked at.
struct Open {
    /// Its name in a folder that has every link followed.
    path: PathBuf,
    /// How many levels it lies below a folder of ours.
    level: usize,
    /// Whether no link on the way lies where others than the owner can lay one.
    is_owners: bool,
}

/// Why not everything was looked at that instructs the agent and lies where programs can write.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotLookedAt {
    /// There is too much of it.
    TooMany,
    /// This folder cannot be listed or entered.
    Closed(PathBuf),
    /// This file of the owner's skills or prompts has a second name on the disk, by which a program could write it.
    NamedTwice(PathBuf),
    /// This link among the owner's skills or prompts leads to a folder that is or holds the home, the workspace or `outside/`.
    Around(PathBuf),
}

/// What instructs the agent and lies where programs can write.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Entries {
    /// Files, by their paths with every link followed.
    pub(crate) files: BTreeSet<PathBuf>,
    /// Links on the way to files, each at its own place with every other link followed. What they lead to may be anywhere.
    pub(crate) links: BTreeSet<PathBuf>,
}

impl Instructing {
    /// The places of a home. All folders are given with every link followed.
    pub(super) fn new(
        [home, workspace, outside]: [PathBuf; 3],
        prompt_files: Vec<PathBuf>,
        writable: Vec<PathBuf>,
    ) -> Self {
        Self { home, workspace, outside, prompt_files, all_at_top: false, writable }
    }

    /// Has every file at the top of the workspace be one that prompts quote, or those alone that are named.
    pub(super) fn with_all_at_top(self, all_at_top: bool) -> Self {
        Self { all_at_top, ..self }
    }

    /// Whether prompts, skills or policies are made from the file at a path that has every link followed, or would be if it
    /// were there.
    pub(super) fn contains(&self, real: &Path) -> bool {
        if self.is_named(real) {
            return true;
        }
        let (there, folder) = (opened(real), real.ancestors().skip(1).find_map(id));
        // A new file of the home or the workspace by another name of theirs.
        let is_in = |own: &Path| folder.is_some() && folder == id(own);
        let as_own = real.file_name().map(|name| self.workspace.join(name));
        if is_in(&self.home) || (is_in(&self.workspace) && as_own.is_some_and(|own| self.is_named(&own))) {
            return true;
        }
        let own = self.look(self.of_workspace(), Known::default(), &PartsLeft::default());
        // Where not everything was looked at, whatever links may lead to may instruct.
        if own.is_cut && self.level(real).is_some() {
            return true;
        }
        let known = [own, self.look_at_home(&[])];
        let is_known = |id: FileId| known.iter().any(|known| known.ids.contains(&id));
        let is_cut = known.iter().any(|known| known.is_cut || !known.closed.is_empty());
        let mut folders = real.ancestors().skip(1).filter_map(id);
        match there {
            Some((own, names)) => is_known(own) || (is_cut && names > 1) || folders.any(is_known),
            None => folders.any(is_known),
        }
    }

    /// Whether a path is one of the places by its words. Case does not count, since some disks ignore it.
    fn is_named(&self, real: &Path) -> bool {
        let Ok(inside) = folded(real).strip_prefix(folded(&self.workspace)).map(Path::to_owned) else {
            // The rest of the home, but for what strangers wrote, holds settings, profiles, skills and the database.
            return folded(real).starts_with(folded(&self.home)) && !real.starts_with(&self.outside);
        };
        let first = inside.components().next();
        FOLDERS.iter().any(|folder| first.is_some_and(|first| first.as_os_str() == *folder))
            || self.prompt_files.iter().any(|file| folded(file) == inside)
            || (self.all_at_top && inside.components().count() == 1)
    }

    /// What instructs and lies where programs can write, and whatever prompts may quote at the top of the workspace.
    ///
    /// # Errors
    /// When not all of that could be looked at.
    pub(super) fn entries(&self) -> Result<Entries, NotLookedAt> {
        let mut own = Known::default();
        let mut places = own.listed(&self.workspace);
        places.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
        places.extend(self.of_workspace());
        let own = self.look(places, own, &PartsLeft::default());
        let shelves = self.look(self.shelves(), Known::default(), &PartsLeft::default());
        // What a program wrote by another name would be used as it is, whatever it is known by.
        if let Some(file) = shelves.named_twice.first() {
            return Err(NotLookedAt::NamedTwice(file.clone()));
        }
        if let Some(link) = shelves.around.first() {
            return Err(NotLookedAt::Around(link.clone()));
        }
        // No program can write in the home itself, so that nothing there grows by one, unless by what a link leads to, and
        // none closes a folder there.
        let is_cut_shelf = shelves.is_cut;
        let home = [shelves, self.look_at_home(&self.shelves())];
        let is_written = |path: &PathBuf| self.is_in_grant(path);
        let is_cut = |home: &Known| home.is_cut_elsewhere || (home.is_cut && home.ends.iter().any(is_written));
        if own.is_cut || is_cut_shelf || home.iter().any(is_cut) {
            return Err(NotLookedAt::TooMany);
        }
        let mut entries = Entries::default();
        let mut closed = BTreeSet::new();
        for known in home.into_iter().chain([own]) {
            entries.files.extend(known.files.into_iter().filter(is_written));
            entries.links.extend(known.links.into_iter().filter(is_written));
            closed.extend(known.closed.into_iter().filter(is_written));
        }
        // The outermost: what lies in it cannot be opened before.
        closed.pop_first().map_or(Ok(entries), |folder| Err(NotLookedAt::Closed(folder)))
    }

    /// What lies below a folder that has every link followed. Links there are followed as for `entries`, as far as parts
    /// are left.
    ///
    /// # Errors
    /// When not all of that could be looked at.
    pub(super) fn below(&self, folder: &Path, left: &PartsLeft) -> Result<Below, NotLookedAt> {
        let mut known = self.look(vec![folder.to_owned()], Known::default(), left);
        if known.is_cut {
            return Err(NotLookedAt::TooMany);
        }
        match known.closed.pop_first() {
            Some(folder) => Err(NotLookedAt::Closed(folder)),
            None => Ok(Below::new(folder, known)),
        }
    }

    /// Looks at the places of the home besides the workspace and those that were looked at.
    fn look_at_home(&self, but: &[PathBuf]) -> Known {
        let mut home = Known::default();
        let mut places = home.listed(&self.home);
        places.retain(|path| *path != self.workspace && *path != self.outside && !but.contains(path));
        self.look(places, home, &PartsLeft::default())
    }

    /// The places of the home's skills and prompts.
    fn shelves(&self) -> Vec<PathBuf> {
        SHELVES.map(|folder| self.home.join(folder)).into()
    }

    /// Whether a path lies where programs write.
    fn is_in_grant(&self, path: &Path) -> bool {
        self.writable.iter().any(|folder| path.starts_with(folder))
    }

    /// Whether somebody else than the owner may have put something at this path.
    fn may_be_strangers(&self, path: &Path) -> bool {
        self.is_in_grant(path) || path.starts_with(&self.outside)
    }

    /// The places of the workspace.
    fn of_workspace(&self) -> Vec<PathBuf> {
        let files = self.prompt_files.iter().map(|file| self.workspace.join(file));
        let top = if self.all_at_top { files_in(&self.workspace) } else { Vec::new() };
        FOLDERS.iter().map(|folder| self.workspace.join(folder)).chain(files).chain(top).collect()
    }

    /// Looks at everything that lies at some places, and adds it to what is known. Links there are followed as far as
    /// to what tools and programs can change. Each costs its own way alone, from the folder that it lies in, and once.
    fn look(&self, places: Vec<PathBuf>, mut known: Known, left: &PartsLeft) -> Known {
        let mut open: Vec<Open> = places.into_iter().map(|place| self.opening(place, &mut known, left)).collect();
        let mut looked_at = 0;
        while let Some(Open { path, level, is_owners }) = open.pop() {
            if !left.take(&path) {
                known.is_cut = true;
                break;
            }
            let entry = match std::fs::symlink_metadata(&path) {
                Ok(entry) => entry,
                // Where a file lies in the place of a folder, nothing lies in it.
                Err(error) if error.kind() == ErrorKind::NotADirectory => continue,
                Err(error) => {
                    known.note_closed(path.parent().unwrap_or(&path), &error);
                    continue;
                }
            };
            if looked_at == LOOKED_AT {
                known.is_cut = true;
                break;
            }
            looked_at += 1;
            let there = if entry.is_symlink() {
                self.behind((&path, is_owners), (&mut known, &mut open), left)
            } else {
                vec![(entry, Open { path, level, is_owners })]
            };
            for (about, Open { path, level, is_owners }) in there {
                let Some((found, _)) = numbered(&about) else { continue };
                // What a link leads to is looked at once, and once more where the first one was not the owner's.
                let is_new = known.ids.insert(found) | (is_owners && known.owners.insert(found));
                if about.is_dir() && is_new {
                    if level > DEEPEST {
                        // The rest is looked at all the same: what is known of it is known.
                        known.is_cut = true;
                    } else {
                        let inside = known.listed(&path).into_iter();
                        open.extend(inside.map(|path| Open { path, level: level + 1, is_owners }));
                    }
                } else if about.is_file() {
                    let is_shelved = is_owners && !path.iter().rev().take(level).any(|part| part == VERSIONS);
                    if is_shelved && !self.may_be_strangers(&path) && is_named_twice(&path) {
                        known.named_twice.insert(path.clone());
                    }
                    // A second name of a file is another path.
                    known.files.push(path);
                }
            }
        }
        known
    }

    /// A place where a look begins: links on the way to its folder are followed.
    fn opening(&self, place: PathBuf, known: &mut Known, left: &PartsLeft) -> Open {
        let mut is_owners = true;
        let path = match (place.parent(), place.file_name()) {
            (Some(folder), Some(name)) => {
                let Way { end, links } = way(Path::new(MAIN_SEPARATOR_STR), folder, &|path: &Path| left.take(path));
                is_owners = !links.iter().any(|link| self.may_be_strangers(link));
                known.links.extend(links);
                end.join(name)
            }
            _ => place,
        };
        Open { level: self.level(&path).unwrap_or_default(), path, is_owners }
    }

    /// What the link at a place leads to and what is known of that, if there is something that tools or programs can
    /// change; where it leads to a folder around some of that, to these. Links in a folder that is none of ours are opened too. A whole
    /// home or workspace is no folder of instructions.
    fn behind(
        &self,
        (link, is_owners): (&Path, bool),
        (known, open): (&mut Known, &mut Vec<Open>),
        left: &PartsLeft,
    ) -> Vec<(Metadata, Open)> {
        let (Some(folder), Some(name)) = (link.parent(), link.file_name()) else { return Vec::new() };
        let Way { end, links } = way(folder, Path::new(name), &|path: &Path| left.take(path));
        // It was not followed to its end then.
        if left.left() == 0 {
            known.is_cut = true;
            return Vec::new();
        }
        let is_owners = is_owners && !links.iter().any(|link| self.may_be_strangers(link));
        known.links.extend(links);
        known.ends.insert(end.clone());
        if self.is_around(&end) {
            known.around.extend(is_owners.then(|| link.to_owned()));
            return Vec::new();
        }
        let Some(level) = self.level(&end) else {
            // A program may lay a thousand links to any folder; what is behind its own link waits with that, and says nothing of the
            // folder.
            if is_owners {
                let found = known.elsewhere.look_below(&end);
                known.is_cut_elsewhere |= found.is_cut;
                known.ids.extend(found.named_twice.iter().filter_map(|file| id(file)));
                known.named_twice.extend(found.named_twice.into_iter().filter(|file| !self.may_be_strangers(file)));
                open.extend(found.links.into_iter().map(|path| Open { path, level: 0, is_owners }));
            }
            let within = self.writable.iter().filter(|folder| folder.starts_with(&end));
            let there = within.filter_map(|folder| Some((std::fs::metadata(folder).ok()?, folder.clone())));
            return there.map(|(about, path)| (about, Open { path, level: 0, is_owners })).collect();
        };
        match std::fs::metadata(link) {
            Ok(about) => vec![(about, Open { path: end, level, is_owners })],
            // Nothing opens behind a link that leads nowhere or to itself, but something may in a closed folder.
            Err(error) => {
                if error.kind() == ErrorKind::PermissionDenied {
                    known.note_closed(end.parent().unwrap_or(&end), &error);
                }
                Vec::new()
            }
        }
    }

    /// How many levels below a folder of ours, which tools or programs can change, a path lies that has every link
    /// followed; none for one that lies in none.
    fn level(&self, real: &Path) -> Option<usize> {
        let own = [&self.home, &self.workspace, &self.outside].into_iter().chain(&self.writable);
        own.filter_map(|folder| real.strip_prefix(folder).ok()).map(|way| way.components().count()).min()
    }

    /// Whether a path with every link followed is that of a folder that holds the home, the workspace or what strangers wrote.
    fn is_around(&self, real: &Path) -> bool {
        [&self.home, &self.workspace, &self.outside].iter().any(|own| own.starts_with(real))
    }
}

/// The places of a home, with every link followed by `real`.
pub(super) fn places(home: &Home, real: impl Fn(&Path) -> PathBuf) -> [PathBuf; 3] {
    [real(home.path()), real(&home.workspace()), real(&home.outside())]
}

/// What lies in a folder and is none itself, nor a link to one.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).filter(|path| !path.is_dir()).collect()
}

/// A path as disks that ignore case compare it.
fn folded(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().to_uppercase().to_lowercase())
}
