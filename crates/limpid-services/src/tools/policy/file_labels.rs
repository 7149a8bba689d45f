//! Labels of files: what was written in a turn that had read a stranger's text is a stranger's text when it is read
//! again, whichever tool wrote it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use limpid_config::regular_file;
use limpid_core::Trust;
use limpid_core::policy::Effect;
use limpid_store::{Store, StoreError};
use sha2::{Digest, Sha256};

use crate::tools::policy::CallFacts;

/// Files of the workspace that are looked through after a program ran; more than these are not told apart.
const LOOKED_AT: usize = 20_000;

/// Bytes of a file that are looked at; file tools read no larger ones.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// Labels the files that one call changes, by what was read before.
pub(crate) struct FileLabelGuard {
    store: Arc<dyn Store>,
    runs_programs: bool,
    read: Vec<PathBuf>,
    written: Vec<PathBuf>,
    /// The folders that a program may write.
    folders: Vec<PathBuf>,
    /// Who wrote the least trusted text that may get into the files: of the turn, and of the files themselves.
    trust: Trust,
    before: BTreeMap<PathBuf, Stamp>,
}

/// When a file was changed last, and its size.
type Stamp = (Option<SystemTime>, u64);

impl FileLabelGuard {
    /// Looks at the files before a call. `trust` is that of the turn; `approved` says that the owner said yes to this
    /// very call.
    pub(crate) async fn begin(store: Arc<dyn Store>, facts: &CallFacts, trust: Trust, approved: bool) -> Self {
        let paths = |write: bool| {
            // In the folder for what strangers wrote the place says it.
            let others = facts.paths.iter().filter(|path| !path.is_low);
            others.filter(move |path| path.write == write).map(|path| PathBuf::from(&path.real)).collect()
        };
        let mut guard = Self {
            store,
            runs_programs: facts.effect == Effect::Run,
            read: paths(false),
            written: paths(true),
            folders: facts.folders.clone(),
            trust: if trust.is_foreign() && !(approved && is_told_by(facts)) { trust } else { Trust::Owner },
            before: BTreeMap::new(),
        };
        // What is appended to a stranger's file, or edited in it, leaves it a stranger's.
        for path in guard.written.clone() {
            guard.trust = guard.trust.join(guard.label(&path).await);
        }
        if guard.runs_programs {
            // A program may copy anything that it can read.
            guard.trust = guard.trust.join(guard.any_label().await);
            guard.before = guard.stamps();
        }
        guard
    }

    /// Looks at the files after the call, labels what it changed, and returns the label of what it may have read.
    pub(crate) async fn end(self, now_ms: i64) -> Trust {
        let mut read = Trust::Owner;
        for path in &self.read {
            read = read.join(self.label(path).await);
        }
        if self.runs_programs {
            read = read.join(self.any_label().await);
        }
        if self.trust.is_foreign() {
            let programs = if self.runs_programs { self.stamps() } else { BTreeMap::new() };
            let changed = programs.into_iter().filter(|(path, stamp)| self.before.get(path) != Some(stamp));
            for path in self.written.iter().cloned().chain(changed.map(|(path, _)| path)) {
                // A file without bytes has a name all the same.
                if let Some(hash) = hash_of(&path).ok().flatten().or_else(|| path.is_file().then(String::new)) {
                    // A label that cannot be kept must not undo what was done; the turn itself stays tainted.
                    let _ = self.store.label_file(&path.display().to_string(), &hash, self.trust, now_ms).await;
                }
            }
        }
        read
    }

    fn stamps(&self) -> BTreeMap<PathBuf, Stamp> {
        stamps(self.folders.iter().map(PathBuf::as_path))
    }

    /// The label of a file as it is, or of the names in a folder. One that cannot be looked up counts as a stranger's.
    async fn label(&self, path: &Path) -> Trust {
        if path.is_dir() {
            return self.label_of_names(path).await;
        }
        let hash = match hash_of(path) {
            Ok(Some(hash)) => hash,
            Ok(None) => return Trust::Owner,
            Err(_) => return Trust::Outside,
        };
        self.store.file_label(&hash).await.map_or(Trust::Outside, |label| label.unwrap_or(Trust::Owner))
    }

    /// The label of the names in a folder: whoever had a part in a file below it may have named it, or a folder on the way.
    async fn label_of_names(&self, folder: &Path) -> Trust {
        let Ok(labelled) = self.store.labelled_files().await else { return Trust::Outside };
        let below = labelled.into_iter().filter(|file| {
            let path = Path::new(&file.path);
            path.starts_with(folder) && path.symlink_metadata().is_ok()
        });
        below.map(|file| file.trust).fold(Trust::Owner, Trust::join)
    }

    /// The label of the least trusted file that a program could have read, or seen the name of.
    async fn any_label(&self) -> Trust {
        let Ok(labelled) = self.store.labelled_files().await else { return Trust::Outside };
        let there = labelled.into_iter().filter(|file| {
            let path = Path::new(&file.path);
            let is_same = || hash_of(path).is_ok_and(|hash| hash.as_ref() == Some(&file.hash));
            if file.hash.is_empty() { path.is_file() } else { is_same() }
        });
        there.map(|file| file.trust).fold(Trust::Owner, Trust::join)
    }
}

/// The files that hold what strangers wrote, by the hash of their bytes.
#[derive(Debug, Default)]
pub struct UntrustedFiles(BTreeSet<String>);

impl UntrustedFiles {
    /// Every one that is known.
    pub async fn read(store: &dyn Store) -> Result<Self, StoreError> {
        let labelled = store.labelled_files().await?;
        Ok(Self::of(labelled.into_iter().filter(|file| file.trust.is_foreign()).map(|file| file.hash)))
    }

    /// Those with these hashes.
    pub fn of(sha256: impl IntoIterator<Item = String>) -> Self {
        Self(sha256.into_iter().collect())
    }

    /// Whether bytes with this SHA-256 are those of one of them. Whoever asks has read the bytes that it uses, and does not
    /// look at the file again.
    pub fn contains(&self, sha256: &str) -> bool {
        self.0.contains(sha256)
    }
}

/// Whether a call says itself what its files will tell a model: whoever said yes to it has read that and made it theirs.
/// What a program will write stands in no call.
fn is_told_by(facts: &CallFacts) -> bool {
    let mut written = facts.paths.iter().filter(|path| path.write).peekable();
    facts.effect != Effect::Run && written.peek().is_some() && written.all(|path| path.instructs)
}

/// The hash of a file's bytes; none of one that is not there or says nothing.
///
/// # Errors
/// When it cannot be read, or is larger than what file tools read.
fn hash_of(path: &Path) -> io::Result<Option<String>> {
    let bytes = match regular_file::read(path, MOST_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read?,
    };
    let hash = || Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((!bytes.is_empty()).then(hash))
}

/// Every file below some folders with its stamp; links are not followed.
fn stamps<'a>(folders: impl Iterator<Item = &'a Path>) -> BTreeMap<PathBuf, Stamp> {
    let (mut found, mut open) = (BTreeMap::new(), folders.map(Path::to_owned).collect::<Vec<_>>());
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(data) = entry.metadata() else { continue };
            if data.is_dir() {
                open.push(entry.path());
            } else if data.is_file() && found.len() < LOOKED_AT {
                found.insert(entry.path(), (data.modified().ok(), data.len()));
            }
        }
    }
    found
}
