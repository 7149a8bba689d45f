//! What stands at a place, looked at over no link. Whoever judged a place knows its path with every link followed; a link that is on the
//! way by then was laid since, and leads to something that nobody judged.

use std::io;
use std::path::{Path, PathBuf};

use crate::regular_file::Opened;

/// What stands at a place itself.
#[derive(Debug)]
pub enum Standing {
    /// A link, and where it leads.
    Link(PathBuf),
    /// A regular file, open.
    File(Opened),
}

/// What stands at an absolute path, over no link on the way; none for nothing, a folder, a pipe or a device.
///
/// # Errors
/// As the system says, and where a link is on the way.
pub fn standing(place: &Path) -> io::Result<Option<Standing>> {
    match at(place) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidInput
            ) =>
        {
            Ok(None)
        }
        found => found.map(Some),
    }
}

/// The regular file at an absolute path; none for nothing, a folder, a pipe or a device.
///
/// # Errors
/// As [`standing`], and for a link.
pub fn file(place: &Path) -> io::Result<Option<Opened>> {
    match standing(place)? {
        Some(Standing::Link(_)) => Err(led_away()),
        Some(Standing::File(file)) => Ok(Some(file)),
        None => Ok(None),
    }
}

/// Moves what stands at a place to another one, over no link on either way. A link that stands there is moved itself.
///
/// # Errors
/// As the system says, and where a link is on a way.
#[cfg(target_os = "linux")]
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let ((from, old), (to, new)) = (folder_of(from)?, folder_of(to)?);
    Ok(rustix::fs::renameat(from, old, to, new)?)
}

/// Moves what stands at a place to another one.
///
/// # Errors
/// As the system says.
#[cfg(not(target_os = "linux"))]
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)
}

fn led_away() -> io::Error {
    io::Error::other("its path contains a link, which is not followed here")
}

#[cfg(target_os = "linux")]
fn at(place: &Path) -> io::Result<Standing> {
    use rustix::fs::{Mode, OFlags, ResolveFlags, openat2, readlinkat};
    use rustix::io::Errno;
    use std::os::unix::ffi::OsStringExt as _;

    let (folder, name) = folder_of(place)?;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    match openat2(&folder, name, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(file) => Ok(Standing::File(Opened::regular(&file.into())?)),
        Err(Errno::LOOP) => {
            // Read in the same folder. One that is no link any more was exchanged meanwhile.
            let target = readlinkat(&folder, name, Vec::new()).map_err(|_| led_away())?;
            Ok(Standing::Link(PathBuf::from(std::ffi::OsString::from_vec(target.into_bytes()))))
        }
        Err(error) => Err(error.into()),
    }
}

/// The folder of a place, opened over no link, and the name in it.
#[cfg(target_os = "linux")]
fn folder_of(place: &Path) -> io::Result<(std::os::fd::OwnedFd, &std::ffi::OsStr)> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;

    let parts = place.parent().zip(place.file_name()).filter(|_| place.is_absolute());
    let (folder, name) = parts.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(folder) => Ok((folder, name)),
        Err(Errno::LOOP) => Err(led_away()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn at(place: &Path) -> io::Result<Standing> {
    match std::fs::read_link(place) {
        Ok(target) => Ok(Standing::Link(target)),
        Err(_) => Opened::at_no_link(place).map(Standing::File),
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    use rustix::fs::{CWD, RenameFlags, renameat_with};

    use super::*;

    /// A project beside a private folder, both with a diary, and links from the one to the other.
    fn disk() -> (tempfile::TempDir, PathBuf) {
        let disk = tempfile::tempdir().unwrap();
        let root = disk.path().canonicalize().unwrap();
        for folder in ["site/docs", "private"] {
            fs::create_dir_all(root.join(folder)).unwrap();
            fs::write(root.join(folder).join("diary.md"), folder).unwrap();
        }
        symlink("../private/diary.md", root.join("site/laid.md")).unwrap();
        symlink("../private", root.join("site/laid")).unwrap();
        (disk, root)
    }

    fn text(opened: io::Result<Option<Opened>>) -> Option<String> {
        opened.ok().flatten().map(|file| String::from_utf8(file.bytes(99).unwrap()).unwrap())
    }

    // SEC-058 SEC-088
    #[test]
    fn what_stands_at_a_place_is_looked_at_over_no_link() {
        let (_disk, root) = disk();
        let found = |name: &str| match standing(&root.join(name)) {
            Ok(Some(Standing::Link(target))) => format!("link to {}", target.display()),
            Ok(Some(Standing::File(opened))) => text(Ok(Some(opened))).unwrap(),
            Ok(None) => "nothing".to_owned(),
            Err(_) => "refused".to_owned(),
        };
        for (name, expected) in [
            ("site/docs/diary.md", "site/docs"),
            ("site/laid.md", "link to ../private/diary.md"),
            ("site/laid", "link to ../private"),
            ("site/laid/diary.md", "refused"),
            ("site/laid/gone.md", "refused"),
            ("site/docs", "nothing"),
            ("site/gone/diary.md", "nothing"),
            ("site/docs/diary.md/more", "nothing"),
        ] {
            assert_eq!(found(name), expected, "{name}");
        }
        assert!(file(&root.join("site/laid.md")).is_err() && file(Path::new("site")).unwrap().is_none());
        assert!(rename(&root.join("site/laid/diary.md"), &root.join("site/took.md")).is_err());
        assert!(rename(&root.join("site/docs/diary.md"), &root.join("site/laid/took.md")).is_err());
        rename(&root.join("site/docs/diary.md"), &root.join("site/took.md")).unwrap();
        assert_eq!((found("site/took.md"), found("private/diary.md")), ("site/docs".into(), "private".into()));
    }

    /// A program exchanges what is read, or a folder above it, for a link, again and again.
    // SEC-058 SEC-088
    #[test]
    fn what_is_exchanged_for_a_link_meanwhile_gives_nothing_that_the_link_leads_to() {
        let (_disk, root) = disk();
        let path = root.join("site/docs/diary.md");
        for (there, link) in [("site/docs/diary.md", "site/laid.md"), ("site/docs", "site/laid")] {
            let (there, link) = (root.join(there), root.join(link));
            let exchange = || renameat_with(CWD, &there, CWD, &link, RenameFlags::EXCHANGE);
            // Twice, so that all is as before: a disk that cannot do it is seen here.
            exchange().and_then(|()| exchange()).unwrap();
            let (stop, until) = (AtomicBool::new(false), Instant::now() + Duration::from_secs(60));
            let (mut own, mut refused, mut other) = (0, 0, 0);
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    let mut turns = 0;
                    while (!stop.load(Ordering::SeqCst) && Instant::now() < until) || turns % 2 == 1 {
                        exchange().unwrap();
                        turns += 1;
                    }
                });
                // Until both were met often enough.
                while (own < 50 || refused < 50) && other == 0 && Instant::now() < until {
                    match text(file(&path)).as_deref() {
                        Some("site/docs") => own += 1,
                        None => refused += 1,
                        _ => other += 1,
                    }
                }
                stop.store(true, Ordering::SeqCst);
            });
            assert_eq!(other, 0);
            assert!(own >= 50 && refused >= 50, "within a minute: {own} {refused}");
        }
    }
}
