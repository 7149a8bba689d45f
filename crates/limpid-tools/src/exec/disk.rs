//! What a program adds to the folders that it may write.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
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

/// Bytes of a block, as the kernel counts them for every file system.
const BLOCK: u64 = 512;

/// Counts what is in some folders, and what was there at the beginning.
pub(super) struct Disk {
    folders: Vec<PathBuf>,
    before: Used,
    free_before: Vec<u64>,
    next: Instant,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Used {
    bytes: u64,
    files: u64,
}

impl Disk {
    /// Counts what is there now.
    pub(super) fn new(folders: Vec<PathBuf>) -> Self {
        let free_before = folders.iter().map(free).collect();
        let before = count(&folders, &mut HashSet::new());
        Self { folders, before, free_before, next: Instant::now() }
    }

    /// Says which limit was crossed, if one was.
    pub(super) fn over(&mut self, limits: &Limits) -> Option<String> {
        let begun = Instant::now();
        if begun < self.next {
            return None;
        }
        let mut seen = HashSet::new();
        let mut used = count(&self.folders, &mut seen);
        // Files without a name take room too, while they are open.
        for about in open_files().into_iter().filter(|about| about.nlink() == 0) {
            if seen.insert((about.dev(), about.ino())) {
                used.bytes += about.blocks() * BLOCK;
                used.files += 1;
            }
        }
        self.next = Instant::now() + COUNT.max(begun.elapsed() * SHARE);
        let added = used.bytes.saturating_sub(self.before.bytes);
        if added > limits.disk_bytes {
            return Some(format!("it wrote more than {} MiB", limits.disk_bytes / 1024 / 1024));
        }
        // What a program holds by a mapping alone is seen nowhere else.
        let is_full = |(folder, before): (&PathBuf, &u64)| {
            let reserve = (total(folder) / RESERVE).min(limits.disk_bytes);
            *before >= reserve && free(folder) < reserve
        };
        if self.folders.iter().zip(&self.free_before).any(is_full) {
            return Some("the disk is nearly full".to_owned());
        }
        let files = used.files.saturating_sub(self.before.files);
        (files > limits.files).then(|| format!("it made more than {} files", limits.files))
    }
}

/// Counts folders; a file with several names counts once.
fn count(folders: &[PathBuf], seen: &mut HashSet<(u64, u64)>) -> Used {
    let mut used = Used::default();
    let mut open = folders.to_vec();
    while let Some(folder) = open.pop() {
        // One that went away meanwhile takes no room.
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(about) = entry.metadata() else { continue };
            if !seen.insert((about.dev(), about.ino())) {
                continue;
            }
            used.bytes += about.blocks() * BLOCK;
            used.files += 1;
            if about.is_dir() {
                open.push(entry.path());
            }
        }
    }
    used
}

fn total(folder: &PathBuf) -> u64 {
    statvfs(folder).map_or(0, |about| about.f_blocks.saturating_mul(about.f_frsize))
}

fn free(folder: &PathBuf) -> u64 {
    statvfs(folder).map_or(u64::MAX, |about| about.f_bavail.saturating_mul(about.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-085
    #[test]
    fn what_was_there_before_does_not_count_and_a_second_name_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("old"), vec![1; 300_000]).unwrap();
        let limits = Limits { disk_bytes: 200_000, files: 3, ..Limits::default() };
        let mut disk = Disk::new(vec![folder.path().to_owned()]);
        assert_eq!(disk.over(&limits), None);
        fs::write(folder.path().join("new"), vec![1; 150_000]).unwrap();
        fs::hard_link(folder.path().join("new"), folder.path().join("other")).unwrap();
        disk.next = Instant::now();
        assert_eq!(disk.over(&limits), None);
        fs::write(folder.path().join("more"), vec![1; 150_000]).unwrap();
        disk.next = Instant::now();
        assert_eq!(disk.over(&limits).unwrap(), "it wrote more than 0 MiB");
        fs::remove_file(folder.path().join("more")).unwrap();
        for name in ["a", "b", "c"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        disk.next = Instant::now();
        assert_eq!(disk.over(&limits).unwrap(), "it made more than 3 files");
    }
}
