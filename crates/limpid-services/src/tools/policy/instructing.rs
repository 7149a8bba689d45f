//! Which files and folders prompts, skills and policies are made from, by what they are on the disk: no link, no `..` and no
//! spelling gives one of them another name that is not known.

use std::collections::BTreeSet;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use limpid_config::Home;

use super::paths::{links_on, real};

/// Files and folders that are looked at; where there are more, nothing that has a second name counts as harmless, and no program is
/// started.
pub(crate) const LOOKED_AT: usize = 50_000;

/// Folders of the workspace that prompts and skills are read from.
const FOLDERS: [&str; 4] = ["memory", "skills", "prompts", "profiles"];

/// A file or a folder by its device and its number there.
type FileId = (u64, u64);

/// The places that instruct, and what lies there now.
#[derive(Clone, Debug)]
pub(super) struct Instructing {
    home: PathBuf,
    workspace: PathBuf,
    /// The folder for what strangers wrote.
    outside: PathBuf,
    /// Files of the workspace that prompts quote.
    prompt_files: Vec<PathBuf>,
    /// The folders that programs may write.
    writable: Vec<PathBuf>,
}

/// What lies at the places that instruct.
#[derive(Debug, Default)]
struct Known {
    ids: BTreeSet<FileId>,
    files: Vec<PathBuf>,
    links: Vec<PathBuf>,
    /// Where the links lead that were come upon, be it to nothing.
    ends: BTreeSet<PathBuf>,
    /// Whether there was more than is looked at.
    is_cut: bool,
    /// Folders that could not be looked at: what lies in them may open by its name all the same.
    closed: BTreeSet<PathBuf>,
}

/// Why not everything was looked at that instructs the agent and lies where programs can write.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotLookedAt {
    /// There is too much of it.
    TooMany,
    /// This folder cannot be listed or entered.
    Closed(PathBuf),
}

/// What instructs the agent and lies where programs can write.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Entries {
    /// Files, by their paths with every link followed.
    pub(crate) files: BTreeSet<PathBuf>,
    /// Links on the way to files, each at its own place with every other link followed. What they lead to may be anywhere.
    pub(crate) links: BTreeSet<PathBuf>,
}

/// What lies below a folder.
#[derive(Debug)]
pub(crate) struct Below {
    /// Files by their paths with every link followed, and links on the way to them, each at its own place.
    pub(crate) places: BTreeSet<PathBuf>,
    /// The folder, and where links below it lead.
    pub(crate) ends: BTreeSet<PathBuf>,
}

impl Instructing {
    /// The places of a home. All folders are given with every link followed.
    pub(super) fn new(
        [home, workspace, outside]: [PathBuf; 3],
        prompt_files: Vec<PathBuf>,
        writable: Vec<PathBuf>,
    ) -> Self {
        Self { home, workspace, outside, prompt_files, writable }
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
        let known = [self.look(self.of_workspace(), Known::default()), self.look_at_home()];
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
        let own = self.look(places, own);
        if own.is_cut {
            return Err(NotLookedAt::TooMany);
        }
        // No program can write in the home itself, so that nothing there grows by one, and none closes a folder there.
        let home = self.look_at_home();
        let is_written = |path: &PathBuf| self.writable.iter().any(|folder| path.starts_with(folder));
        let closed = own.closed.into_iter().chain(home.closed).map(|folder| real(&folder));
        // The outermost: what lies in it cannot be opened before.
        if let Some(folder) = closed.filter(is_written).min() {
            return Err(NotLookedAt::Closed(folder));
        }
        let files = own.files.into_iter().chain(home.files).filter_map(|path| path.canonicalize().ok());
        Ok(Entries {
            files: files.filter(is_written).collect(),
            links: own.links.into_iter().chain(home.links).filter(is_written).collect(),
        })
    }

    /// What lies below a folder that has every link followed. Links there are followed as for `entries`.
    ///
    /// # Errors
    /// When not all of that could be looked at.
    pub(super) fn below(&self, folder: &Path) -> Result<Below, NotLookedAt> {
        let Known { files, links, mut ends, is_cut, closed, .. } = self.look(vec![folder.to_owned()], Known::default());
        if is_cut {
            return Err(NotLookedAt::TooMany);
        }
        if let Some(folder) = closed.into_iter().next() {
            return Err(NotLookedAt::Closed(folder));
        }
        ends.insert(folder.to_owned());
        let files = files.into_iter().filter_map(|path| path.canonicalize().ok());
        Ok(Below { places: files.chain(links).collect(), ends })
    }

    /// Looks at the places of the home besides the workspace.
    fn look_at_home(&self) -> Known {
        let mut home = Known::default();
        let mut places = home.listed(&self.home);
        places.retain(|path| *path != self.workspace && *path != self.outside);
        self.look(places, home)
    }

    /// The places of the workspace.
    fn of_workspace(&self) -> Vec<PathBuf> {
        let files = self.prompt_files.iter().map(|file| self.workspace.join(file));
        FOLDERS.iter().map(|folder| self.workspace.join(folder)).chain(files).collect()
    }

    /// Looks at everything that lies at some places, and adds it to what is known. Links there are followed as far as
    /// to what tools and programs can change.
    fn look(&self, mut open: Vec<PathBuf>, mut known: Known) -> Known {
        let mut looked_at = 0;
        while let Some(path) = open.pop() {
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
            if entry.is_symlink() {
                known.links.extend(links_on(&path));
                known.ends.insert(real(&path));
            }
            let (about, found) = match (std::fs::metadata(&path), id(&path)) {
                (Ok(about), Some(found)) => (about, found),
                // Nothing opens behind a link that leads nowhere or to itself, but something may in a closed folder.
                (Err(error), _) if error.kind() == ErrorKind::PermissionDenied && self.is_inside(&path) => {
                    let end = real(&path);
                    known.note_closed(end.parent().unwrap_or(&end), &error);
                    continue;
                }
                _ => continue,
            };
            // What a link leads to is looked at once, and a whole home or workspace is no folder of instructions.
            if entry.is_symlink() && (self.is_around(&path) || !self.is_inside(&path)) {
                continue;
            }
            let is_new = known.ids.insert(found);
            if about.is_dir() && is_new {
                open.extend(known.listed(&path));
            } else if about.is_file() {
                // A second name of a file is another path.
                known.files.push(path);
            }
        }
        known
    }

    /// Whether a path leads to what tools or programs can change, also where that cannot be entered.
    fn is_inside(&self, path: &Path) -> bool {
        let end = real(path);
        let mut own = [&self.home, &self.workspace, &self.outside].into_iter().chain(&self.writable);
        own.any(|folder| end.starts_with(folder))
    }

    /// Whether a path leads to a folder that holds the home, the workspace or what strangers wrote.
    fn is_around(&self, path: &Path) -> bool {
        let around =
            |real: PathBuf| [&self.home, &self.workspace, &self.outside].iter().any(|own| own.starts_with(&real));
        path.canonicalize().is_ok_and(around)
    }
}

impl Known {
    /// The paths of what lies in a folder. One that is there and cannot be listed whole is noted.
    fn listed(&mut self, folder: &Path) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        match std::fs::read_dir(folder) {
            Ok(entries) => {
                for entry in entries {
                    match entry {
                        Ok(entry) => paths.push(entry.path()),
                        Err(error) => self.note_closed(folder, &error),
                    }
                }
            }
            Err(error) => self.note_closed(folder, &error),
        }
        paths
    }

    /// Notes a folder that could not be looked at, unless what was looked for is not there.
    fn note_closed(&mut self, folder: &Path, error: &Error) {
        if error.kind() != ErrorKind::NotFound {
            self.closed.insert(folder.to_owned());
        }
    }
}

/// The places of a home, with every link followed by `real`.
pub(super) fn places(home: &Home, real: impl Fn(&Path) -> PathBuf) -> [PathBuf; 3] {
    [real(home.path()), real(&home.workspace()), real(&home.outside())]
}

/// A path as disks that ignore case compare it.
fn folded(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().to_uppercase().to_lowercase())
}

/// Which file a path leads to, and how many names it has. Nothing is opened: to close any file of the database would give back
/// every lock that this process holds on it (`fcntl(2)`), and the next process to leave would take its log away.
#[cfg(unix)]
fn opened(path: &Path) -> Option<(FileId, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let about = std::fs::metadata(path).ok()?;
    Some(((about.dev(), about.ino()), about.nlink()))
}

#[cfg(not(unix))]
fn opened(_path: &Path) -> Option<(FileId, u64)> {
    None
}

/// Which file or folder is at a path; links are followed.
fn id(path: &Path) -> Option<FileId> {
    opened(path).map(|(id, _)| id)
}

/// Whether a file has a second name.
pub(super) fn has_other_name(path: &Path) -> bool {
    opened(path).is_some_and(|(_, names)| names > 1) && path.is_file()
}
