//! The mounts of the new root: finding the very place of one, and what may be done there.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use limpid_config::{MAX_FILE, regular_file};
use rustix::fs::{Mode, OFlags, ResolveFlags, StatVfsMountFlags, openat2, statvfs};
use rustix::mount::{MountFlags, mount_remount};

use super::NEW;

/// The very file or folder at a path of the new root: no link that is put in the way meanwhile leads elsewhere.
pub(super) fn place(target: &Path) -> io::Result<OwnedFd> {
    let root = rustix::fs::open(NEW, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let below = target.strip_prefix(NEW).map_err(io::Error::other)?;
    Ok(openat2(root, below, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
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
pub(in crate::exec::sandbox) fn seal(target: &Path, write: bool, device: bool) -> io::Result<()> {
    let place = place(target)?;
    let before = statvfs(through(&place))?.f_flag;
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
    Ok(mount_remount(through(&place), flags, "")?)
}

/// Lets nobody list a folder, now that what lies in it is in place.
pub(super) fn close(target: &Path) -> io::Result<()> {
    fs::set_permissions(through(&place(target)?), fs::Permissions::from_mode(0o111))
}
