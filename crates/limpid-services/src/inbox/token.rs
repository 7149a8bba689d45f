//! The token of whoever hands something in: from the environment or from a file that only the owner may read.

use std::path::PathBuf;

use limpid_config::{MAX_FILE, private_file, regular_file};

use crate::access_token::AccessToken;
use crate::error::AgentError;
use crate::inbox::Inbox;

/// The variable that holds the token, when the owner does not keep it in the file of the home.
pub const TOKEN_VARIABLE: &str = "LIMPID_INGEST_TOKEN";

impl Inbox {
    /// The token of whoever hands something in; none when there is none.
    ///
    /// # Errors
    /// When its file cannot be read, others may read it, or the token is too short to be safe.
    pub fn token(&self) -> Result<Option<AccessToken>, AgentError> {
        let path = self.token_file();
        let (token, place) = match self.environment.get(TOKEN_VARIABLE) {
            Some(token) => (token.to_owned(), TOKEN_VARIABLE.to_owned()),
            None => match private_file::read(&path)? {
                Some(token) => (token, path.display().to_string()),
                None => return Ok(None),
            },
        };
        AccessToken::new(&token, &place, "`limpid inbox token --new` makes a good one").map(Some)
    }

    /// Makes a token and keeps it in a file of the home that only the owner may read. This is the one time that it is
    /// told.
    ///
    /// # Errors
    /// When there is one and `replace` is not set, or the file cannot be written.
    pub fn make_token(&self, replace: bool) -> Result<String, AgentError> {
        let path = self.token_file();
        if self.environment.get(TOKEN_VARIABLE).is_some() {
            return Err(AgentError::Invalid(format!(
                "the variable {TOKEN_VARIABLE} holds the token, and one in a file would not count; unset it, or change it \
                 there and restart `limpid serve`"
            )));
        }
        if !replace && path.exists() {
            return Err(AgentError::Invalid(
                "there is a token already, and it is told only when it is made; `limpid inbox token --new` makes \
                 another, and the old one opens nothing then"
                    .to_owned(),
            ));
        }
        let token: String = (0..4).map(|_| self.host.tag()).collect();
        private_file::write(&path, &token)?;
        // Whoever serves refuses the old one with the next request; a first one opens its door.
        self.waker.wake();
        Ok(token)
    }

    /// Sees to it that no text repeats the token that is kept in the home.
    pub fn learn_token(&self) {
        if let Ok(token) = regular_file::read_text(&self.token_file(), MAX_FILE) {
            self.redactor.learn("ingest token", token.trim());
        }
    }

    fn token_file(&self) -> PathBuf {
        self.home.ingest_token()
    }
}
