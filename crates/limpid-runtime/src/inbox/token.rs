//! The token of whoever hands something in: from the environment or from a file that only the owner may read (SEC-032).

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::agent::Agent;
use crate::error::AgentError;
use crate::home::Home;
use crate::world::hex;

/// The variable that holds the token, when the owner does not keep it in the file of the home.
pub const TOKEN_VARIABLE: &str = "LIMPID_INGEST_TOKEN";

/// Characters that a token has at least.
const MIN_TOKEN: usize = 16;

/// A token, known only by its hash once it was read.
#[derive(Clone, PartialEq, Eq)]
pub struct IngestToken([u8; 32]);

impl IngestToken {
    /// Whether this is the token. Only hashes are compared, so the time that it takes tells nothing of the token.
    pub fn is(&self, presented: &str) -> bool {
        self.0 == Self::new(presented).0
    }

    fn new(token: &str) -> Self {
        Self(Sha256::digest(token).into())
    }
}

impl std::fmt::Debug for IngestToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IngestToken")
    }
}

impl Agent {
    /// The token of whoever hands something in; none when there is none.
    ///
    /// # Errors
    /// When its file cannot be read, others may read it, or the token is too short to be safe.
    pub fn ingest_token(&self) -> Result<Option<IngestToken>, AgentError> {
        let path = self.token_file();
        let (token, place) = match self.inner.environment.get(TOKEN_VARIABLE) {
            Some(token) => (token.to_owned(), TOKEN_VARIABLE.to_owned()),
            None => match private_text(&path)? {
                Some(token) => (token, path.display().to_string()),
                None => return Ok(None),
            },
        };
        let token = token.trim();
        if token.len() < MIN_TOKEN {
            let advice = "`limpid inbox token --new` makes a good one";
            return Err(AgentError::Invalid(format!(
                "the token in {place} has fewer than {MIN_TOKEN} characters; {advice}"
            )));
        }
        Ok(Some(IngestToken::new(token)))
    }

    /// Makes a token and keeps it in a file of the home that only the owner may read. This is the one time that it is
    /// told.
    ///
    /// # Errors
    /// When there is one and `replace` is not set, or the file cannot be written.
    pub fn make_ingest_token(&self, replace: bool) -> Result<String, AgentError> {
        let path = self.token_file();
        if !replace && path.exists() {
            return Err(AgentError::Invalid(
                "there is a token already, and it is told only when it is made; `limpid inbox token --new` makes \
                 another, and the old one opens nothing then"
                    .to_owned(),
            ));
        }
        let token: String = (0..4).map(|_| hex(&*self.inner.ids)).collect();
        write_private(&path, &token).map_err(AgentError::file(&path))?;
        Ok(token)
    }

    fn token_file(&self) -> PathBuf {
        self.inner.home.ingest_token()
    }
}

/// The token that stands in the home, so that no text repeats it (SEC-032); none when there is none.
pub(crate) fn kept_token(home: &Home) -> Option<String> {
    let text = fs::read_to_string(home.ingest_token()).ok()?;
    Some(text.trim().to_owned())
}

/// A file that only the owner may read; none when it does not exist.
fn private_text(path: &Path) -> Result<Option<String>, AgentError> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(AgentError::file(path))?,
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(path).map_err(AgentError::file(path))?.permissions().mode();
        if mode & 0o077 != 0 {
            let (path, mode) = (path.display(), mode & 0o777);
            return Err(AgentError::Invalid(format!(
                "{path} may be read by others (mode {mode:o}); run: chmod 600 {path}"
            )));
        }
    }
    Ok(Some(text))
}

/// Writes a file beside the old one and puts it in its place, so that there is always a whole one.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let next = path.with_extension("token.new");
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(&next)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(next, path)
}
