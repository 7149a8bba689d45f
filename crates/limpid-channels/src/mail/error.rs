//! Why something could not be done with a mail account.

use std::fmt::{self, Write as _};
use std::ops::Deref;

/// Characters that are kept of what a server says.
const SAID: usize = 500;

/// What a server says, or why it says nothing. A server may say anything at any length, so there is no way to hold more
/// than the beginning of it: whoever stores or shows an error need not ask how long it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said(String);

impl Said {
    /// The beginning of some words. What is cut off is never written down anywhere.
    pub fn new(words: impl fmt::Display) -> Self {
        let mut beginning = Beginning { text: String::new(), room: SAID };
        // The error says that there is no more room.
        let _ = write!(beginning, "{words}");
        Self(beginning.text)
    }
}

impl Deref for Said {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Said {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The beginning of a text that is being written.
struct Beginning {
    text: String,
    /// Characters that may still come.
    room: usize,
}

impl fmt::Write for Beginning {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let end = more.char_indices().nth(self.room).map_or(more.len(), |(at, _)| at);
        self.text.push_str(&more[..end]);
        self.room -= more[..end].chars().count();
        if end == more.len() {
            return Ok(());
        }
        self.text.push('…');
        Err(fmt::Error)
    }
}

/// An error of mail: what was wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailError {
    /// The server cannot be reached.
    #[error("{server} cannot be reached: {why}")]
    Unreachable {
        /// The server.
        server: String,
        /// Why.
        why: Said,
    },
    /// Whoever answers cannot prove to be the server. Nothing was said to them.
    #[error("the certificate of {server} is not trusted: {why}")]
    Certificate {
        /// The server.
        server: String,
        /// What is wrong with it, and what to do.
        why: Said,
    },
    /// The server does not let the account in.
    #[error("{server} refuses the login of {user}: {why}")]
    Login {
        /// The server.
        server: String,
        /// Who logged in.
        user: String,
        /// What the server said.
        why: Said,
    },
    /// The server refused something, or broke off.
    #[error("{server}: {why}")]
    Server {
        /// The server.
        server: String,
        /// What it said.
        why: Said,
    },
    /// A message is not there (any more).
    #[error("there is no mail {0} in this account; check_email and search_email list what is there")]
    NotFound(String),
    /// What was asked cannot be: an address that is none, a line break where none may be.
    #[error("{0}")]
    Invalid(String),
    /// Nobody knows whether a letter was sent.
    #[error("{server} broke off while the letter was handed over ({why}); whether it was sent is unknown")]
    Unknown {
        /// The server.
        server: String,
        /// Why.
        why: Said,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-093
    #[test]
    fn of_what_a_server_says_only_the_beginning_is_held() {
        assert_eq!(Said::new("554 no"), *"554 no");
        assert_eq!(Said::new("ä".repeat(500)), *"ä".repeat(500));
        assert_eq!(Said::new("ä".repeat(501)), *format!("{}…", "ä".repeat(500)));
        // What comes in pieces is cut as a whole, and nothing is written once there is no room.
        let said = Said::new(format_args!("{}{}{}", "a".repeat(300), "b".repeat(300), "c".repeat(60_000_000)));
        assert_eq!(said, *format!("{}{}…", "a".repeat(300), "b".repeat(200)));
    }
}
