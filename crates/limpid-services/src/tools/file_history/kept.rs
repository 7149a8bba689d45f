//! What files held before tools changed them, for a while: one file for each content, named by its hash.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use limpid_config::MAX_FILE;
use limpid_store::{FileHash, KeptFile};

use super::opened::{MOST_BYTES, OpenedFile};
use super::without_mark;
use crate::tools::policy::real;

/// How long a content is kept after the last change that replaced it.
const LIFE_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// Bytes that are kept of what turns changed that had read a stranger's text.
const MOST_FOREIGN_BYTES: u64 = 50 * 1024 * 1024;

/// The folder of what is kept.
#[derive(Clone, Debug)]
pub(super) struct KeptFiles {
    folder: PathBuf,
}

impl KeptFiles {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Keeps what a file holds, unless it is kept already or is larger than everything that is kept.
    ///
    /// # Errors
    /// When it cannot be read or written, or is another content by now.
    pub(super) fn keep(&self, from: &OpenedFile, hash: FileHash) -> io::Result<()> {
        let kept = self.file(hash);
        if kept.exists() || from.bytes() > MOST_BYTES {
            return Ok(());
        }
        fs::create_dir_all(&self.folder)?;
        // A copy whose call was given up goes on, beside the next one of the same content.
        let (process, thread) = (std::process::id(), std::thread::current().id());
        let new = self.folder.join(format!(".{hash}.{process}-{thread:?}.new"));
        let copied = from.copy(create(&new)?).and_then(|copied| match copied == hash {
            true => fs::rename(&new, &kept),
            false => Err(io::Error::other("it changed while it was read")),
        });
        copied.inspect_err(|_| drop(fs::remove_file(&new)))
    }

    /// The same for the file at a place, which is a path with every link followed.
    ///
    /// # Errors
    /// As [`KeptFiles::keep`], and when a link is in its place or on the way by now.
    pub(super) fn keep_at(&self, place: &Path, hash: FileHash) -> io::Result<()> {
        let from = OpenedFile::at(place)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        self.keep(&from, hash)
    }

    /// A content that is kept; none when it is kept no longer, or is not what it was.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn read(&self, hash: FileHash) -> io::Result<Option<Vec<u8>>> {
        let Some(kept) = self.opened(hash)? else { return Ok(None) };
        let bytes = kept.read(MOST_BYTES)?;
        Ok((FileHash::of(&bytes) == hash).then_some(bytes))
    }

    /// The text of a content that is kept, as prompts read files; none when it is not there, or is not what it was.
    pub(super) fn text(&self, hash: FileHash) -> Option<String> {
        let bytes = self.opened(hash).ok()??.read(MAX_FILE).ok()?;
        (FileHash::of(&bytes) == hash).then(|| without_mark(&String::from_utf8_lossy(&bytes)).to_owned())
    }

    fn opened(&self, hash: FileHash) -> io::Result<Option<OpenedFile>> {
        // The owner may have laid a link on the way to the home; programs write nowhere on it.
        OpenedFile::at(&real(&self.folder).join(hash.to_string()))
    }

    /// Removes what is too old or too much. What a stranger's text has had changed is counted by itself, so that no number of such
    /// changes takes the owner's undo away. `changes` are in the order in which they are worth keeping.
    pub(super) fn prune(&self, changes: &[KeptFile], now_ms: i64) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut there: HashMap<String, u64> = entries
            .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.metadata().ok()?.len())))
            .filter(|(name, _)| !name.starts_with('.'))
            .collect();
        let (mut owners, mut foreign) = (MOST_BYTES, MOST_FOREIGN_BYTES);
        for KeptFile { hash, at_ms, is_foreign } in changes {
            let Some(bytes) = there.get(&hash.to_string()).copied() else { continue };
            let left = if *is_foreign { &mut foreign } else { &mut owners };
            let fits = left.checked_sub(bytes).filter(|_| now_ms.saturating_sub(*at_ms) <= LIFE_MS);
            if let Some(rest) = fits {
                *left = rest;
                there.remove(&hash.to_string());
            }
        }
        for name in there.into_keys() {
            // What cannot be removed now is removed the next time.
            let _ = fs::remove_file(self.folder.join(name));
        }
    }

    /// Where it is.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    fn file(&self, hash: FileHash) -> PathBuf {
        self.folder.join(hash.to_string())
    }
}

/// A new file that its owner alone may read.
#[expect(
    clippy::disallowed_methods,
    reason = "it is written, in a folder of the program's own; what it holds is not read"
)]
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::file_history::opened::hash_of;

    // SEC-063
    #[test]
    fn what_is_kept_is_what_was_there_and_goes_after_a_month() {
        let folder = tempfile::tempdir().unwrap();
        let kept = KeptFiles::new(folder.path().join("kept"));
        let file = folder.path().canonicalize().unwrap().join("file");
        let mut changes = Vec::new();
        for (text, day) in [("new", 31), ("old", 1), ("older", 0)] {
            fs::write(&file, text).unwrap();
            let hash = hash_of(&file).unwrap().unwrap();
            kept.keep_at(&file, hash).unwrap();
            changes.push(KeptFile { hash, at_ms: day * 24 * 60 * 60 * 1000, is_foreign: false });
        }
        let there = || changes.iter().map(|change| kept.read(change.hash).unwrap()).collect::<Vec<_>>();
        assert_eq!(there(), [Some(b"new".to_vec()), Some(b"old".to_vec()), Some(b"older".to_vec())]);
        kept.prune(&changes, changes[0].at_ms);
        assert_eq!(there(), [Some(b"new".to_vec()), Some(b"old".to_vec()), None]);
        fs::write(kept.file(changes[0].hash), "other").unwrap();
        assert_eq!(there(), [None, Some(b"old".to_vec()), None], "what was changed since is not what it was");
        assert!(kept.keep_at(&file, FileHash::of(b"something else")).is_err());
        assert_eq!(fs::read_dir(folder.path().join("kept")).unwrap().count(), 2, "no unfinished copy is left");
    }

    /// A program exchanges the file for a link again and again, as fast as it can.
    // SEC-058 SEC-063 SEC-088
    #[cfg(unix)]
    #[test]
    fn of_a_file_that_is_exchanged_for_a_link_meanwhile_nothing_that_the_link_leads_to_is_kept() {
        use std::sync::atomic::{AtomicBool, Ordering};
        use std::time::{Duration, Instant};

        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        let kept = KeptFiles::new(at("kept"));
        fs::create_dir(at("site")).unwrap();
        fs::write(at("private"), "PIN 4711").unwrap();
        let (path, new) = (at("site/plan"), at("site/new"));
        let lay = |is_link: bool| {
            match is_link {
                true => std::os::unix::fs::symlink("../private", &new).unwrap(),
                false => fs::write(&new, "tea").unwrap(),
            }
            fs::rename(&new, &path).unwrap();
        };
        lay(false);
        let (stop, until) = (AtomicBool::new(false), Instant::now() + Duration::from_secs(60));
        let (mut own, mut refused) = (0, 0);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while !stop.load(Ordering::SeqCst) && Instant::now() < until {
                    [true, false].into_iter().for_each(lay);
                }
            });
            // Until both were met often enough.
            while (own < 50 || refused < 50) && Instant::now() < until {
                let looked = hash_of(&path).ok().flatten();
                match looked.map(|hash| kept.keep_at(&path, hash)) {
                    Some(Ok(())) => own += 1,
                    _ => refused += 1,
                }
                // Whoever knows the hash of what is private has none of it kept either.
                let _ = kept.keep_at(&path, FileHash::of(b"PIN 4711"));
            }
            stop.store(true, Ordering::SeqCst);
        });
        assert!(own >= 50 && refused >= 50, "within a minute: {own} {refused}");
        let texts: Vec<Vec<u8>> =
            fs::read_dir(at("kept")).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
        assert_eq!(texts, [b"tea".to_vec()]);
    }

    // SEC-063
    #[test]
    fn what_is_newest_is_kept_when_there_is_too_much() {
        let folder = tempfile::tempdir().unwrap();
        let kept = KeptFiles::new(folder.path().join("kept"));
        fs::create_dir_all(&kept.folder).unwrap();
        let change =
            |n: u8, is_foreign: bool| KeptFile { hash: FileHash::of(&[n]), at_ms: i64::from(9 - n), is_foreign };
        let put = |change: &KeptFile, bytes: u64| File::create(kept.file(change.hash)).unwrap().set_len(bytes).unwrap();
        let changes: Vec<KeptFile> = (0..3).map(|n| change(n, false)).chain((3..6).map(|n| change(n, true))).collect();
        changes[..3].iter().for_each(|change| put(change, MOST_BYTES / 2));
        changes[3..].iter().for_each(|change| put(change, MOST_FOREIGN_BYTES / 2));
        kept.prune(&changes, 10);
        let there: Vec<bool> = changes.iter().map(|change| kept.file(change.hash).exists()).collect();
        assert_eq!(there, [true, true, false, true, true, false], "each side has its own room");
    }
}
