//! Where the folder of a skill is written: below a folder that no program can move, over no link.

use std::io;
use std::path::{Path, PathBuf};

use limpid_config::open_folder::OpenFolder;
use limpid_config::{FilesConfig, Home};

use crate::error::AgentError;
use crate::tools::{links_on, real};

/// Where a skill's folder is. It is opened, made and removed from here alone, so that nothing is written where a link
/// of a program's leads.
#[derive(Clone, Debug)]
pub(crate) struct SkillPlace {
    /// A folder that no program can move.
    root: PathBuf,
    /// The way below it, where a program may have laid links.
    way: PathBuf,
    /// The same place as its owner knows it.
    path: PathBuf,
}

impl SkillPlace {
    /// The folder of a name in one of the home that skills stand in. That one may be a link of the owner's; a link that
    /// lies where programs write may be theirs.
    pub(crate) fn new((home, files): (&Home, &FilesConfig), shelf: &Path, name: &str) -> Result<Self, AgentError> {
        let (writable, path) = (Writable::new(home, files), shelf.join(name));
        let shelf = writable.home.join(shelf.strip_prefix(home.path()).unwrap_or(shelf));
        let real = real(&shelf);
        // Links that lead nowhere end at the root.
        let is_nowhere = real.parent().is_none();
        if is_nowhere || links_on(&shelf).iter().any(|link| writable.around(link).is_some()) {
            let why = "it lies behind a link that programs can lay, so nothing there was touched; change it where it lies, or \
                       remove the link";
            return Err(AgentError::file(path)(io::Error::other(why)));
        }
        // Whoever writes a folder can move what is in it.
        let root = writable.around(&real).unwrap_or(&real).to_owned();
        let way = real.strip_prefix(&root).unwrap_or(Path::new("")).join(name);
        Ok(Self { root, way, path })
    }

    /// The folder as its owner knows it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder, if it is there.
    pub(super) fn open(&self) -> io::Result<OpenFolder> {
        OpenFolder::at(&self.root)?.below(&self.way)
    }

    /// The folder, which is made if there is none.
    pub(super) fn make(&self) -> io::Result<OpenFolder> {
        OpenFolder::made_at(&self.root)?.made_below(&self.way)
    }

    /// Takes the folder away. One that is only a link to another one loses the link, not what it leads to.
    pub(crate) fn remove(&self) -> Result<(), AgentError> {
        let removed = OpenFolder::at(&self.root).and_then(|root| root.remove(&self.way));
        removed.map_err(AgentError::file(&self.path))
    }
}

/// Where programs may write.
pub(super) struct Writable {
    /// The home, of which they write the workspace alone.
    home: PathBuf,
    folders: Vec<PathBuf>,
}

impl Writable {
    pub(super) fn new(home: &Home, files: &FilesConfig) -> Self {
        let folders = std::iter::once(real(&home.workspace())).chain(files.grants.iter().map(|folder| real(folder)));
        Self { home: real(home.path()), folders: folders.collect() }
    }

    /// The outermost folder that programs may write and that a path lies in, which has every link followed.
    pub(super) fn around(&self, path: &Path) -> Option<&Path> {
        // Of a grant around the home, the home is no part.
        let is_around = |folder: &&PathBuf| {
            path.starts_with(folder) && (folder.starts_with(&self.home) || !path.starts_with(&self.home))
        };
        self.folders.iter().filter(is_around).min_by_key(|folder| folder.components().count()).map(PathBuf::as_path)
    }
}
