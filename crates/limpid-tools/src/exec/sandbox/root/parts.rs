//! What of the machine is put where in the new root.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::mount::{MountFlags, mount, mount_bind_recursive};

use crate::exec::confinement::{Confinement, Place};
use crate::exec::sandbox::mounts::{
    Missing, SYSTEM, below, is_folder, is_it, link, made, new, not_granted, open, put_over, seal, through,
};
use crate::exec::sandbox::restrict::DEVICES;

/// What is put somewhere in the new root.
pub(super) enum Part {
    /// A folder or file of the machine.
    Bound { source: OwnedFd, write: bool },
    /// An empty folder in place of what is there, which can be looked into.
    Empty,
    /// A folder in place of what is there that cannot be listed, nor entered but on the way to what lies in it. An empty one would be
    /// taken for the folder: a program that keeps versions or copies would put down that its files were removed.
    /// `of` is what was there when the folders were resolved: no other is covered in its stead.
    Closed { passed: bool, of: Option<Place> },
    /// A link.
    Link(PathBuf),
}

/// Every part from the machine, the outer folders first.
pub(super) fn parts(confinement: &Confinement) -> io::Result<BTreeMap<PathBuf, Part>> {
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
        let of = confinement.closed.iter().find(|place| place.path == *path).cloned();
        parts.insert(path.clone(), Part::Closed { passed: false, of });
    }
    for path in &confinement.covered {
        parts.insert(path.clone(), Part::Empty);
    }
    for (path, target) in &confinement.links {
        parts.insert(path.clone(), Part::Link(target.clone()));
    }
    for (places, write) in [(&confinement.read, false), (&confinement.write, true)] {
        for place in places {
            if let Some(source) = open(place, &place.path)? {
                parts.insert(place.at.clone(), Part::Bound { source, write });
            }
        }
    }
    // Elsewhere it is not written, or not even seen.
    for place in &confinement.kept {
        if is_written(&parts, &place.at) {
            let gone = || io::Error::other(format!("{} is not there any more", place.path.display()));
            let source = open(place, &place.path)?.ok_or_else(gone)?;
            parts.insert(place.at.clone(), Part::Bound { source, write: false });
        }
    }
    // What lies in a folder that is closed could not be reached.
    let around: BTreeSet<PathBuf> =
        parts.keys().flat_map(|path| path.ancestors().skip(1)).map(Path::to_owned).collect();
    for (path, part) in
        parts.iter_mut().filter(|(path, part)| around.contains(*path) && matches!(part, Part::Closed { .. }))
    {
        *part = match confinement.closed.iter().find(|place| place.path == *path) {
            Some(place) => Part::Closed { passed: true, of: Some(place.clone()) },
            None => Part::Empty,
        };
    }
    // A folder that holds a mount can be renamed, and what is hidden or read-only in it would be neither at its new name for the next
    // program. One that is a mount itself cannot.
    for folder in around_kept(confinement, &parts) {
        // The places are without links, so one in the way was laid since.
        let source = openat2(CWD, &folder, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
        parts.insert(folder, Part::Bound { source, write: true });
    }
    // Only what lies in a folder of the machine's is there before it is covered.
    let is_in_ours = |path: &Path| {
        !matches!(path.ancestors().skip(1).find_map(|around| parts.get(around)), Some(Part::Bound { .. }))
    };
    let ours: Vec<PathBuf> = parts.keys().filter(|path| is_in_ours(path)).cloned().collect();
    for path in ours {
        if let Some(Part::Closed { of, .. }) = parts.get_mut(&path) {
            *of = None;
        }
    }
    Ok(parts)
}

/// The folders that lie between one that the program writes and a part of the new root within it.
fn around_kept(confinement: &Confinement, parts: &BTreeMap<PathBuf, Part>) -> BTreeSet<PathBuf> {
    let (stand_ins, writes): (Vec<&Place>, Vec<&Place>) =
        confinement.write.iter().partition(|place| place.at != place.path);
    let is_in_another = |folder: &Path| stand_ins.iter().any(|place| folder.starts_with(&place.at));
    let mut folders = BTreeSet::new();
    for part in parts.keys() {
        let around = writes.iter().filter(|place| part.starts_with(&place.at));
        let outermost = around.map(|place| place.at.components().count()).min().unwrap_or(usize::MAX);
        let between = part.ancestors().skip(1).take_while(|folder| folder.components().count() > outermost);
        // In a hidden folder only what lies in a place within it is there, and in a read-only one nothing is renamed.
        let is_free =
            |folder: &&Path| !parts.contains_key(*folder) && is_written(parts, folder) && !is_in_another(folder);
        folders.extend(between.filter(is_free).map(Path::to_owned));
    }
    folders
}

/// Whether the innermost part that a folder is or lies in is one that the program writes.
fn is_written(parts: &BTreeMap<PathBuf, Part>, folder: &Path) -> bool {
    let innermost = folder.ancestors().find_map(|around| parts.get(around));
    matches!(innermost, Some(Part::Bound { write: true, .. }))
}

/// Puts a part in its place. Of what covers something, the top of its mount, open.
pub(super) fn put(path: &Path, part: Part) -> io::Result<Option<OwnedFd>> {
    let target = new(path);
    match part {
        Part::Link(to) => link(&target, &to).map(|()| None),
        // Closed once everything is in place: folders of the view may lie in it.
        Part::Closed { passed: false, of } => cover(&target, c"mode=000,size=64k,nr_inodes=4k", of.as_ref()).map(Some),
        Part::Closed { passed: true, of } => cover(&target, c"mode=755,size=64k,nr_inodes=4k", of.as_ref()).map(Some),
        Part::Empty => cover(&target, c"mode=755,size=64k,nr_inodes=4k", None).map(Some),
        Part::Bound { source, write } => {
            let missing = if is_folder(&source)? { Missing::Folder } else { Missing::File };
            let device = path.starts_with("/dev");
            // Within a folder of the owner's the place is there already.
            put_over(&made(&target, missing)?, |stage| {
                mount_bind_recursive(through(&source), stage)?;
                below(stage)?.iter().try_for_each(|mounted| seal(mounted, write, device))
            })?;
            Ok(None)
        }
    }
}

/// Puts an empty folder over what is at a path, and over a file one that is empty. `of` is what must be there.
fn cover(target: &Path, options: &CStr, of: Option<&Place>) -> io::Result<OwnedFd> {
    let over = made(target, Missing::Folder)?;
    if let Some(of) = of
        && !is_it(of, &over)?
    {
        return Err(not_granted(of));
    }
    let is_folder = is_folder(&over)?;
    put_over(&over, |stage| match is_folder {
        true => Ok(mount("tmpfs", stage, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(options))?),
        false => Ok(mount_bind_recursive("/dev/null", stage)?),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::exec::sandbox::mounts::NEW;

    // SEC-058 SEC-088
    #[test]
    fn a_folder_that_took_the_place_of_the_one_to_be_closed_is_not_closed_in_its_stead() {
        let folder = tempfile::tempdir_in(NEW).unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        fs::create_dir(at("theirs")).unwrap();
        let of = Place::of(&at("theirs")).unwrap();
        fs::rename(at("theirs"), at("moved")).unwrap();
        fs::create_dir(at("theirs")).unwrap();
        let refused = cover(&at("theirs"), c"mode=000,size=64k,nr_inodes=4k", Some(&of)).unwrap_err();
        assert_eq!(refused.to_string(), format!("{} is not the one any more that was granted", at("theirs").display()));
    }
}
