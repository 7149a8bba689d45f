//! The files of mail accounts: `mail/ADDRESS.toml` in the home says how an account is reached, `mail/ADDRESS.secret`,
//! which only the owner may read, holds its password or token unless that is kept elsewhere.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use limpid_channels::mail::servers::servers_of;
use limpid_channels::mail::{Account, Login, Roots, Secret, Server, address};
use limpid_config::{Clock, Environment, Home, MAX_FILE, Redactor, private_file, read_text, regular_file};
use limpid_core::io_cause;

use crate::error::AgentError;
use crate::mail::settings::{AccountSettings, LoginKind, ServerSettings, settings_of};
use crate::mail::tokens::Tokens;

/// Letters of an address that a file can be called by.
const PLAIN: &str = "@.-_+";

/// The files of mail accounts and the secrets that they speak of.
pub(crate) struct AccountFiles {
    home: Home,
    pub(crate) environment: Environment,
    pub(crate) redactor: Redactor,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tokens: Tokens,
}

impl AccountFiles {
    /// The files of a home; secrets may be in the environment.
    pub(crate) fn new(home: Home, environment: Environment, redactor: Redactor, clock: Arc<dyn Clock>) -> Self {
        Self { home, environment, redactor, clock, tokens: Tokens::default() }
    }

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
        self.form(settings).map_err(AgentError::Invalid)?;
        if let Some(secret) = secret {
            private_file::write(&self.file(&settings.address, "secret")?, secret.reveal())?;
        }
        let path = self.file(&settings.address, "toml")?;
        let text = toml::to_string(settings).map_err(|error| AgentError::Invalid(error.to_string()))?;
        Ok(private_file::write(&path, &text)?)
    }

    /// Takes an account's files out.
    pub(crate) fn erase(&self, address: &str) -> Result<bool, AgentError> {
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

    /// The account with its secret.
    ///
    /// # Errors
    /// A sentence: what is wrong with its settings, or why its secret cannot be had.
    pub(crate) async fn ready(&self, settings: &AccountSettings) -> Result<Account, String> {
        let secret = self.secret(settings).await?;
        let login = match settings.login {
            LoginKind::Password => Login::Password(secret),
            LoginKind::Token => Login::Token(secret),
            LoginKind::OAuth => Login::Tokens(Arc::new(self.refresher(settings, secret).await?)),
        };
        Ok(Account { login, ..self.form(settings)? })
    }

    /// The account without its secret.
    ///
    /// # Errors
    /// A sentence: what is wrong with its settings.
    pub(crate) fn form(&self, settings: &AccountSettings) -> Result<Account, String> {
        let bare = address(&settings.address).map_err(|error| error.to_string())?;
        if settings.login == LoginKind::OAuth {
            settings_of(settings)?;
        }
        let domain = bare.rsplit('@').next().unwrap_or_default();
        let (imap, smtp, keeps) = servers_of(domain);
        let server = |given: &Option<ServerSettings>, usual: Server| match given {
            Some(given) => given.server(&usual),
            None => Ok(usual),
        };
        Ok(Account {
            name: settings.name.clone(),
            user: settings.user.clone().unwrap_or_else(|| bare.clone()),
            login: Login::Password(Secret::new("")),
            imap: server(&settings.imap, imap)?,
            smtp: server(&settings.smtp, smtp)?,
            folder: settings.folder.clone().unwrap_or_else(|| "INBOX".to_owned()),
            copies: settings.sent.as_deref() != Some("") && !(keeps && settings.sent.is_none()),
            sent: settings.sent.clone().filter(|sent| !sent.is_empty()),
            roots: settings.ca.as_ref().map(|file| self.roots(file)).transpose()?,
            address: bare,
        })
    }

    /// The authorities of a file; a name without a folder is one of the home.
    fn roots(&self, file: &Path) -> Result<Roots, String> {
        let path = self.home.path().join(file);
        let pem =
            regular_file::read(&path, MAX_FILE).map_err(|error| format!("{}: {}", path.display(), io_cause(&error)))?;
        Roots::parse(&pem).map_err(|error| format!("{}: {error}", path.display()))
    }

    pub(crate) fn file(&self, address: &str, ending: &str) -> Result<PathBuf, AgentError> {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || PLAIN.contains(letter);
        if !address.contains('@') || address.starts_with('.') || !address.chars().all(is_plain) {
            let why = format!("`{address}` cannot be the address of an account; write it like ada@example.com");
            return Err(AgentError::Invalid(why));
        }
        Ok(self.home.mail().join(format!("{address}.{ending}")))
    }
}

fn unknown(address: &str) -> AgentError {
    let advice = "`limpid inbox mail list` lists them".to_owned();
    AgentError::NotFound { what: "mail account", name: address.to_owned(), advice }
}
