//! A mail account as plain values.

use std::fmt;
use std::net::IpAddr;

use super::{Login, MailError, Roots};

/// A mail account.
#[derive(Clone, Debug)]
pub struct Account {
    /// Its address: what it is called by, and what its letters come from.
    pub address: String,
    /// The name that stands before the address.
    pub name: Option<String>,
    /// The name to log in with.
    pub user: String,
    /// How to log in.
    pub login: Login,
    /// Where mail is read.
    pub imap: Server,
    /// Where mail is sent.
    pub smtp: Server,
    /// The folder that is polled.
    pub folder: String,
    /// The folder that letters are copied to when they are sent. Absent: the one that the server names.
    pub sent: Option<String>,
    /// Whether letters are copied at all; some servers do it by themselves.
    pub copies: bool,
    /// Who has to have signed the certificates of its servers. Absent: somebody whom the system trusts.
    pub roots: Option<Roots>,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is secured.
    pub security: Security,
}

/// How a connection is secured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// TLS from the first byte.
    Tls,
    /// TLS after STARTTLS; without it nothing is said.
    StartTls,
    /// None. Only on this machine, where nobody listens in.
    None,
}

impl Security {
    /// The word for it, as settings write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tls => "tls",
            Self::StartTls => "starttls",
            Self::None => "none",
        }
    }

    /// Reads a word; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Tls, Self::StartTls, Self::None].into_iter().find(|security| security.as_str() == word)
    }
}

impl Server {
    /// Refuses a server to which a password would be said where others can hear it.
    ///
    /// # Errors
    /// When the connection has no TLS and leaves the machine.
    pub fn check(&self) -> Result<(), MailError> {
        let is_here = || self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        if self.security != Security::None || is_here() {
            return Ok(());
        }
        Err(MailError::Invalid(format!(
            "{self} would hear the password without TLS; set `security` to \"tls\" or \"starttls\""
        )))
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}
