//! Where a provider is, and what it wants.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::http::{is_loopback, shown, url_of};
use crate::key::ApiKey;
use crate::key_command::KeyCommand;
use crate::protocol::{Dialect, Protocol};

/// How long a server may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// To take the connection.
    pub connect: Duration,
    /// To say something more, from the request to the first byte and between any two later ones.
    pub idle: Duration,
}

impl Default for Timeouts {
    /// 10 s and 5 minutes: a local server may read a long prompt for that long.
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), idle: Duration::from_mins(5) }
    }
}

/// Where a provider is and how it is spoken to.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The protocol.
    pub protocol: Protocol,
    /// In what it differs from others of that protocol.
    pub dialect: Dialect,
    /// The URL that the protocol's paths follow; a name and password in it are sent as such and shown nowhere.
    pub base_url: String,
    /// The key, if it wants one.
    pub key: Option<ApiKey>,
    /// The command that prints the key, where no variable holds it.
    pub key_command: Option<Arc<KeyCommand>>,
    /// The variable that the key is usually in, for error messages.
    pub key_variable: Option<String>,
    /// What the owner adds to requests.
    pub access: Access,
    /// The models that the provider lists, as far as it was asked.
    pub listed: Vec<String>,
    /// How long it may take.
    pub timeouts: Timeouts,
}

/// What a provider wants beside its protocol.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Access {
    /// The header that the key goes in, when it is not the protocol's.
    pub key_header: Option<String>,
    /// More headers. Their values may be secrets and are shown nowhere.
    pub headers: BTreeMap<String, ApiKey>,
    /// What is put behind every address. The values are shown nowhere.
    pub query: BTreeMap<String, String>,
    /// More fields of the body. A field that is in it already stays as it is.
    pub extra: serde_json::Map<String, serde_json::Value>,
}

impl Endpoint {
    /// The same with the key that its command prints.
    pub(crate) async fn with_key(&self) -> Result<Self, String> {
        let Some(command) = &self.key_command else { return Ok(self.clone()) };
        Ok(Self { key: Some(command.key().await?), ..self.clone() })
    }

    /// Where it is, without secrets.
    pub fn shown(&self) -> String {
        url_of(self, "").map(|url| shown(&url)).unwrap_or_default()
    }

    /// Whether it is on this machine.
    pub fn is_here(&self) -> bool {
        url_of(self, "").is_ok_and(|url| is_loopback(&url))
    }
}
