//! How an account is reached, as its file says it.

use std::path::PathBuf;

use limpid_channels::mail::servers::token_url_of;
use limpid_channels::mail::{Security, Server};
use serde::{Deserialize, Serialize};

/// How an account is reached. What is absent is taken from what is known of the provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccountSettings {
    /// Its address.
    pub address: String,
    /// The name that stands before the address in letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The name to log in with. Absent: the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// How to log in.
    pub login: LoginKind,
    /// The environment variable that holds the password, token or refresh token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_env: Option<String>,
    /// A program and its arguments that print it on their first line. Neither: the file beside this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secret_command: Vec<String>,
    /// The folder that is read. Absent: INBOX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The folder that gets copies of letters. Absent: the one that the server names. Empty: no copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// A PEM file with the authorities that have signed the servers' certificates; no others are trusted then. Absent:
    /// those that the system trusts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    /// Where mail is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imap: Option<ServerSettings>,
    /// Where mail is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smtp: Option<ServerSettings>,
    /// How tokens are fetched, when `login` is `oauth`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth: Option<OAuthSettings>,
}

/// How an account logs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoginKind {
    /// With a password.
    #[default]
    Password,
    /// With an OAuth 2 access token (XOAUTH2) that the owner puts in.
    Token,
    /// With OAuth 2 access tokens that are fetched with a refresh token.
    OAuth,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with `host`")]
pub struct ServerSettings {
    /// Its name or address.
    pub host: String,
    /// Its port. Absent: the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// `tls`, `starttls`, or `none` for a server on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security: Option<String>,
}

impl ServerSettings {
    /// Reads `HOST` or `HOST:PORT`, with the security that such a port usually has.
    ///
    /// ```
    /// use limpid_services::mail::ServerSettings;
    /// let server = ServerSettings::parse("mail.example.com:587").unwrap();
    /// assert_eq!((server.port, server.security.as_deref()), (Some(587), None));
    /// assert!(ServerSettings::parse("mail.example.com:mail").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (text, None),
        };
        let is_host = !host.is_empty() && !host.contains(|letter: char| letter.is_whitespace() || letter == '/');
        is_host.then(|| Self { host: host.to_owned(), port, security: None })
    }

    pub(super) fn server(&self, usual: &Server) -> Result<Server, String> {
        let port = self.port.unwrap_or(usual.port);
        let security = match (self.security.as_deref(), port) {
            (Some(word), _) => Security::parse(word)
                .ok_or_else(|| format!("`security` is \"tls\", \"starttls\" or \"none\", not \"{word}\""))?,
            (None, 143 | 587) => Security::StartTls,
            (None, _) => Security::Tls,
        };
        let server = Server { host: self.host.clone(), port, security };
        server.check().map_err(|error| error.to_string())?;
        Ok(server)
    }
}

/// How tokens are fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OAuthSettings {
    /// Where tokens are fetched. Absent: what is known of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_url: Option<String>,
    /// What the provider knows this program by.
    pub client_id: String,
    /// The environment variable that holds the client's own secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret_env: Option<String>,
    /// A program and its arguments that print it. Neither: the client has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub client_secret_command: Vec<String>,
    /// What is asked for. Absent: all that the refresh token stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

/// How an account's tokens are fetched, and where.
///
/// # Errors
/// A sentence: what the settings lack.
pub(crate) fn settings_of(settings: &AccountSettings) -> Result<(&OAuthSettings, &str), String> {
    let address = &settings.address;
    let lacks =
        |what: &str| format!("{address} logs in with oauth, so its file has to name the `{what}` under [oauth]");
    let oauth = settings.oauth.as_ref().filter(|oauth| !oauth.client_id.is_empty());
    let oauth = oauth.ok_or_else(|| lacks("client_id"))?;
    let domain = address.rsplit('@').next().unwrap_or_default();
    let token_url = oauth.token_url.as_deref().or_else(|| token_url_of(domain));
    Ok((oauth, token_url.ok_or_else(|| lacks("token_url"))?))
}
