//! The home folder: what is where, and the files that every turn reads anew.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::error::FileError;
use crate::regular_file;

/// Bytes of one text file that are read at most; a larger one is an error that says so.
pub const MAX_FILE: u64 = 4 * 1024 * 1024;

/// The folder that holds everything Limpid keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home(PathBuf);

impl Home {
    /// Takes the folder; it need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The configuration.
    pub fn config(&self) -> PathBuf {
        self.0.join("limpid.toml")
    }

    /// The soul.
    pub fn soul(&self) -> PathBuf {
        self.0.join("soul.md")
    }

    /// The safety rules.
    pub fn safety(&self) -> PathBuf {
        self.0.join("safety.md")
    }

    /// The owner's files of profiles.
    pub fn profiles(&self) -> PathBuf {
        self.0.join("profiles")
    }

    /// The agent's own folder.
    pub fn workspace(&self) -> PathBuf {
        self.0.join("workspace")
    }

    /// The folder for what strangers wrote, beside the agent's own.
    pub fn outside(&self) -> PathBuf {
        self.0.join("outside")
    }

    /// The owner's skills.
    pub fn skills(&self) -> PathBuf {
        self.0.join("skills")
    }

    /// The skills that stand in the agent's own folder.
    pub fn workspace_skills(&self) -> PathBuf {
        self.workspace().join("skills")
    }

    /// The mail accounts, with their secrets.
    pub fn mail(&self) -> PathBuf {
        self.0.join("mail")
    }

    /// Prompts of the owner's that can be chosen as skills, one a file.
    pub fn prompts(&self) -> PathBuf {
        self.0.join("prompts")
    }

    /// Versions of skills, each in a folder that is called by its hash.
    pub fn skill_versions(&self) -> PathBuf {
        self.0.join("data").join("skills")
    }

    /// Copies of the built-in skills, for tools that read files.
    pub fn builtin_skills(&self) -> PathBuf {
        self.0.join("data").join("builtin-skills")
    }

    /// Fetched models.
    pub fn models(&self) -> PathBuf {
        self.0.join("models")
    }

    /// What the owner knows of models: windows, prices, downloads.
    pub fn model_profiles(&self) -> PathBuf {
        self.0.join("models.toml")
    }

    /// The table of models that was fetched.
    pub fn model_table(&self) -> PathBuf {
        self.0.join("data").join("models.json")
    }

    /// What a provider said of its models; none when its name is no name for a file.
    pub fn reported(&self, provider: &str) -> Option<PathBuf> {
        let plain = provider.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        plain.then(|| self.0.join("data").join("providers").join(format!("{provider}.json")))
    }

    /// The token of whoever hands something in.
    pub fn ingest_token(&self) -> PathBuf {
        self.0.join("data").join("ingest.token")
    }

    /// The key for notices to browsers, and the browsers that subscribed.
    pub fn push(&self) -> PathBuf {
        self.0.join("data").join("push")
    }

    /// A file for each client that is open.
    pub fn clients(&self) -> PathBuf {
        self.0.join("data").join("clients")
    }

    /// Copies of the owner's profile files as they last could be used.
    pub fn kept_profiles(&self) -> PathBuf {
        self.0.join("data").join("kept-profiles")
    }

    /// What files held before tools changed them.
    pub fn kept_files(&self) -> PathBuf {
        self.0.join("data").join("kept")
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.0.join("data").join("limpid.db")
    }

    /// Locked by the process that serves this home.
    pub fn serve_lock(&self) -> PathBuf {
        self.0.join("data").join("serve.lock")
    }

    /// What the process that serves this home is and goes by.
    pub fn served_by(&self) -> PathBuf {
        self.0.join("data").join("serve.json")
    }

    /// Where a process that serves this home is told of changes.
    pub fn wake_socket(&self) -> PathBuf {
        self.0.join("data").join("serve.sock")
    }
}

/// A text file, or none when it does not exist. Bytes that are not UTF-8 are replaced; a mark at its start is dropped.
///
/// # Errors
/// When it exists and cannot be read, or is larger than 4 MiB.
pub fn read_text(path: &Path) -> Result<Option<String>, FileError> {
    Ok(read_marking(path)?.map(|read| read.text))
}

/// A text file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadText {
    /// Its text.
    pub text: String,
    /// How many places of it were not UTF-8 and are `U+FFFD` now.
    pub replaced: usize,
}

impl ReadText {
    /// What the owner is told of a file that is not UTF-8.
    pub fn notice(&self, name: &str) -> Option<String> {
        let places = if self.replaced == 1 { "1 place".to_owned() } else { format!("{} places", self.replaced) };
        let told = || {
            format!(
                "{name} is not valid UTF-8: {places} of it cannot be read and became \u{fffd}; save the file as UTF-8"
            )
        };
        (self.replaced > 0).then(told)
    }
}

/// The same, with how much of it was replaced.
pub fn read_marking(path: &Path) -> Result<Option<ReadText>, FileError> {
    let file = match regular_file::open(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        other => other.map_err(FileError::io(path))?,
    };
    let about = file.metadata().map_err(FileError::io(path))?;
    if about.len() > MAX_FILE {
        let size = about.len();
        let message = format!("the file has {size} bytes, at most {MAX_FILE} are read; shorten it");
        return Err(FileError::io(path)(io::Error::new(io::ErrorKind::FileTooLarge, message)));
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(MAX_FILE).read_to_end(&mut bytes).map_err(FileError::io(path))?;
    let replaced = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    Ok(Some(ReadText { text, replaced }))
}
