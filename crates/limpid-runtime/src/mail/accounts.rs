//! The files of mail accounts: `mail/ADDRESS.toml` in the home says how an account is reached, `mail/ADDRESS.secret`,
//! which only the owner may read, holds its password or token (SEC-032).

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use limpid_channels::mail::servers::servers_of;
use limpid_channels::mail::{Account, Login, Secret, Security, Server, address};
use serde::{Deserialize, Serialize};

use super::MailDesk;
use crate::error::AgentError;
use crate::home::read_text;

/// Letters of an address that a file can be called by.
const PLAIN: &str = "@.-_+";

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
    /// The environment variable that holds the password or token. Absent: the file beside this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_env: Option<String>,
    /// The folder that is read. Absent: INBOX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The folder that gets copies of letters. Absent: the one that the server names. Empty: no copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// Where mail is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imap: Option<ServerSettings>,
    /// Where mail is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smtp: Option<ServerSettings>,
}

/// How an account logs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoginKind {
    /// With a password.
    #[default]
    Password,
    /// With an OAuth 2 access token (XOAUTH2).
    Token,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// use limpid_runtime::mail::ServerSettings;
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

    fn server(&self, usual: &Server) -> Result<Server, String> {
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

impl MailDesk {
    /// The accounts whose files can be read, by address.
    pub(crate) fn settings(&self) -> Vec<AccountSettings> {
        let mut found: Vec<AccountSettings> =
            self.addresses().iter().filter_map(|address| self.read_settings(address).ok()).collect();
        found.sort_by(|a, b| a.address.cmp(&b.address));
        found
    }

    /// The addresses that there are files for.
    pub(crate) fn addresses(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.home.mail()) else { return Vec::new() };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut found: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned())).collect();
        found.sort();
        found
    }

    /// How an account is reached.
    ///
    /// # Errors
    /// When there is no such account, or its file is wrong.
    pub(crate) fn read_settings(&self, address: &str) -> Result<AccountSettings, AgentError> {
        let path = self.file(address, "toml")?;
        let text = read_text(&path)?.ok_or_else(|| unknown(address))?;
        let settings: AccountSettings =
            toml::from_str(&text).map_err(|error| AgentError::Invalid(format!("{}: {error}", path.display())))?;
        if settings.address.to_lowercase() != address {
            let advice = format!("{}: `address` has to be \"{address}\", as the file is called", path.display());
            return Err(AgentError::Invalid(advice));
        }
        Ok(AccountSettings { address: address.to_owned(), ..settings })
    }

    /// Writes how an account is reached, and its secret when there is one.
    pub(crate) fn write(&self, settings: &AccountSettings, secret: Option<&Secret>) -> Result<(), AgentError> {
        // What cannot be read back is not written.
        self.form(settings, Secret::new("")).map_err(AgentError::Invalid)?;
        let folder = self.home.mail();
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map_err(AgentError::file(&folder))?;
        if let Some(secret) = secret {
            let path = self.file(&settings.address, "secret")?;
            write_private(&path, secret.reveal()).map_err(AgentError::file(&path))?;
        }
        let path = self.file(&settings.address, "toml")?;
        let text = toml::to_string(settings).map_err(|error| AgentError::Invalid(error.to_string()))?;
        write_private(&path, &text).map_err(AgentError::file(&path))
    }

    /// Takes an account's files out.
    pub(super) fn erase(&self, address: &str) -> Result<bool, AgentError> {
        let mut found = false;
        for ending in ["secret", "toml"] {
            let path = self.file(address, ending)?;
            match fs::remove_file(&path) {
                Ok(()) => found = true,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(AgentError::file(path)(error)),
            }
        }
        Ok(found)
    }

    /// Whether an account has a password or token.
    pub(crate) fn has_secret(&self, settings: &AccountSettings) -> bool {
        self.secret(settings).is_ok()
    }

    /// The account with its secret.
    pub(super) fn ready(&self, settings: &AccountSettings) -> Result<Account, String> {
        self.form(settings, self.secret(settings)?)
    }

    /// The secrets of all accounts with the names that are shown in their place.
    pub(super) fn secrets(&self) -> Vec<(String, String)> {
        let settings = self.settings();
        let secret = |settings: &AccountSettings| Some((settings.address.clone(), self.secret(settings).ok()?));
        settings.iter().filter_map(secret).map(|(name, secret)| (name, secret.reveal().to_owned())).collect()
    }

    fn secret(&self, settings: &AccountSettings) -> Result<Secret, String> {
        if let Some(variable) = &settings.secret_env {
            let value = self.environment.get(variable);
            return value.map(Secret::new).ok_or_else(|| format!("the variable {variable} is not set"));
        }
        let path = self.file(&settings.address, "secret").map_err(|error| error.to_string())?;
        is_private(&path)?;
        let text = read_text(&path).map_err(|error| error.to_string())?;
        let missing = || {
            let address = &settings.address;
            format!("{address} waits for its password: the owner enters it with `limpid inbox mail add {address}`")
        };
        text.map(Secret::new).filter(|secret| !secret.reveal().is_empty()).ok_or_else(missing)
    }

    pub(super) fn form(&self, settings: &AccountSettings, secret: Secret) -> Result<Account, String> {
        let bare = address(&settings.address).map_err(|error| error.to_string())?;
        let domain = bare.rsplit('@').next().unwrap_or_default();
        let (imap, smtp, keeps) = servers_of(domain);
        let server = |given: &Option<ServerSettings>, usual: Server| match given {
            Some(given) => given.server(&usual),
            None => Ok(usual),
        };
        Ok(Account {
            name: settings.name.clone(),
            user: settings.user.clone().unwrap_or_else(|| bare.clone()),
            login: match settings.login {
                LoginKind::Password => Login::Password(secret),
                LoginKind::Token => Login::Token(secret),
            },
            imap: server(&settings.imap, imap)?,
            smtp: server(&settings.smtp, smtp)?,
            folder: settings.folder.clone().unwrap_or_else(|| "INBOX".to_owned()),
            copies: settings.sent.as_deref() != Some("") && !(keeps && settings.sent.is_none()),
            sent: settings.sent.clone().filter(|sent| !sent.is_empty()),
            address: bare,
        })
    }

    fn file(&self, address: &str, ending: &str) -> Result<PathBuf, AgentError> {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || PLAIN.contains(letter);
        if !address.contains('@') || address.starts_with('.') || !address.chars().all(is_plain) {
            let why = format!("`{address}` cannot be the address of an account; write it like ada@example.com");
            return Err(AgentError::Invalid(why));
        }
        Ok(self.home.mail().join(format!("{address}.{ending}")))
    }
}

/// Writes a file that nobody but the owner may read, whole or not at all.
fn write_private(path: &std::path::Path, text: &str) -> io::Result<()> {
    let new = path.with_extension("new");
    let _ = fs::remove_file(&new);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(new, path)
}

/// Refuses a secret that others may read.
#[cfg(unix)]
fn is_private(path: &std::path::Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    match fs::metadata(path) {
        Ok(data) if data.permissions().mode() & 0o077 != 0 => {
            Err(format!("others may read {0}; run `chmod 600 {0}`", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn is_private(_: &std::path::Path) -> Result<(), String> {
    Ok(())
}

fn unknown(address: &str) -> AgentError {
    let advice = "`limpid inbox mail list` lists them".to_owned();
    AgentError::NotFound { what: "mail account", name: address.to_owned(), advice }
}
