//! The file system that a program sees: the system read-only, its own `/proc` and `/tmp`, the folders of its view, and
//! nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use limpid_config::{MAX_FILE, regular_file};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, StatVfsMountFlags, openat2, statvfs};
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change, mount_remount, unmount,
};
use rustix::process::{chdir, pivot_root};

use super::frozen::Frozen;
use super::restrict::DEVICES;
use crate::exec::confinement::{Confinement, Place};

/// Where the new root is put together; what lies there is not seen meanwhile.
const NEW: &str = "/tmp";

/// Folders of the system. Where one is a link, it is one in the new root too.
pub(in crate::exec) const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/etc"];

/// The one file system that a program may fill, of a limited size.
const CALL: &str = "/run/call";

/// What is put somewhere in the new root.
enum Part {
    /// A folder or file of the machine.
    Bound { source: OwnedFd, write: bool },
    /// An empty folder in place of what is there, which can be looked into.
    Empty,
    /// A folder in place of what is there that cannot be listed, nor entered but on the way to what lies in it. An empty one would be
    /// taken for the folder: a program that keeps versions or copies would put down that its files were removed.
    Closed { passed: bool },
    /// A link.
    Link(PathBuf),
}

/// The home folder and the folder for temporary files of a program with a file system of its own.
pub(super) fn home() -> PathBuf {
    Path::new(CALL).join("home")
}

/// What a program may write besides its view.
pub(super) fn scratch() -> Vec<PathBuf> {
    vec![CALL.into(), "/tmp".into()]
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

/// Makes the new root and changes to it. This process must be the first one of its namespaces.
pub(super) fn change(confinement: &Confinement) -> Result<(), String> {
    let failed = |what: &str| format!("no file system of its own: {what}");
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|error| failed(&format!("mounts cannot be private: {error}")))?;
    // Opened before the new root hides any of them.
    let parts = parts(confinement).map_err(|error| failed(&error.to_string()))?;
    let frozen = Frozen::open(confinement).map_err(|error| failed(&format!("a copy is gone: {error}")))?;
    let links = SYSTEM.iter().filter_map(|name| Some((*name, fs::read_link(name).ok()?)));
    let links: Vec<(&str, PathBuf)> = links.collect();
    let tmpfs = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", NEW, "tmpfs", tmpfs, Some(c"mode=755,size=4m,nr_inodes=16k"))
        .map_err(|error| failed(&format!("no empty file system: {error}")))?;
    own_parts(confinement, &links).map_err(|error| failed(&error.to_string()))?;
    let is_passed =
        |(path, part): (&PathBuf, &Part)| matches!(part, Part::Closed { passed: true }).then(|| path.clone());
    let passed: BTreeSet<PathBuf> = parts.iter().filter_map(is_passed).collect();
    for (path, part) in parts {
        put(&path, part).map_err(|error| failed(&format!("{}: {error}", path.display())))?;
    }
    frozen.put(NEW.as_ref()).map_err(|error| failed(&error.to_string()))?;
    aliases(confinement);
    let is_covered = |hidden: &&PathBuf| confinement.write.iter().any(|place| place.at == **hidden);
    let hidden = || confinement.hidden.iter().chain(&confinement.covered);
    for hidden in hidden().filter(|hidden| !is_covered(hidden)) {
        if passed.contains(hidden) {
            close(&new(hidden)).map_err(|error| failed(&format!("{}: {error}", hidden.display())))?;
        }
        seal(&new(hidden), false, false).map_err(|error| failed(&format!("{}: {error}", hidden.display())))?;
    }
    enter().map_err(|error| failed(&format!("it cannot be entered: {error}")))?;
    frozen.check().map_err(|error| failed(&error.to_string()))
}

fn new(path: &Path) -> PathBuf {
    Path::new(NEW).join(path.strip_prefix("/").unwrap_or(path))
}

/// Every part from the machine, the outer folders first.
fn parts(confinement: &Confinement) -> io::Result<BTreeMap<PathBuf, Part>> {
    let mut parts = BTreeMap::new();
    #[expect(clippy::disallowed_methods, reason = "a handle to a place; what it holds is not read")]
    let handle = |path: &Path| {
        File::options().read(true).custom_flags(OFlags::PATH.bits().cast_signed()).open(path).map(OwnedFd::from)
    };
    let system = SYSTEM.map(PathBuf::from).into_iter();
    let system = system.filter(|path| path.symlink_metadata().is_ok_and(|about| about.is_dir()));
    for path in system {
        parts.insert(path.clone(), Part::Bound { source: handle(&path)?, write: false });
    }
    for device in DEVICES.map(PathBuf::from) {
        // It is written to all the same; its times, which a later program could read, are not.
        parts.insert(device.clone(), Part::Bound { source: handle(&device)?, write: false });
    }
    for path in &confinement.hidden {
        parts.insert(path.clone(), Part::Closed { passed: false });
    }
    for path in &confinement.covered {
        parts.insert(path.clone(), Part::Empty);
    }
    for (path, target) in &confinement.links {
        parts.insert(path.clone(), Part::Link(target.clone()));
    }
    for (places, write) in [(&confinement.read, false), (&confinement.write, true), (&confinement.kept, false)] {
        for place in places {
            if let Some(source) = open(place, &place.path)? {
                parts.insert(place.at.clone(), Part::Bound { source, write });
            }
        }
    }
    // What lies in a folder that is closed could not be reached.
    let around: BTreeSet<PathBuf> =
        parts.keys().flat_map(|path| path.ancestors().skip(1)).map(Path::to_owned).collect();
    for (path, part) in
        parts.iter_mut().filter(|(path, part)| around.contains(*path) && matches!(part, Part::Closed { .. }))
    {
        *part = if confinement.closed.contains(path) { Part::Closed { passed: true } } else { Part::Empty };
    }
    // A folder that holds a mount can be renamed, and what is hidden or read-only in it would be neither at its new name for the next
    // program. One that is a mount itself cannot.
    for folder in around_kept(confinement, &parts.keys().cloned().collect()) {
        // The places are without links, so one in the way was laid since.
        let source = openat2(CWD, &folder, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
        parts.insert(folder, Part::Bound { source, write: true });
    }
    Ok(parts)
}

/// The folders that lie between one that the program writes and a part of the new root within it.
fn around_kept(confinement: &Confinement, parts: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let hidden = || confinement.hidden.iter().chain(&confinement.covered);
    let writes = || confinement.write.iter().filter(|place| place.at == place.path);
    let mut folders = BTreeSet::new();
    for part in parts {
        let around = writes().filter(|place| part.starts_with(&place.at)).map(|place| place.at.components().count());
        let outermost = around.min().unwrap_or(usize::MAX);
        let between = part.ancestors().skip(1).take_while(|folder| folder.components().count() > outermost);
        // In a hidden folder only what lies in a place within it is there.
        let is_there = |folder: &Path| {
            let depth = |around: &Path| folder.starts_with(around).then(|| around.components().count());
            let hidden = hidden().filter_map(|hidden| depth(hidden)).max();
            writes().filter_map(|place| depth(&place.at)).max() >= hidden
        };
        let is_free = |folder: &&Path| is_there(folder) && !parts.contains(*folder);
        folders.extend(between.filter(is_free).map(Path::to_owned));
    }
    folders
}

/// What the program has for itself: `/proc`, a limited file system for `/tmp` and its home, links of the system.
fn own_parts(confinement: &Confinement, links: &[(&str, PathBuf)]) -> io::Result<()> {
    for folder in ["/proc", "/tmp", "/dev", CALL] {
        fs::create_dir_all(new(Path::new(folder)))?;
    }
    let safe = MountFlags::NOSUID | MountFlags::NODEV;
    mount("proc", new(Path::new("/proc")), "proc", safe | MountFlags::NOEXEC, None)
        .map_err(|error| io::Error::other(format!("no /proc of its own: {error}")))?;
    let limits = &confinement.limits;
    let size = limits.disk_bytes.min(limits.memory_bytes / 2);
    let options = format!("mode=755,size={size},nr_inodes={}", limits.files.max(64));
    let options = std::ffi::CString::new(options).map_err(io::Error::other)?;
    let call = new(Path::new(CALL));
    mount("tmpfs", &call, "tmpfs", safe, Some(options.as_c_str()))?;
    for folder in ["tmp", "home", "shm"] {
        fs::create_dir(call.join(folder))?;
    }
    mount_bind_recursive(call.join("tmp"), new(Path::new("/tmp")))?;
    let streams = [("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1")];
    for (name, target) in streams.into_iter().chain([("stderr", "/proc/self/fd/2"), ("shm", "/run/call/shm")]) {
        symlink(target, new(Path::new("/dev")).join(name))?;
    }
    for (name, target) in links {
        symlink(target, new(Path::new(name)))?;
    }
    skills(&call.join("home"), confinement)
}

/// The skills by their names in the program's home, as links to where they may be read.
pub(super) fn skills(home: &Path, confinement: &Confinement) -> io::Result<()> {
    let folder = home.join("skills");
    fs::create_dir_all(&folder)?;
    confinement.skills.iter().try_for_each(|(name, target)| symlink(target, folder.join(name)))
}

fn put(path: &Path, part: Part) -> io::Result<()> {
    let target = new(path);
    let parent = target.parent().unwrap_or(&target);
    if let Part::Link(to) = &part {
        fs::create_dir_all(parent)?;
        return symlink(to, &target);
    }
    let is_file = match &part {
        Part::Bound { source, .. } => !File::from(source.try_clone()?).metadata()?.is_dir(),
        Part::Empty | Part::Closed { .. } | Part::Link(_) => false,
    };
    // Within a folder of the owner's the place is there already.
    if !target.exists() {
        let folder = if is_file { parent } else { &target };
        fs::create_dir_all(folder)?;
        if is_file {
            File::create(&target)?;
        }
    }
    match part {
        // Closed once everything is in place: folders of the view may lie in it.
        part @ (Part::Empty | Part::Closed { .. } | Part::Link(_)) => {
            let options = match part {
                Part::Closed { passed: false } => c"mode=000,size=64k,nr_inodes=4k",
                _ => c"mode=755,size=64k,nr_inodes=4k",
            };
            let place = place(&target)?;
            if target.is_file() {
                return Ok(mount_bind_recursive("/dev/null", through(&place))?);
            }
            Ok(mount("tmpfs", through(&place), "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(options))?)
        }
        Part::Bound { source, write } => {
            mount_bind_recursive(through(&source), through(&place(&target)?))?;
            let device = path.starts_with("/dev");
            below(&target)?.iter().try_for_each(|mounted| seal(mounted, write, device))
        }
    }
}

/// The very file or folder at a path of the new root: no link that is put in the way meanwhile leads elsewhere.
fn place(target: &Path) -> io::Result<OwnedFd> {
    let root = rustix::fs::open(NEW, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let below = target.strip_prefix(NEW).map_err(io::Error::other)?;
    Ok(openat2(root, below, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

fn through(handle: &OwnedFd) -> PathBuf {
    format!("/proc/self/fd/{}", handle.as_raw_fd()).into()
}

/// The mounts at a path and below it.
fn below(target: &Path) -> io::Result<Vec<PathBuf>> {
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
fn close(target: &Path) -> io::Result<()> {
    fs::set_permissions(through(&place(target)?), fs::Permissions::from_mode(0o111))
}

/// Where the owner named a folder by a path with links in it, that path leads to the folder here too.
fn aliases(confinement: &Confinement) {
    for place in confinement.read.iter().chain(&confinement.write).filter(|place| place.named != place.at) {
        let alias = new(&place.named);
        if let Some(folder) = alias.parent() {
            // Where that is not possible, the program still has the folder under its real path.
            let _ = fs::create_dir_all(folder).and_then(|()| symlink(&place.at, &alias));
        }
    }
}

/// Changes to the new root and lets go of the machine's.
fn enter() -> io::Result<()> {
    chdir(NEW)?;
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    chdir("/")?;
    Ok(mount_remount("/", MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV, "")?)
}
