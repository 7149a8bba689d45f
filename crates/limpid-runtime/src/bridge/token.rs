//! The token of clients that ask over HTTP: in a file of the home that only the owner may read.

use std::path::PathBuf;

use limpid_config::private_file;
use limpid_services::access_token::AccessToken;
use limpid_services::error::AgentError;

use super::Bridge;

/// How another one is made.
const ADVICE: &str = "remove the file, and `limpid mcp serve --http` makes a good one";

impl Bridge {
    /// The token as the file says now; none when it is gone.
    ///
    /// # Errors
    /// When the file cannot be read, others may read it, or the token is too short to be safe.
    pub fn token(&self) -> Result<Option<AccessToken>, AgentError> {
        let path = self.agent.home().mcp_token();
        let Some(token) = private_file::read(&path)? else { return Ok(None) };
        AccessToken::new(&token, &path.display().to_string(), ADVICE).map(Some)
    }

    /// Makes a token where there is none, and sees to it that no text repeats it. Says where it is.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn keep_token(&self) -> Result<PathBuf, AgentError> {
        let (path, context) = (self.agent.home().mcp_token(), self.agent.context());
        let token = match private_file::read(&path)? {
            Some(token) => token,
            None => {
                let token = self.agent.new_secret();
                private_file::write(&path, &token)?;
                token
            }
        };
        AccessToken::new(&token, &path.display().to_string(), ADVICE)?;
        context.redactor.learn("mcp token", token.trim());
        Ok(path)
    }
}
