//! What runs after a yes is what was hashed: the program runs from its copy, and other files that the call names are covered by
//! theirs where the program may not write them, or compared with them once more before it starts.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use limpid_config::regular_file;
use rustix::mount::mount_bind_recursive;

use super::mounts::{Missing, SYSTEM, made, new, place, put_over, seal};
use crate::exec::confinement::Confinement;

/// Where the copies of programs are. Nobody outside of the namespaces can change what lies where in it.
pub(super) const COPIES: &str = "/run/approved";

/// Files of a call, each with its copy, which was opened while the machine's files could be seen.
pub(super) struct Frozen<'a>(Vec<Copied<'a>>);

struct Copied<'a> {
    path: &'a Path,
    copy: File,
    kind: Kind,
}

/// What becomes of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It may be the program: its copy is at a place of its own.
    Apart(usize),
    /// Its copy covers it.
    Covered,
    /// The program may write it, so it is compared.
    Compared,
    /// The program does not see it.
    Unseen,
}

impl<'a> Frozen<'a> {
    pub(super) fn open(confinement: &'a Confinement) -> io::Result<Self> {
        let copied = |(at, (path, copy)): (usize, &'a (PathBuf, PathBuf))| {
            let kind =
                if at == 0 && !is_of_system(confinement, path) { Kind::Apart(at) } else { kind_of(confinement, path) };
            Ok(Copied { path, copy: regular_file::open(copy)?, kind })
        };
        confinement.frozen.iter().enumerate().map(copied).collect::<io::Result<_>>().map(Self)
    }

    /// Puts the copies into a root that is put together.
    pub(super) fn put(&self) -> io::Result<()> {
        for Copied { path, copy, kind } in &self.0 {
            let found = match kind {
                Kind::Apart(at) => made(&new(&copy_of(path, *at)), Missing::File)?,
                Kind::Covered => place(&new(path)).map_err(|_| changed(path))?,
                Kind::Compared | Kind::Unseen => continue,
            };
            let found = File::from(found);
            if !found.metadata()?.is_file() {
                return Err(changed(path));
            }
            put_over(&found.into(), |stage| {
                mount_bind_recursive(format!("/proc/self/fd/{}", copy.as_raw_fd()), stage)?;
                seal(stage, false, false)
            })?;
        }
        Ok(())
    }

    /// Looks once more at each file, as the program will see it.
    pub(super) fn check(self) -> io::Result<()> {
        for Copied { path, copy, kind } in self.0 {
            let is_same = match kind {
                Kind::Covered => {
                    let (about, wanted) = (path.symlink_metadata()?, copy.metadata()?);
                    (about.dev(), about.ino()) == (wanted.dev(), wanted.ino())
                }
                Kind::Compared => regular_file::open(path).is_ok_and(|file| are_equal(file, copy).unwrap_or(false)),
                Kind::Apart(_) | Kind::Unseen => true,
            };
            if !is_same {
                return Err(changed(path));
            }
        }
        Ok(())
    }
}

/// Where the copy of a program is in its root, when it runs from there. It is the first of the files.
pub(super) fn copy_of_program(confinement: &Confinement, program: &Path) -> Option<PathBuf> {
    let (path, _) =
        confinement.frozen.first().filter(|(path, _)| path == program && !is_of_system(confinement, path))?;
    Some(copy_of(path, 0))
}

/// Whether the files of a call that run in place are still what they were, on a system without mounts of its own.
///
/// # Errors
/// A sentence that names one that is not.
pub(super) fn unchanged(confinement: &Confinement, program: &Path) -> Result<(), String> {
    for (path, copy) in confinement.frozen.iter().filter(|(path, _)| path != program) {
        let both = regular_file::open(path).and_then(|file| Ok((file, regular_file::open(copy)?)));
        if !both.and_then(|(file, copy)| are_equal(file, copy)).unwrap_or(false) {
            return Err(changed(path).to_string());
        }
    }
    Ok(())
}

fn copy_of(path: &Path, at: usize) -> PathBuf {
    Path::new(COPIES).join(at.to_string()).join(path.file_name().unwrap_or_default())
}

/// Whether a file is one of the system's, which nobody but its administrator changes, and in none of the folders of its view.
fn is_of_system(confinement: &Confinement, path: &Path) -> bool {
    let is_in = |folder: &Path| path.starts_with(folder);
    let mut places = confinement.read.iter().chain(&confinement.write).map(|place| place.path.as_path());
    let mut hidden = confinement.hidden.iter().map(PathBuf::as_path);
    SYSTEM.iter().any(|folder| is_in(folder.as_ref())) && !places.any(is_in) && !hidden.any(is_in)
}

/// The innermost place of the view that a path lies in decides.
fn kind_of(confinement: &Confinement, path: &Path) -> Kind {
    let system = SYSTEM.iter().map(|folder| (Path::new(folder), Kind::Covered));
    let read = confinement.read.iter().map(|place| (place.path.as_path(), Kind::Covered));
    let write = confinement.write.iter().map(|place| (place.path.as_path(), Kind::Compared));
    let hidden = confinement.hidden.iter().chain(&confinement.covered).map(|folder| (folder.as_path(), Kind::Unseen));
    // Of a hidden folder and a place at one path the place counts: it lies there.
    let around = hidden.chain(system).chain(read).chain(write).filter(|(folder, _)| path.starts_with(folder));
    around.max_by_key(|(folder, _)| folder.components().count()).map_or(Kind::Unseen, |(_, kind)| kind)
}

fn are_equal(mut one: File, mut other: File) -> io::Result<bool> {
    let (mut first, mut second) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        let count = one.read(&mut first)?;
        if count == 0 {
            return Ok(other.read(&mut second)? == 0);
        }
        if other.read_exact(&mut second[..count]).is_err() || first[..count] != second[..count] {
            return Ok(false);
        }
    }
}

fn changed(path: &Path) -> io::Error {
    io::Error::other(format!("{} is not the file any more that was approved", path.display()))
}
