//! Tokens of whoever may ask over HTTP.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::error::AgentError;

/// Characters that a token has at least.
const MIN_TOKEN: usize = 16;

/// A token, known only by its hash once it was read.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken([u8; 32]);

impl AccessToken {
    /// A token that stands in a place. `advice` says how a good one is made.
    ///
    /// # Errors
    /// When it is too short to be safe.
    pub fn new(token: &str, place: &str, advice: &str) -> Result<Self, AgentError> {
        let token = token.trim();
        if token.len() < MIN_TOKEN {
            return Err(AgentError::Invalid(format!(
                "the token in {place} has fewer than {MIN_TOKEN} characters; {advice}"
            )));
        }
        Ok(Self(Sha256::digest(token).into()))
    }

    /// Whether this is the token. Only hashes are compared, so the time that it takes tells nothing of the token.
    pub fn is(&self, presented: &str) -> bool {
        self.0 == <[u8; 32]>::from(Sha256::digest(presented))
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken")
    }
}
