//! What was come upon in a look at what instructs the agent.

use std::collections::BTreeSet;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use super::elsewhere::Elsewhere;
use super::ids::FileId;

/// What lies at the places that instruct. Every path has every link followed, but for that of a link itself.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) ids: BTreeSet<FileId>,
    /// Of these, what the owner's own links lead to.
    pub(super) owners: BTreeSet<FileId>,
    pub(super) files: Vec<PathBuf>,
    pub(super) links: BTreeSet<PathBuf>,
    /// Where the links lead that were come upon, be it to nothing.
    pub(super) ends: BTreeSet<PathBuf>,
    /// Folders that are none of ours.
    pub(super) elsewhere: Elsewhere,
    /// Files to which the owner's own links lead, that no program writes by this name but may by a second one.
    pub(super) named_twice: BTreeSet<PathBuf>,
    /// Links of the owner's to folders around the home, the workspace or `outside/`, below which nothing was looked at.
    pub(super) around: BTreeSet<PathBuf>,
    /// Whether there was more than is looked at.
    pub(super) is_cut: bool,
    /// The same of a folder that is none of ours.
    pub(super) is_cut_elsewhere: bool,
    /// Folders that could not be looked at: what lies in them may open by its name all the same.
    pub(super) closed: BTreeSet<PathBuf>,
}

impl Known {
    /// The paths of what lies in a folder. One that is there and cannot be listed whole is noted.
    pub(super) fn listed(&mut self, folder: &Path) -> Vec<PathBuf> {
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
    pub(super) fn note_closed(&mut self, folder: &Path, error: &Error) {
        if error.kind() != ErrorKind::NotFound {
            self.closed.insert(folder.to_owned());
        }
    }
}

/// What lies below a folder.
#[derive(Debug)]
pub(crate) struct Below {
    /// Files by their paths with every link followed, and links on the way to them, each at its own place.
    pub(crate) places: BTreeSet<PathBuf>,
    /// The folder, and where links below it lead, in order; none lies in another.
    ends: Vec<PathBuf>,
}

impl Below {
    /// What was come upon below a folder.
    pub(super) fn new(folder: &Path, Known { files, links, mut ends, .. }: Known) -> Self {
        ends.insert(folder.to_owned());
        let mut outermost: Vec<PathBuf> = Vec::new();
        // What lies in a folder comes right after it.
        for end in ends {
            if !outermost.last().is_some_and(|around| end.starts_with(around)) {
                outermost.push(end);
            }
        }
        Self { places: files.into_iter().chain(links).collect(), ends: outermost }
    }

    /// Whether a path lies in the folder, or where a link below it leads.
    pub(crate) fn is_around(&self, path: &Path) -> bool {
        // Since none lies in another, the one around a path is the last that comes before it.
        let before = self.ends.partition_point(|end| end.as_path() <= path);
        self.ends[..before].last().is_some_and(|end| path.starts_with(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-061
    #[test]
    fn what_lies_around_a_path_is_found_among_everything_that_lies_below() {
        let ends = ["/w/lib", "/w/lib-2/x", "/w/lib/deep/er", "/w/skills/tea/a", "/x"].map(PathBuf::from).into();
        let below = Below::new(Path::new("/w/skills/tea"), Known { ends, ..Known::default() });
        for path in ["/w/lib", "/w/lib/a.sh", "/w/lib/z/a.sh", "/w/lib-2/x/a", "/w/skills/tea/b", "/x/a"] {
            assert!(below.is_around(Path::new(path)), "{path}");
        }
        for path in ["/", "/w", "/w/lib-2", "/w/lib-2/y", "/w/lib.sh", "/w/skills/tea2", "/w/a", "/y"] {
            assert!(!below.is_around(Path::new(path)), "{path}");
        }
    }
}
