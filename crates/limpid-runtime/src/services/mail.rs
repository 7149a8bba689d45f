//! Mail accounts: which there are, what comes from them, and what is sent from them.
//!
//! # Layout
//! - `accounts`: the files that say how an account is reached.
//! - `secrets`: where passwords and tokens are; `oauth`: tokens that are fetched.
//! - `job`: looking into accounts by itself; `watch`: waiting where the server says when mail comes.
//! - `poll`: a look into an account, and what is kept of it.
//! - `people`: what a person does with accounts.

pub(crate) mod accounts;
pub(crate) mod fetch;
pub(crate) mod oauth;
pub(crate) mod owner;
pub(crate) mod secrets;
pub(crate) mod tools;

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use limpid_channels::mail::{Account, Mailbox};
use limpid_config::{Clock, Config, Environment, Home, Ids, Live, Redactor};
use limpid_store::Store;

pub use limpid_channels::mail::{Secret, Server};

pub(crate) use crate::jobs::mail::MailJob;
pub use crate::services::mail::accounts::{AccountSettings, LoginKind, ServerSettings};
pub use crate::services::mail::oauth::OAuthSettings;
pub use crate::services::mail::owner::MailStatus;

/// What a desk is made from.
pub(crate) struct MailParts {
    pub(crate) home: Home,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) mailbox: Arc<dyn Mailbox>,
    pub(crate) environment: Environment,
    pub(crate) redactor: Redactor,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: Live<Config>,
}

/// Everything that has to do with mail accounts. Files of accounts are read anew each time, so an account that was
/// added is there at once.
pub(crate) struct MailDesk {
    parts: MailParts,
    tokens: oauth::Tokens,
    /// Accounts whose servers are being waited on.
    pub(crate) watched: Mutex<HashSet<String>>,
}

impl Deref for MailDesk {
    type Target = MailParts;

    fn deref(&self) -> &MailParts {
        &self.parts
    }
}

impl MailDesk {
    /// A desk whose redactor knows the accounts' secrets too.
    pub(crate) fn new(parts: MailParts) -> Self {
        let desk = Self { parts, tokens: oauth::Tokens::default(), watched: Mutex::default() };
        for (name, secret) in desk.known_secrets() {
            desk.redactor.learn(&name, secret.reveal());
        }
        desk
    }

    #[cfg(test)]
    pub(crate) fn of_one_account(home: &Home, store: &Arc<dyn Store>) -> Self {
        let desk = Self::new(MailParts {
            home: home.clone(),
            store: Arc::clone(store),
            mailbox: Arc::new(limpid_channels::mail::MailServers),
            environment: Environment::default(),
            redactor: Redactor::default(),
            ids: Arc::new(limpid_config::RandomIds),
            clock: Arc::new(limpid_config::SystemClock),
            config: Live::default(),
        });
        let settings = AccountSettings { address: "me@example.com".to_owned(), ..AccountSettings::default() };
        desk.write(&settings, Some(&Secret::new("secret-word"))).unwrap();
        desk
    }

    /// Whether the owner wants mail at all.
    pub(crate) fn is_on(&self) -> bool {
        self.config.mail.enabled
    }

    /// Whether an account can be read.
    pub(crate) fn is_set_up(&self) -> bool {
        self.is_on() && self.settings().iter().any(|settings| self.lacks_secret(settings).is_none())
    }

    /// The account of this address, or the first; ready to be used.
    ///
    /// # Errors
    /// When there is none, it lacks its password, or its file is wrong.
    pub(crate) async fn account(&self, address: Option<&str>) -> Result<Account, String> {
        let name = self.address(address)?;
        let settings = self.read_settings(&name).map_err(|error| error.to_string())?;
        self.ready(&settings).await
    }

    /// The account of this address, or the only one: a number of a mail means something in one account alone.
    ///
    /// # Errors
    /// When there is none, several could be meant, or the account cannot be used.
    pub(crate) async fn only_account(&self, address: Option<&str>) -> Result<Account, String> {
        let all = self.settings();
        if address.is_none() && all.len() > 1 {
            let all: Vec<&str> = all.iter().map(|settings| settings.address.as_str()).collect();
            return Err(format!("say which `account`: {}", all.join(", ")));
        }
        self.account(address).await
    }

    /// The address of the account that is meant: the one that is named, or the first.
    pub(crate) fn address(&self, address: Option<&str>) -> Result<String, String> {
        if !self.is_on() {
            return Err("mail is off in limpid.toml".to_owned());
        }
        let all: Vec<String> = self.settings().into_iter().map(|settings| settings.address).collect();
        let wanted = address.map(|address| address.trim().to_lowercase()).filter(|address| !address.is_empty());
        let found = match &wanted {
            // What is wrong with its file is for whoever reads that to say.
            Some(wanted) => self.addresses().into_iter().find(|known| known == wanted),
            None => all.first().cloned(),
        };
        found.ok_or_else(|| match wanted {
            Some(wanted) if all.is_empty() => format!("there is no mail account `{wanted}`"),
            Some(wanted) => format!("there is no mail account `{wanted}`; there are: {}", all.join(", ")),
            None => "no mail account is set up; setup_email prepares one".to_owned(),
        })
    }
}
