//! What the hub said of a model when it was first asked for: a small file beside the model's, so that the same revision and
//! the same bytes are meant from then on.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::download::Download;
use super::pull::PullError;
use limpid_config::{MAX_FILE, regular_file};

/// The file that remembers a model.
pub(super) fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.toml"))
}

/// The models that are remembered in a folder, by name. A file that cannot be used is as if it were not there: the hub is
/// asked anew.
pub(super) fn read_all(folder: &Path) -> Vec<Download> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let is_pin = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    let mut pins: Vec<Download> = entries.filter(is_pin).filter_map(|path| read(&path)).collect();
    pins.sort_by(|left, right| left.name.cmp(&right.name));
    pins
}

fn read(path: &Path) -> Option<Download> {
    let pin: Download = toml::from_str(&regular_file::read_text(path, MAX_FILE).ok()?).ok()?;
    let own = path.file_stem().is_some_and(|stem| stem.to_str() == Some(&pin.name));
    (own && pin.check().is_ok()).then_some(pin)
}

/// Remembers a model.
pub(super) fn write(folder: &Path, download: &Download) -> Result<(), PullError> {
    let path = path(folder, &download.name);
    let io = |source| PullError::Io { path: path.clone(), source };
    let text = toml::to_string(download).map_err(|error| io(std::io::Error::other(error)))?;
    fs::create_dir_all(folder).map_err(io)?;
    // Another process may pin the same model: each has its own part.
    let part = folder.join(format!(".{}.{}.pin", download.name, std::process::id()));
    let put = || {
        let mut file = fs::File::create(&part)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&part, &path)
    };
    put().map_err(io)
}
