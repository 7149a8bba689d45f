//! The places of the new root: opening the very one that is meant, and what may be done at a mount there.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use limpid_config::{MAX_FILE, regular_file};
use rustix::fs::{Mode, OFlags, ResolveFlags, StatVfsMountFlags, openat2, statvfs};
use rustix::mount::{MountFlags, mount_remount};

use crate::exec::confinement::Place;

/// Where the new root is put together; what lies there is not seen meanwhile.
pub(super) const NEW: &str = "/tmp";

/// Folders of the system. Where one is a link, it is one in the new root too.
pub(in crate::exec) const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/etc"];

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
pub(super) fn seal(target: &Path, write: bool, device: bool) -> io::Result<()> {
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

/// Where a path of the program is while the new root is put together.
pub(super) fn new(path: &Path) -> PathBuf {
    Path::new(NEW).join(path.strip_prefix("/").unwrap_or(path))
}

/// Opens the folder or file that was resolved before, by its path or by where the program finds it; none when it is gone.
///
/// # Errors
/// When another one is in its place.
pub(super) fn open(place: &Place, path: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW;
    #[expect(clippy::disallowed_methods, reason = "a handle to a place; what it holds is not read")]
    let opened = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    let handle = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let about = handle.metadata()?;
    if (about.dev(), about.ino()) == (place.device, place.inode) {
        return Ok(Some(handle.into()));
    }
    Err(io::Error::other(format!("{} is not the one any more that was granted", place.path.display())))
}
