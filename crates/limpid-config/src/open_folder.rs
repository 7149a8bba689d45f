//! Folders in which programs may lay links meanwhile. Each is opened once, and what is done in it is done in this very
//! folder, whatever its path leads to by then; no way below it leads over a link.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, mkdirat, open, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use crate::ids::{Ids, hex};
use crate::regular_file::Opened;

/// What is said where a way cannot be gone.
const NO_FOLDER: &str = "a link or a file stands where a folder of it would be, so nothing there was touched; change it where it \
                         lies, or remove the link or file";

/// A folder that is open.
#[derive(Debug)]
pub struct OpenFolder(OwnedFd);

/// What stands under a name in a folder, itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, whatever it leads to.
    Link,
    /// A pipe, a device or a socket.
    Other,
}

impl OpenFolder {
    /// The folder at a path. Links on it are followed, so they must be the owner's.
    ///
    /// # Errors
    /// As the system says.
    pub fn at(path: &Path) -> io::Result<Self> {
        Ok(Self(open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?))
    }

    /// The same; a missing one is made, for the owner alone.
    ///
    /// # Errors
    /// As the system says.
    pub fn made_at(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        Self::at(path)
    }

    /// A folder below this one.
    ///
    /// # Errors
    /// As the system says, and for a way over a link or out of the folder.
    pub fn below(&self, way: &Path) -> io::Result<Self> {
        self.walked(way, false)
    }

    /// The same; missing ones are made, for the owner alone.
    ///
    /// # Errors
    /// As [`OpenFolder::below`].
    pub fn made_below(&self, way: &Path) -> io::Result<Self> {
        self.walked(way, true)
    }

    fn walked(&self, way: &Path, make: bool) -> io::Result<Self> {
        let mut folder = Self(self.0.try_clone()?);
        for part in way.components() {
            let Component::Normal(name) = part else { return Err(io::ErrorKind::InvalidInput.into()) };
            if make {
                match mkdirat(&folder.0, name, Mode::RWXU) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            folder = folder.inner(name)?;
        }
        Ok(folder)
    }

    /// A folder in this one, but none that a link leads to.
    fn inner(&self, name: &OsStr) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&self.0, name, flags, Mode::empty()) {
            Ok(folder) => Ok(Self(folder)),
            Err(Errno::NOTDIR | Errno::LOOP) => Err(io::Error::other(NO_FOLDER)),
            Err(error) => Err(error.into()),
        }
    }

    /// The names in it, and what each is.
    ///
    /// # Errors
    /// As the system says.
    pub fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            match self.kind(name) {
                Ok(kind) => entries.push((name.to_owned(), kind)),
                // It went meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(entries)
    }

    fn kind(&self, name: &OsStr) -> io::Result<EntryKind> {
        let about = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(match FileType::from_raw_mode(about.st_mode) {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Folder,
            FileType::Symlink => EntryKind::Link,
            _ => EntryKind::Other,
        })
    }

    /// A regular file below it.
    ///
    /// # Errors
    /// As the system says, and for a link, also on the way.
    pub fn file(&self, way: &Path) -> io::Result<Opened> {
        let (parent, name) = split(way)?;
        // See [`regular_file::opened`](crate::regular_file::opened).
        #[cfg(target_os = "linux")]
        let found = OFlags::PATH;
        #[cfg(not(target_os = "linux"))]
        let found = OFlags::RDONLY | OFlags::NONBLOCK;
        let flags = found | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.below(parent)?.0, name, flags, Mode::empty())?;
        Opened::regular(&File::from(file))
    }

    /// Puts bytes in the place of whatever stands there, all of them or nothing, for the owner alone. Missing folders
    /// are made. `runs` says whether the file may be run.
    ///
    /// # Errors
    /// As the system says, and for a link on the way.
    pub fn write(&self, way: &Path, bytes: &[u8], runs: bool, ids: &dyn Ids) -> io::Result<()> {
        let (parent, name) = split(way)?;
        let folder = self.made_below(parent)?;
        // Nobody knows the name before, and what stands under it already is not written over.
        let new = format!(".{}.partial", hex(ids));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = if runs { Mode::RWXU } else { Mode::RUSR | Mode::WUSR };
        let mut file = File::from(openat(&folder.0, &new, flags, mode)?);
        let filled = file.write_all(bytes).and_then(|()| file.sync_all());
        let written = filled.and_then(|()| Ok(renameat(&folder.0, &new, &folder.0, name)?));
        if written.is_err() {
            // What cannot be removed now is no worse than what went wrong before.
            let _ = unlinkat(&folder.0, &new, AtFlags::empty());
        }
        written
    }

    /// Takes away what stands there: of a link the link alone, of a folder all that is in it, of which no link is
    /// followed either.
    ///
    /// # Errors
    /// As the system says, and for a link on the way.
    pub fn remove(&self, way: &Path) -> io::Result<()> {
        let (parent, name) = split(way)?;
        self.below(parent)?.remove_entry(name)
    }

    fn remove_entry(&self, name: &OsStr) -> io::Result<()> {
        if self.kind(name)? != EntryKind::Folder {
            return Ok(unlinkat(&self.0, name, AtFlags::empty())?);
        }
        let inner = self.inner(name)?;
        for (name, _) in inner.entries()? {
            inner.remove_entry(&name)?;
        }
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }
}

/// The folder that a way ends in, and the name there.
fn split(way: &Path) -> io::Result<(&Path, &OsStr)> {
    way.parent().zip(way.file_name()).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct SameId;

    impl Ids for SameId {
        fn draw(&self) -> u64 {
            7
        }
    }

    // SEC-062
    #[test]
    fn nothing_is_read_written_or_removed_over_a_link() {
        let home = tempfile::tempdir().unwrap();
        let [root, other] = ["root", "other"].map(|name| home.path().join(name));
        for folder in [&root, &other] {
            std::fs::create_dir_all(folder.join("in")).unwrap();
            std::fs::write(folder.join("in/file"), "mine").unwrap();
        }
        symlink(&other, root.join("link")).unwrap();
        symlink(other.join("in/file"), root.join("to")).unwrap();
        let folder = OpenFolder::at(&root).unwrap();
        for way in ["link/in/file", "../other/in/file", "link/new"] {
            let way = Path::new(way);
            assert!(folder.file(way).is_err() && folder.remove(way).is_err(), "{way:?}");
            assert!(folder.write(way, b"x", false, &SameId).is_err(), "{way:?}");
        }
        assert!(folder.file(Path::new("to")).is_err() && folder.below(Path::new("link")).is_err());
        assert_eq!(folder.file(Path::new("in/file")).unwrap().bytes(9).unwrap(), b"mine");
        // What is written stands in the place of a link, and what is removed is the link.
        folder.write(Path::new("to"), b"new", false, &SameId).unwrap();
        folder.remove(Path::new("link")).unwrap();
        symlink(&other, root.join("in/link")).unwrap();
        folder.remove(Path::new("in")).unwrap();
        assert_eq!(std::fs::read_to_string(other.join("in/file")).unwrap(), "mine");
        assert_eq!(std::fs::read_to_string(root.join("to")).unwrap(), "new");
        assert_eq!(folder.entries().unwrap(), [(OsString::from("to"), EntryKind::File)]);
    }

    // SEC-062
    #[test]
    fn a_link_under_the_name_that_is_drawn_is_not_written_through() {
        let home = tempfile::tempdir().unwrap();
        let [root, own] = ["root", "own"].map(|name| home.path().join(name));
        std::fs::write(&own, "mine").unwrap();
        let folder = OpenFolder::made_at(&root).unwrap();
        symlink(&own, root.join(format!(".{}.partial", hex(&SameId)))).unwrap();
        assert!(folder.write(Path::new("file"), b"x", false, &SameId).is_err());
        assert_eq!(std::fs::read_to_string(&own).unwrap(), "mine");
    }
}
