//! Which folders may be touched, and which of them a path means.
//!
//! # Layout
//! - this file: the folders.
//! - `place`: the place that a path means.
//! - `names`: names that stand for folders, and what places are called.
//! - `apart`: what of the home is in no grant.

mod names;
mod place;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use limpid_config::named_folder::{FolderResolver, NamedFolder, NotUsed};
use limpid_core::Trust;

/// The folders that tools may touch; the first one is the workspace. Relative paths begin there, or at a folder that was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grants {
    workspace: Root,
    others: Vec<Granted>,
    /// A folder of ours of which nothing but our own roots is granted, whatever lies around it.
    apart: Option<PathBuf>,
    /// Where relative paths begin, if not at the workspace.
    base: Option<PathBuf>,
    /// Names that stand for the first of some folders that has what is asked for.
    short: Vec<(String, Vec<PathBuf>)>,
    /// What folders that aren't the owner's are called.
    named: Vec<(String, PathBuf)>,
    /// Where the locks of folders are.
    locks: PathBuf,
}

/// One granted folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The folder, absolute.
    pub folder: PathBuf,
    /// Whether it may be changed.
    pub write: bool,
    /// Who wrote what lies in it, as far as is known.
    pub trust: Trust,
}

/// A folder besides the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Granted {
    root: Root,
    /// Which folder the owner granted, as soon as it is there; none of a folder of ours, which nobody else can move.
    is: Option<Arc<OnceLock<FileId>>>,
}

/// A file's or folder's number on its disk, and the disk's.
pub(super) type FileId = (u64, u64);

/// What a path means: a granted folder and the way from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The folder.
    pub root: &'a Root,
    /// The way from the folder, without `..`; `.` is the folder itself.
    pub path: PathBuf,
    /// The path as it was asked for.
    pub asked: String,
}

impl Grants {
    /// The workspace and nothing else: the default. `locks` is a folder for locks that no program sees.
    pub fn new(workspace: impl Into<PathBuf>, locks: impl Into<PathBuf>) -> Self {
        Self {
            workspace: Root { folder: workspace.into(), write: true, trust: Trust::File },
            others: Vec::new(),
            apart: None,
            base: None,
            short: Vec::new(),
            named: Vec::new(),
            locks: locks.into(),
        }
    }

    /// Grants a folder of ours besides.
    #[must_use]
    pub fn with(mut self, root: Root) -> Self {
        self.others.push(Granted { root, is: None });
        self
    }

    /// Grants a folder of the owner's: the one that is there now and no other that is put in its place.
    #[must_use]
    pub fn with_granted(mut self, root: Root) -> Self {
        let is = OnceLock::new();
        // A link is no folder, whatever it leads to.
        if let Some(id) = std::fs::symlink_metadata(&root.folder).ok().and_then(|about| id(&about)) {
            let _ = is.set(id);
        }
        self.others.push(Granted { root, is: Some(Arc::new(is)) });
        self
    }

    /// Keeps a folder apart that holds folders of ours: what else is in it is in no grant, not even in one around it.
    #[must_use]
    pub fn apart_from(mut self, home: impl Into<PathBuf>) -> Self {
        self.apart = Some(home.into());
        self
    }

    /// Lets `name` stand for folders that are granted: a path that begins with it is looked for in each, in order.
    #[must_use]
    pub fn with_short(mut self, name: impl Into<String>, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.short.push((name.into(), folders.into_iter().collect()));
        self
    }

    /// Calls a granted folder by a name of ours, for how it is called on the disk is a stranger's text. A path that begins with the
    /// name is written out before anybody is asked about it.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>, folder: PathBuf) -> Self {
        self.named.push((name.into(), folder));
        self
    }

    /// Has relative paths begin at a folder; whether it is granted is another matter.
    #[must_use]
    pub fn with_base(mut self, folder: Option<PathBuf>) -> Self {
        self.base = folder;
        self
    }

    /// The same folders, none of which may be changed.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        for root in std::iter::once(&mut self.workspace).chain(self.others.iter_mut().map(|other| &mut other.root)) {
            root.write = false;
        }
        self
    }

    /// The workspace.
    pub fn workspace(&self) -> &Root {
        &self.workspace
    }

    /// Where the locks of folders are.
    pub(super) fn locks(&self) -> &Path {
        &self.locks
    }

    /// Every folder, the workspace first.
    pub fn roots(&self) -> impl Iterator<Item = &Root> {
        std::iter::once(&self.workspace).chain(self.others.iter().map(|other| &other.root))
    }

    /// Opens a folder that settings name, over no link that somebody else could have laid.
    ///
    /// # Errors
    /// Why it is not used.
    pub(crate) fn open_named(&self, folder: &Path) -> Result<NamedFolder, NotUsed> {
        let home = self.apart.as_deref().or_else(|| self.workspace.folder.parent()).unwrap_or(Path::new("/"));
        FolderResolver::new(home, self.roots().map(|root| root.folder.clone())).open(folder)
    }

    /// A root's path without links. Over a link that somebody else could have laid no folder is the owner's, while one of a stranger's is
    /// theirs wherever it leads.
    pub(crate) fn real(&self, root: &Root) -> Option<PathBuf> {
        match self.open_named(&root.folder) {
            Ok(opened) => Some(opened.path),
            Err(_) => root.folder.canonicalize().ok().filter(|_| root.trust.is_foreign()),
        }
    }

    /// Whether the folder that was opened for a root is the one that was granted.
    pub(super) fn is_what_was_granted(&self, root: &Root, opened: FileId) -> bool {
        let granted = self.others.iter().find(|other| other.root == *root).and_then(|other| other.is.as_ref());
        granted.is_none_or(|is| *is.get_or_init(|| opened) == opened)
    }

    /// Whether a folder is the owner's, so that somebody could put another in its place.
    pub(super) fn is_granted(&self, root: &Root) -> bool {
        self.others.iter().any(|other| other.root == *root && other.is.is_some())
    }

    /// Whether a folder lies in one that isn't the owner's: the innermost granted folder around it. One that is not there does not.
    pub fn is_strangers(&self, folder: &Path) -> bool {
        let Ok(real) = folder.canonicalize() else { return false };
        let around = self.roots().filter_map(|root| {
            let folder = self.real(root).filter(|folder| real.starts_with(folder))?;
            Some((folder.components().count(), root.trust))
        });
        // One that is granted under two names, once as the owner's, is theirs.
        let innermost = around.max_by_key(|(depth, trust)| (*depth, !trust.is_foreign()));
        innermost.is_some_and(|(_, trust)| trust.is_foreign())
    }
}

/// A path with every link followed. What is not there yet lies where its nearest folder leads.
pub(crate) fn without_links(path: &Path) -> Option<PathBuf> {
    let (around, mut real) = path.ancestors().find_map(|around| Some((around, around.canonicalize().ok()?)))?;
    // An empty rest would add a slash, and a file is at no path that ends in one.
    real.extend(path.strip_prefix(around).ok()?);
    Some(real)
}

#[cfg(unix)]
fn id(about: &std::fs::Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt as _;
    Some((about.dev(), about.ino()))
}

#[cfg(not(unix))]
fn id(_about: &std::fs::Metadata) -> Option<FileId> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn grants() -> Grants {
        let root = |folder: &str, write| Root { folder: folder.into(), write, trust: Trust::Outside };
        Grants::new("/none/home/workspace", "/none/home/data/locks")
            .with(root("/none/notes", true))
            .with(root("/none/notes/old", false))
            .with(root("/none/home/skills", false))
    }

    // SEC-059 SEC-065
    #[test]
    fn a_folder_is_a_strangers_by_the_innermost_granted_folder_around_it() {
        let disk = tempfile::tempdir().unwrap();
        let at = |name: &str| disk.path().join(name);
        for folder in ["home/workspace", "theirs/sub/mine/sub", "theirs-not"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        let root = |name: &str, trust| Root { folder: at(name), write: true, trust };
        let grants = Grants::new(at("home/workspace"), at("home/data/locks"))
            .with(root("theirs", Trust::Outside))
            .with(root("theirs/sub/mine", Trust::File));
        let found = |name: &str| grants.is_strangers(&at(name));
        assert!(found("theirs") && found("theirs/sub"));
        for own in ["theirs/sub/mine", "theirs/sub/mine/sub", "theirs-not", "theirs/gone", "home/workspace"] {
            assert!(!found(own), "{own}");
        }
    }
}
