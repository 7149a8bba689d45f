//! The file system that a program sees: the system read-only, its own `/proc` and `/tmp`, the folders of its view, and
//! nothing else.

mod parts;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change, mount_remount, unmount,
};
use rustix::process::{chdir, pivot_root};

use self::parts::{Part, parts, put};
use super::frozen::Frozen;
use super::mounts::{NEW, SYSTEM, clear_stage, close, link, new, seal_opened};
use crate::exec::confinement::Confinement;

/// The one file system that a program may fill, of a limited size.
const CALL: &str = "/run/call";

/// The home folder and the folder for temporary files of a program with a file system of its own.
pub(super) fn home() -> PathBuf {
    Path::new(CALL).join("home")
}

/// What a program may write besides its view.
pub(super) fn scratch() -> Vec<PathBuf> {
    vec![CALL.into(), "/tmp".into()]
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
        |(path, part): (&PathBuf, &Part)| matches!(part, Part::Closed { passed: true, .. }).then(|| path.clone());
    let passed: BTreeSet<PathBuf> = parts.iter().filter_map(is_passed).collect();
    let mut covers = BTreeMap::new();
    for (path, part) in parts {
        let cover = put(&path, part).map_err(|error| failed(&format!("{}: {error}", path.display())))?;
        covers.extend(cover.map(|cover| (path, cover)));
    }
    frozen.put().map_err(|error| failed(&error.to_string()))?;
    aliases(confinement);
    for (path, cover) in &covers {
        let closed = if passed.contains(path) { close(cover) } else { Ok(()) };
        let sealed = closed.and_then(|()| seal_opened(cover, false, false));
        sealed.map_err(|error| failed(&format!("{}: {error}", path.display())))?;
    }
    clear_stage().map_err(|error| failed(&error.to_string()))?;
    enter().map_err(|error| failed(&format!("it cannot be entered: {error}")))?;
    frozen.check().map_err(|error| failed(&error.to_string()))
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

/// Where the owner named a folder by a path with links in it, that path leads to the folder here too.
fn aliases(confinement: &Confinement) {
    for place in confinement.read.iter().chain(&confinement.write).filter(|place| place.named != place.at) {
        // Where that is not possible, the program still has the folder under its real path.
        let _ = link(&new(&place.named), &place.at);
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
