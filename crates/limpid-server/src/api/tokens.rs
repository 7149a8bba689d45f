//! Which programs may ask, and as whom: a file for each, which holds the hash of its token only. What is removed opens nothing from
//! the next request on.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::PathBuf;

use limpid_config::{FileError, Home, private_file};
use limpid_runtime::AgentError;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Characters of a name at most.
const NAME: usize = 32;

/// As whom a program asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApiRole {
    /// The owner sits at it: what it sends counts as typed by them, and it may do what they may.
    Owner,
    /// Nobody sits at it: what it sends counts as written by a stranger, and it may only chat.
    Program,
    /// It may read numbers of how the agent does.
    Metrics,
}

/// A program that may ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiToken {
    /// Its name.
    pub name: String,
    /// As whom it asks.
    pub role: ApiRole,
    /// When its token was made, in milliseconds since 1970.
    pub made_ms: i64,
}

/// What a file says.
#[derive(Serialize, Deserialize)]
struct Kept {
    role: ApiRole,
    hash: String,
    made_ms: i64,
}

/// The programs of a home.
pub struct ApiTokens {
    folder: PathBuf,
}

impl ApiTokens {
    /// Those of a home.
    pub fn new(home: &Home) -> Self {
        Self { folder: home.api_tokens() }
    }

    /// Lets a program in by a token, which is told this once; `secret` is what was drawn for it.
    ///
    /// # Errors
    /// When the name is no name, there is one of it and `replace` is not set, or the file cannot be written.
    pub fn make(
        &self,
        name: &str,
        role: ApiRole,
        (secret, now_ms): (&str, i64),
        replace: bool,
    ) -> Result<String, AgentError> {
        if !is_name(name) {
            return Err(AgentError::Invalid(format!(
                "`{name}` is no name for a program: give one of small letters, digits and dashes, {NAME} at most"
            )));
        }
        let file = self.file(name);
        if !replace && file.exists() {
            return Err(AgentError::Invalid(format!(
                "`{name}` has a token, and it is told only when it is made; `limpid api token {name} --new` makes \
                 another, and the old one opens nothing then"
            )));
        }
        let token = format!("{name}_{secret}");
        let kept = Kept { role, hash: hash(&token), made_ms: now_ms };
        private_file::write(&file, &serde_json::to_string(&kept).unwrap_or_default())?;
        Ok(token)
    }

    /// The programs that may ask, by name.
    ///
    /// # Errors
    /// When the folder or a file of it cannot be read, or others may read it.
    pub fn list(&self) -> Result<Vec<ApiToken>, AgentError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(FileError::io(&self.folder)(error).into()),
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".json")?.to_owned()))
            .filter(|name| is_name(name))
            .collect();
        names.sort();
        let mut tokens = Vec::new();
        for name in names {
            if let Some(Kept { role, made_ms, .. }) = self.read(&name)? {
                tokens.push(ApiToken { name, role, made_ms });
            }
        }
        Ok(tokens)
    }

    /// Takes the token of a program away. Says whether it had one.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn revoke(&self, name: &str) -> Result<bool, AgentError> {
        if !is_name(name) {
            return Ok(false);
        }
        let file = self.file(name);
        match fs::remove_file(&file) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(FileError::io(file)(error).into()),
        }
    }

    /// The program whose token this is. A file that cannot be read opens nothing; why, `limpid api list` says.
    pub(super) fn knows(&self, token: &str) -> Option<ApiToken> {
        let (name, _) = token.rsplit_once('_').filter(|(name, _)| is_name(name))?;
        let Kept { role, hash: kept, made_ms } = self.read(name).ok()??;
        // Only hashes are compared, so the time that it takes tells nothing of the token.
        (kept == hash(token)).then(|| ApiToken { name: name.to_owned(), role, made_ms })
    }

    /// Whether the token that a program showed opens something still.
    pub(super) fn holds(&self, program: &ApiToken) -> bool {
        let kept = self.read(&program.name).ok().flatten();
        kept.is_some_and(|kept| kept.role == program.role && kept.made_ms == program.made_ms)
    }

    fn read(&self, name: &str) -> Result<Option<Kept>, AgentError> {
        let file = self.file(name);
        let Some(text) = private_file::read(&file)? else { return Ok(None) };
        let broken = |error| AgentError::Invalid(format!("{}: {error}; make the token anew", file.display()));
        serde_json::from_str(&text).map(Some).map_err(broken)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }
}

fn is_name(name: &str) -> bool {
    (1..=NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// The hash of a text, in hexadecimal digits.
pub(super) fn hash(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut hash, byte| {
        let _ = write!(hash, "{byte:02x}");
        hash
    })
}
