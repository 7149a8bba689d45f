//! The home folder: what is where, and the files that every turn reads anew.

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::error::FileError;
use crate::regular_file::Opened;

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

    /// The folders whose files are known by the folder's name and the way below it, wherever it lies. No name is ever changed.
    pub fn named_folders(&self) -> Vec<(&'static str, PathBuf)> {
        vec![
            ("home", self.0.clone()),
            ("workspace", self.workspace()),
            ("outside", self.outside()),
            ("skills", self.skills()),
            ("prompts", self.prompts()),
            ("profiles", self.profiles()),
        ]
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

    /// Copies of what an approval is bound to, while it runs.
    pub fn approved_copies(&self) -> PathBuf {
        self.0.join("data").join("scratch").join("approved")
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

    /// What a login at a server gave.
    pub fn mcp_login(&self, server: &str) -> PathBuf {
        self.mcp().join("login").join(format!("{server}.json"))
    }

    /// The token of clients of the Model Context Protocol that ask over HTTP.
    pub fn mcp_token(&self) -> PathBuf {
        self.0.join("data").join("mcp.token")
    }

    /// The code that logs a browser in at the page, once.
    pub fn page_code(&self) -> PathBuf {
        self.0.join("data").join("page.code")
    }

    /// The name that the page has on this machine.
    pub fn page_name(&self) -> PathBuf {
        self.0.join("data").join("page.name")
    }

    /// Which browsers are logged in at the page.
    pub fn page_sessions(&self) -> PathBuf {
        self.0.join("data").join("page.sessions")
    }

    /// Which programs may ask over HTTP, a file for each.
    pub fn api_tokens(&self) -> PathBuf {
        self.0.join("data").join("api")
    }

    /// The token of whoever hands something in.
    pub fn ingest_token(&self) -> PathBuf {
        self.0.join("data").join("ingest.token")
    }

    /// The key for notices to browsers, and the browsers that subscribed.
    pub fn push(&self) -> PathBuf {
        self.0.join("data").join("push")
    }

    /// What the owner has looked at of MCP servers, a file for each.
    pub fn mcp(&self) -> PathBuf {
        self.0.join("data").join("mcp")
    }

    /// Written whenever the owner has looked at something of a server.
    pub fn mcp_looked(&self) -> PathBuf {
        self.mcp().join("looked")
    }

    /// A file for each client that is open.
    pub fn clients(&self) -> PathBuf {
        self.0.join("data").join("clients")
    }

    /// Copies of the owner's profile files as they last could be used.
    pub fn kept_profiles(&self) -> PathBuf {
        self.0.join("data").join("kept-profiles")
    }

    /// The file that a process holds while it changes files: two of them would not see each other's change.
    pub fn files_lock(&self) -> PathBuf {
        self.0.join("data").join("files.lock")
    }

    /// The file that processes hold while they run programs: many at once, or one that runs alone.
    pub fn programs_lock(&self) -> PathBuf {
        self.0.join("data").join("programs.lock")
    }

    /// The file that an approved program holds while it waits for others to end, so that no other one starts before it.
    pub fn next_program_lock(&self) -> PathBuf {
        self.0.join("data").join("next-program.lock")
    }

    /// The file that a program of this kind holds which may be a stranger's: those that see what is the owner's and those that can send
    /// or leave something are never there at once.
    pub fn kind_lock(&self, sees: bool) -> PathBuf {
        self.0.join("data").join(if sees { "seeing-programs.lock" } else { "sending-programs.lock" })
    }

    /// The file that such a program holds while it waits for those of the other kind to end, so that no other one starts before it.
    pub fn next_kind_lock(&self) -> PathBuf {
        self.0.join("data").join("next-kind.lock")
    }

    /// The file that a program holds which has one of the places of those that run at once.
    pub fn program_place(&self, number: usize) -> PathBuf {
        self.folder_locks().join(format!("program-{number}.lock"))
    }

    /// Files that tools hold while they change one in a folder.
    pub fn folder_locks(&self) -> PathBuf {
        self.0.join("data").join("locks")
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadText {
    /// Its text.
    pub text: String,
    /// How many places of it were not UTF-8 and are `U+FFFD` now.
    pub replaced: usize,
    /// Its bytes as they were read.
    pub bytes: Vec<u8>,
}

impl ReadText {
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub fn sha256(&self) -> String {
        Sha256::digest(&self.bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    }

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
    open_if_there(path)?.map(|file| marking(file, path)).transpose()
}

/// The same for a file within a folder, by its path there. One that leads out of the folder is an error.
pub fn read_within(folder: &Path, inside: &Path) -> Result<Option<ReadText>, FileError> {
    let path = folder.join(inside);
    match Opened::below(folder, inside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map_err(FileError::io(&path)).and_then(|file| marking(file, &path)).map(Some),
    }
}

/// A regular file; none when it does not exist.
pub(crate) fn open_if_there(path: &Path) -> Result<Option<Opened>, FileError> {
    match Opened::at(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        other => other.map(Some).map_err(FileError::io(path)),
    }
}

/// The text of a file that was opened; its path is for errors alone.
pub(crate) fn marking(file: Opened, path: &Path) -> Result<ReadText, FileError> {
    let size = file.about().len();
    let bytes = file.bytes(MAX_FILE).map_err(|error| {
        let error = match error.kind() {
            // It may have grown while it was read.
            io::ErrorKind::FileTooLarge => {
                let size = size.max(MAX_FILE + 1);
                let message = format!("the file has {size} bytes, at most {MAX_FILE} are read; shorten it");
                io::Error::new(io::ErrorKind::FileTooLarge, message)
            }
            _ => error,
        };
        FileError::io(path)(error)
    })?;
    let replaced = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    Ok(ReadText { text, replaced, bytes })
}
