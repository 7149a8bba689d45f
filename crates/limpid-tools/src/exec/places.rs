//! The folders of a program's view, each resolved once to a handle that stays open.

mod confined;
mod resolved;

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use limpid_core::Trust;

use super::command::Command;
use super::confinement::Place;
use super::programs::Programs;
use super::toolchains::Parts;
use super::view::View;

/// The folders of programs, resolved when the first program runs and the same from then on.
#[derive(Clone, Debug, Default)]
pub struct Places(Arc<OnceLock<Resolved>>);

/// What was found of the folders.
#[derive(Debug)]
struct Resolved {
    folders: Vec<Folder>,
    /// Sentences about folders that are not used.
    left_out: Vec<String>,
}

/// One folder, with the handle that keeps its number from being given to another one.
#[derive(Debug)]
struct Folder {
    place: Place,
    kind: Kind,
    handle: File,
}

/// Which part of which view a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The owner's, and whether it may be changed.
    High { write: bool },
    /// Where strangers' text may be.
    Low,
    /// The low place that programs write.
    Outside,
    /// Programs, which both views read.
    Programs,
    /// What a language needs, which both views read, but for files with credentials.
    Toolchain,
}

impl Folder {
    /// That it was moved, if it was. Where it is now, a view may show it that must not.
    fn moved(&self) -> Option<String> {
        let now = std::fs::read_link(format!("/proc/self/fd/{}", self.handle.as_raw_fd())).ok()?;
        let is_gone = now.to_string_lossy().ends_with(" (deleted)");
        (now != self.place.path && !is_gone).then(|| {
            let (named, now) = (self.place.named.display(), now.display());
            format!(
                "`{named}` is not the one any more that was granted: that one is at `{now}` now. Nothing was run. Put it \
                 back, or change the folders in limpid.toml"
            )
        })
    }
}

impl Kind {
    pub(super) fn is_low(self) -> bool {
        matches!(self, Self::Low | Self::Outside)
    }

    /// Whether a view shows folders of this kind.
    fn is_seen(self, view: View) -> bool {
        match self {
            // Of the owner's own scripts a program sees the one that it is.
            Self::High { .. } | Self::Programs => view.reads_high(),
            Self::Low | Self::Outside => view.reads_low(),
            Self::Toolchain => true,
        }
    }

    /// Whether a program in this view may change what is in folders of this kind.
    fn is_written(self, view: View) -> bool {
        match self {
            Self::High { write } => write && view.writes_high(),
            Self::Outside => view.writes_outside(),
            Self::Low | Self::Programs | Self::Toolchain => false,
        }
    }
}

impl Programs {
    /// The folders, each by the path that the owner wrote and the one without links, and what kind each is of.
    pub(super) fn folders(&self) -> impl Iterator<Item = ([&Path; 2], Kind)> {
        let folders = self.resolved().folders.iter();
        folders.map(|folder| ([folder.place.named.as_path(), folder.place.path.as_path()], folder.kind))
    }

    /// Sentences about granted folders that programs do not get.
    pub fn left_out(&self) -> Vec<String> {
        self.resolved().left_out.clone()
    }

    /// Files with credentials that programs do not get, though they lie in a folder of `[exec] toolchains`.
    pub fn kept_back(&self) -> Vec<PathBuf> {
        self.toolchain_parts().kept_back
    }

    /// What programs get of the toolchains now: other files may be in them than at the last call.
    fn toolchain_parts(&self) -> Parts {
        let mut parts = Parts::default();
        for folder in self.resolved().folders.iter().filter(|folder| folder.kind == Kind::Toolchain) {
            parts.add(&folder.place.path, Path::new(&format!("/proc/self/fd/{}", folder.handle.as_raw_fd())));
        }
        parts
    }

    /// Resolves the folders now, so that nothing can be put in their place before the first program. In a home that is
    /// still being made this is left to the first program.
    pub fn resolve(&self) {
        if self.grants.workspace().folder.exists() && self.outside.exists() {
            self.resolved();
        }
    }

    /// Whether a path without links lies where strangers' text may be.
    pub(super) fn is_low_place(&self, path: &Path) -> bool {
        self.kind_of(path).is_some_and(Kind::is_low)
    }

    /// What kind the innermost folder around a path without links is of.
    pub(super) fn kind_of(&self, path: &Path) -> Option<Kind> {
        self.innermost(path).map(|(_, kind)| kind)
    }

    /// The innermost folder around a path, by the one that the owner wrote or the one without links.
    pub(super) fn innermost(&self, path: &Path) -> Option<(&Path, Kind)> {
        let around = self.folders().filter(|(paths, _)| paths.iter().any(|folder| path.starts_with(folder)));
        let innermost = around.max_by_key(|([_, real], _)| real.components().count());
        innermost.map(|([_, real], kind)| (real, kind))
    }

    /// Who may have written what a program prints: whoever wrote what it can read and, where the call names a package, whoever
    /// published that.
    pub fn trust(&self, view: View, command: &Command) -> Trust {
        match view {
            View::Low { .. } | View::Apart | View::Enclosed { .. } | View::Reading { .. } => Trust::Outside,
            View::High { .. } if self.names_package(command) => Trust::Outside,
            View::High { .. } => {
                let own = self.grants.roots().map(|root| root.trust).filter(|trust| !trust.is_foreign());
                own.fold(Trust::Owner, Trust::join)
            }
        }
    }
}
