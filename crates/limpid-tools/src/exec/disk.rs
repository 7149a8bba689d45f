//! What a program adds to the folders that it may write.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::statvfs;

use super::confinement::Limits;
use super::processes::open_files;

/// Between two counts, at least.
const COUNT: Duration = Duration::from_millis(100);

/// Counting takes no more than this part of the time.
const SHARE: u32 = 5;

/// A program ends before less than this part of a disk is free, or less than it may write.
const RESERVE: u64 = 20;

/// Bytes that stay free at most for whoever else writes: without room the store takes no message.
const MOST_BYTES: u64 = 1024 * 1024 * 1024;

/// Files that stay free at most.
const MOST_FILES: u64 = 20_000;

/// What is done on a full disk.
const MAKE_ROOM: &str =
    "until there is room only programs run that the owner approves. Tell the owner to remove files there";

/// Bytes of a block, as the kernel counts them for every file system.
const BLOCK: u64 = 512;

/// Files that are counted. Where there were more before, or a folder that cannot be counted, what the file system has
/// left is compared.
const COUNTED: u64 = 100_000;

/// How long a folder that was open before may be closed to whoever counts.
const CLOSED: Duration = Duration::from_secs(1);

/// Counts what is in some folders, and what was there at the beginning.
pub(super) struct Disk {
    folders: Vec<PathBuf>,
    before: Used,
    free_before: Vec<Used>,
    closed_since: Option<Instant>,
}

/// What the file system of a folder has room for beyond what stays free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) bytes: u64,
    pub(super) files: u64,
}

/// The room of the fullest of these folders' file systems.
///
/// # Errors
/// A sentence, when one is nearly full: then nothing starts, and nothing goes on, that nobody was asked about.
pub(super) fn room<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Result<Room, String> {
    let mut least = Room { bytes: u64::MAX, files: u64::MAX };
    for folder in folders {
        let Some(room) = beyond_reserve(total(folder), &free(folder)) else {
            return Err(format!("the disk of `{}` is nearly full; {MAKE_ROOM}", folder.display()));
        };
        least = Room { bytes: least.bytes.min(room.bytes), files: least.files.min(room.files) };
    }
    Ok(least)
}

/// What is free beyond the reserve; none when that is used already.
fn beyond_reserve((bytes, files): (u64, u64), free: &Used) -> Option<Room> {
    let bytes = free.bytes.checked_sub((bytes / RESERVE).min(MOST_BYTES))?;
    let files = free.files.checked_sub((files / RESERVE).min(MOST_FILES))?;
    Some(Room { bytes, files })
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Used {
    bytes: u64,
    files: u64,
    /// Folders that cannot be read, by device and number.
    closed: HashSet<(u64, u64)>,
    /// Whether a folder lies deeper than any path reaches.
    is_deep: bool,
}

impl Disk {
    /// Counts what is there now, before the program starts.
    pub(super) fn new(folders: Vec<PathBuf>) -> Self {
        let free_before = folders.iter().map(|folder| free(folder)).collect();
        let before = count(&folders, &mut HashSet::new(), COUNTED);
        Self { folders, before, free_before, closed_since: None }
    }

    /// The same with a folder in which nothing is yet.
    pub(super) fn with_empty(mut self, folder: PathBuf) -> Self {
        self.free_before.push(free(&folder));
        self.folders.push(folder);
        self
    }

    /// Counts again and again, and returns the limit that was crossed.
    pub(super) fn watch(mut self, limits: &Limits) -> String {
        loop {
            let begun = Instant::now();
            if let Some(reason) = self.over(limits) {
                return reason;
            }
            std::thread::sleep(COUNT.max(begun.elapsed() * SHARE));
        }
    }

    /// Says which limit was crossed, if one was.
    fn over(&mut self, limits: &Limits) -> Option<String> {
        // What grows in a folder that was closed or too deep before is counted nowhere.
        let is_hidden = self.before.is_deep || !self.before.closed.is_empty();
        let is_counted = self.before.files <= COUNTED && !is_hidden;
        let used = if is_counted { self.counted(limits) } else { self.taken_from_free() };
        if used.bytes > limits.disk_bytes {
            return Some(format!("it wrote more than {} MiB", limits.disk_bytes / 1024 / 1024));
        }
        // What a program holds by a mapping alone is seen nowhere else. One that was approved may begin on a full disk, to
        // make room.
        let is_full = |(folder, before): (&PathBuf, &Used)| {
            let reserve = (total(folder).0 / RESERVE).min(limits.disk_bytes);
            before.bytes >= reserve && free(folder).bytes < reserve
        };
        if self.folders.iter().zip(&self.free_before).any(is_full) {
            return Some("the disk is nearly full".to_owned());
        }
        if used.files > limits.files {
            return Some(format!("it made more than {} files", limits.files));
        }
        if is_counted && used.is_deep {
            return Some("what it wrote cannot be counted: a folder lies too deep".to_owned());
        }
        // In a folder that only lets in whoever knows a name, much can be hidden.
        let is_closed = is_counted && !used.closed.is_empty();
        self.closed_since = if is_closed { self.closed_since.or_else(|| Some(Instant::now())) } else { None };
        let is_long = self.closed_since.is_some_and(|since| since.elapsed() > CLOSED);
        is_long.then(|| "what it wrote cannot be counted: a folder cannot be read".to_owned())
    }

    /// What was added, by counting it.
    fn counted(&self, limits: &Limits) -> Used {
        let mut seen = HashSet::new();
        let mut used = count(&self.folders, &mut seen, self.before.files + limits.files);
        // Files without a name take room too, while they are open.
        for about in open_files().into_iter().filter(|about| about.nlink() == 0) {
            if seen.insert((about.dev(), about.ino())) {
                used.bytes += about.blocks() * BLOCK;
                used.files += 1;
            }
        }
        used.bytes = used.bytes.saturating_sub(self.before.bytes);
        used.files = used.files.saturating_sub(self.before.files);
        used
    }

    /// What the file systems have less than before.
    fn taken_from_free(&self) -> Used {
        let mut taken = Used::default();
        for (folder, before) in self.folders.iter().zip(&self.free_before) {
            let now = free(folder);
            // Two folders may be on one file system.
            taken.bytes = taken.bytes.max(before.bytes.saturating_sub(now.bytes));
            taken.files = taken.files.max(before.files.saturating_sub(now.files));
        }
        taken
    }
}

/// Counts folders until there are more files than `most`; a file with several names counts once.
fn count(folders: &[PathBuf], seen: &mut HashSet<(u64, u64)>, most: u64) -> Used {
    let mut used = Used::default();
    let ours = rustix::process::geteuid().as_raw();
    let mut open = folders.to_vec();
    while let Some(folder) = open.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            // One that went away meanwhile takes no room.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(_) => {
                match fs::symlink_metadata(&folder) {
                    Ok(about) if is_out_of_reach(&about, ours) => {}
                    Ok(about) => drop(used.closed.insert((about.dev(), about.ino()))),
                    Err(error) => used.is_deep |= error.kind() == io::ErrorKind::InvalidFilename,
                }
                continue;
            }
        };
        for entry in entries.flatten() {
            let Ok(about) = entry.metadata() else { continue };
            if !seen.insert((about.dev(), about.ino())) {
                continue;
            }
            used.bytes += about.blocks() * BLOCK;
            used.files += 1;
            if used.files > most {
                return used;
            }
            if about.is_dir() {
                open.push(entry.path());
            }
        }
    }
    used
}

/// Whether a folder is closed to the program too, which runs as we do: it is somebody else's, who lets others neither enter nor change
/// it. A server's data often lie so. What a list of rights gives anybody besides stands in the bits of the group.
fn is_out_of_reach(about: &fs::Metadata, ours: u32) -> bool {
    about.uid() != ours && about.mode() & 0o033 == 0
}

/// Bytes and files that the file system of a folder has in all.
fn total(folder: &Path) -> (u64, u64) {
    statvfs(folder).map_or((0, 0), |about| (about.f_blocks.saturating_mul(about.f_frsize), about.f_files))
}

/// Bytes and files that the file system of a folder has room for.
fn free(folder: &Path) -> Used {
    let about = statvfs(folder);
    about.map_or(Used { bytes: u64::MAX, files: u64::MAX, ..Used::default() }, |about| Used {
        bytes: about.f_bavail.saturating_mul(about.f_frsize),
        // Some file systems have no number of files.
        files: if about.f_files == 0 { u64::MAX } else { about.f_favail },
        ..Used::default()
    })
}

#[cfg(test)]
mod tests;
