//! Why something could not be done with a mail account.

/// An error of mail: what was wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailError {
    /// The server cannot be reached.
    #[error("{server} cannot be reached: {why}")]
    Unreachable {
        /// The server.
        server: String,
        /// Why.
        why: String,
    },
    /// Whoever answers cannot prove to be the server. Nothing was said to them.
    #[error("the certificate of {server} is not trusted: {why}")]
    Certificate {
        /// The server.
        server: String,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// The server does not let the account in.
    #[error("{server} refuses the login of {user}: {why}")]
    Login {
        /// The server.
        server: String,
        /// Who logged in.
        user: String,
        /// What the server said.
        why: String,
    },
    /// The server refused something, or broke off.
    #[error("{server}: {why}")]
    Server {
        /// The server.
        server: String,
        /// What it said.
        why: String,
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
        why: String,
    },
}
