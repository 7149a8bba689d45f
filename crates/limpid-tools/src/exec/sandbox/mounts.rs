//! The places of the new root: opening the very one that is meant, and what may be done at a mount there.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use limpid_config::{MAX_FILE, regular_file};
use rustix::fs::{
    CWD, FileType, Mode, OFlags, ResolveFlags, StatVfsMountFlags, mkdirat, openat, openat2, statvfs, symlinkat,
};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount_move, mount_remount};

use crate::exec::confinement::Place;

/// Where the new root is put together; what lies there is not seen meanwhile.
pub(super) const NEW: &str = "/tmp";

/// Folders of the system. Where one is a link, it is one in the new root too.
pub(in crate::exec) const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/etc"];

/// Where mounts of folders are made ready.
const STAGE: &str = "/.stage";

/// The same of files.
const STAGE_OF_FILES: &str = "/.stage-of-files";

/// The very file or folder at a path of the new root: no link that is put in the way meanwhile leads elsewhere.
pub(super) fn place(target: &Path) -> io::Result<OwnedFd> {
    let root = rustix::fs::open(NEW, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let below = target.strip_prefix(NEW).map_err(io::Error::other)?;
    Ok(openat2(root, below, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

/// What is made at a path where nothing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// An empty folder.
    Folder,
    /// An empty file.
    File,
}

/// The very file or folder at a path of the new root, made with the folders above it where nothing is. Folders that other programs write
/// are in the new root as they are, so each part is reached from the one before: no link that is put in the way meanwhile leads elsewhere.
pub(super) fn made(target: &Path, missing: Missing) -> io::Result<OwnedFd> {
    let next = |folder: &OwnedFd, name: &OsStr| {
        openat2(folder, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS)
    };
    let mut at = rustix::fs::open(NEW, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let mut left = target.strip_prefix(NEW).map_err(io::Error::other)?.iter().peekable();
    while let Some(name) = left.next() {
        let found = match next(&at, name) {
            Err(Errno::NOENT) => {
                let made = if left.peek().is_none() && missing == Missing::File {
                    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::WRONLY | OFlags::CLOEXEC;
                    openat(&at, name, flags, Mode::from(0o644)).map(drop)
                } else {
                    mkdirat(&at, name, Mode::from(0o755))
                };
                // Another program may have made it meanwhile.
                if let Err(error) = made
                    && error != Errno::EXIST
                {
                    return Err(error.into());
                }
                next(&at, name)
            }
            other => other,
        };
        at = found?;
    }
    Ok(at)
}

/// Lays a link at a path of the new root, with the folders above it.
pub(super) fn link(target: &Path, to: &Path) -> io::Result<()> {
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    Ok(symlinkat(to, made(folder, Missing::Folder)?, name)?)
}

/// Whether a file or folder is the one that was resolved.
pub(super) fn is_it(place: &Place, opened: &OwnedFd) -> io::Result<bool> {
    let about = rustix::fs::fstat(opened)?;
    Ok((about.st_dev, about.st_ino) == (place.device, place.inode))
}

/// The path by which an open file or folder is reached, whatever lies at its own by now.
pub(super) fn through(handle: &OwnedFd) -> PathBuf {
    format!("/proc/self/fd/{}", handle.as_raw_fd()).into()
}

/// The mounts at a path and below it.
pub(super) fn below(target: &Path) -> io::Result<Vec<PathBuf>> {
    let listed = regular_file::read_text(Path::new("/proc/self/mountinfo"), MAX_FILE)?;
    let paths = listed.lines().filter_map(|line| line.split(' ').nth(4)).map(unescaped);
    Ok(paths.filter(|path| path.starts_with(target)).collect())
}

/// A path as `mountinfo` writes it: blanks and the like are three octal digits.
fn unescaped(text: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, more)) = rest.split_first() {
        let digits = more.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let letter = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(|_| *first == b'\\');
        bytes.push(letter.unwrap_or(*first));
        rest = if letter.is_some() { &more[3..] } else { more };
    }
    std::ffi::OsString::from_vec(bytes).into()
}

/// Makes one mount read-only, or writable without devices and set-user-ID files. Flags that it came with stay: the
/// kernel lets nobody take them away here.
pub(super) fn seal(target: &Path, write: bool, device: bool) -> io::Result<()> {
    seal_opened(&place(target)?, write, device)
}

/// The same of the mount whose top is open.
pub(super) fn seal_opened(place: &OwnedFd, write: bool, device: bool) -> io::Result<()> {
    let before = statvfs(through(place))?.f_flag;
    let kept = [
        (StatVfsMountFlags::RDONLY, MountFlags::RDONLY),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
    ];
    let mut flags = MountFlags::BIND | MountFlags::NOSUID;
    flags |= kept.into_iter().filter(|(flag, _)| before.contains(*flag)).map(|(_, flag)| flag).collect();
    if !device {
        flags |= MountFlags::NODEV;
    }
    if !write {
        flags |= MountFlags::RDONLY;
    }
    Ok(mount_remount(through(place), flags, "")?)
}

/// Lets nobody list a folder, now that what lies in it is in place.
pub(super) fn close(folder: &OwnedFd) -> io::Result<()> {
    fs::set_permissions(through(folder), fs::Permissions::from_mode(0o111))
}

/// Makes a mount ready where no other program reaches it, and puts it over what is open. In a folder that other programs write it could be moved
/// before it is ready, and what is then looked for at its path is another one. Gives the top of the mount, open.
pub(super) fn put_over(over: &OwnedFd, ready: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<OwnedFd> {
    let (stage, missing) = if is_folder(over)? { (STAGE, Missing::Folder) } else { (STAGE_OF_FILES, Missing::File) };
    let stage = new(Path::new(stage));
    made(&stage, missing)?;
    ready(&stage)?;
    let mounted = place(&stage)?;
    mount_move(&stage, through(over))?;
    Ok(mounted)
}

/// Takes away where mounts were made ready, so that no program sees it.
pub(super) fn clear_stage() -> io::Result<()> {
    let gone = [fs::remove_dir(new(Path::new(STAGE))), fs::remove_file(new(Path::new(STAGE_OF_FILES)))];
    gone.into_iter().try_for_each(|gone| match gone {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    })
}

/// Whether what is open is a folder.
pub(super) fn is_folder(opened: &OwnedFd) -> io::Result<bool> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(opened)?.st_mode) == FileType::Directory)
}

/// Where a path of the program is while the new root is put together.
pub(super) fn new(path: &Path) -> PathBuf {
    Path::new(NEW).join(path.strip_prefix("/").unwrap_or(path))
}

/// Opens the folder or file that was resolved before, by its path or by where the program finds it; none when it is gone.
///
/// # Errors
/// When another one is in its place.
pub(super) fn open(place: &Place, path: &Path) -> io::Result<Option<OwnedFd>> {
    // Places are without links, so one in the way was laid since.
    let handle = match openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err(not_granted(place)),
        other => other?,
    };
    if is_it(place, &handle)? { Ok(Some(handle)) } else { Err(not_granted(place)) }
}

/// That another one is in the place of what was granted.
pub(super) fn not_granted(place: &Place) -> io::Error {
    io::Error::other(format!("{} is not the one any more that was granted", place.path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use super::*;

    // SEC-058 SEC-088
    #[test]
    fn nothing_of_a_new_root_is_made_over_a_link() {
        let root = tempfile::tempdir_in(NEW).unwrap();
        let at = |name: &str| root.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(at("far/sub")).unwrap();
        fs::write(at("far/diary.md"), "mine").unwrap();
        symlink(at("far"), at("laid")).unwrap();
        symlink(at("far/diary.md"), at("file")).unwrap();
        for missing in [Missing::Folder, Missing::File] {
            for name in ["laid/new", "laid/diary.md", "laid/sub/new", "laid", "file"] {
                assert!(made(&at(name), missing).is_err(), "{name}");
            }
        }
        assert!(link(&at("laid/link"), Path::new("/")).is_err() && link(&at("file"), Path::new("/")).is_err());
        assert_eq!(fs::read_dir(at("far")).unwrap().count(), 2);
        assert_eq!(fs::read_to_string(at("far/diary.md")).unwrap(), "mine");

        made(&at("a/b/file"), Missing::File).unwrap();
        link(&at("a/c/link"), Path::new("/usr")).unwrap();
        assert!(at("a/b/file").symlink_metadata().unwrap().is_file() && at("a/c/link").is_symlink());
        let there = fs::File::from(made(&at("far/diary.md"), Missing::Folder).unwrap()).metadata().unwrap();
        assert_eq!(there.ino(), at("far/diary.md").metadata().unwrap().ino(), "what is there stays");
    }
}
