//! The mail accounts of an agent.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use limpid_channels::mail::{Account, Mail, MailError, MailHead, MailId, Mailbox};
use limpid_config::{Config, Environment, Home, Live, Redactor};
use limpid_core::{ConversationId, Labelled, Sentence, sentence};
use limpid_formats::Shares;
use limpid_store::Store;
use limpid_tools::echoed;

use crate::host::Host;
use crate::mail::accounts::AccountFiles;
use crate::timers::SchedulerWaker;
use crate::tools::trouble;

/// What mail accounts are made from.
pub struct MailOptions {
    /// The folder with the files of the accounts.
    pub home: Home,
    /// Where secrets may be.
    pub environment: Environment,
    /// Whether mail is on, and how often accounts are looked into.
    pub config: Live<Config>,
    /// Clock and randomness.
    pub host: Host,
    /// Where it is kept what came.
    pub store: Arc<dyn Store>,
    /// Learns the accounts' secrets, and takes them out of what is kept.
    pub redactor: Redactor,
    /// The servers.
    pub mailbox: Arc<dyn Mailbox>,
    /// Whoever serves looks at once into an account that is new.
    pub waker: Arc<SchedulerWaker>,
}

/// Everything that has to do with mail accounts. Files of accounts are read anew each time, so an account that was
/// added is there at once.
pub struct MailAccounts {
    pub(crate) files: AccountFiles,
    pub(super) config: Live<Config>,
    pub(crate) host: Host,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) redactor: Redactor,
    pub(crate) mailbox: Arc<dyn Mailbox>,
    pub(super) waker: Arc<SchedulerWaker>,
    /// Accounts whose servers are being waited on.
    pub(super) watched: Arc<Mutex<HashSet<String>>>,
    /// One whole letter at a time for each conversation: what reads a big one many times holds up nobody else.
    letters: Shares,
}

impl MailAccounts {
    /// The accounts of a home. From here on no text repeats their secrets, as far as no program has to be run for these.
    pub fn new(options: MailOptions) -> Self {
        let MailOptions { home, environment, config, host, store, redactor, mailbox, waker } = options;
        let files = AccountFiles::new(home, environment, redactor.clone(), Arc::clone(host.clock()));
        files.learn_all();
        Self {
            files,
            config,
            host,
            store,
            redactor,
            mailbox,
            waker,
            watched: Arc::default(),
            letters: Shares::default(),
        }
    }

    /// Whether the owner wants mail at all.
    pub(crate) fn is_on(&self) -> bool {
        self.config.mail.enabled
    }

    /// Whether an account can be read.
    pub(crate) fn is_set_up(&self) -> bool {
        self.is_on() && self.files.settings().iter().any(|settings| self.files.lacks_secret(settings).is_none())
    }

    /// The account of this address, or the first; ready to be used.
    ///
    /// # Errors
    /// When there is none, it lacks its password, or its file is wrong.
    pub async fn account(&self, address: Option<&str>) -> Result<Account, Sentence> {
        let name = self.address(address)?;
        let settings = self.files.read_settings(&name).map_err(trouble)?;
        // What keeps it from being used may be the words of a server that gives out tokens.
        self.files.ready(&settings).await.map_err(|why| Labelled::outside(why).into())
    }

    /// The account of this address, or the only one: a number of a mail means something in one account alone.
    ///
    /// # Errors
    /// When there is none, several could be meant, or the account cannot be used.
    pub(crate) async fn only_account(&self, address: Option<&str>) -> Result<Account, Sentence> {
        let all = self.files.settings();
        if address.is_none() && all.len() > 1 {
            let all: Vec<&str> = all.iter().map(|settings| settings.address.as_str()).collect();
            return Err(sentence!("say which `account`: {}", echoed(all.join(", "))));
        }
        self.account(address).await
    }

    /// One message, whole, for a conversation that waits for its turn.
    ///
    /// # Errors
    /// What the account's server says.
    pub(crate) async fn letter(
        &self,
        account: &Account,
        (id, mark_read): (MailId, bool),
        reader: &ConversationId,
    ) -> Result<Mail, MailError> {
        let share = self.letters.of(reader.as_str(), 1);
        let _turn = share.acquire().await;
        self.mailbox.read(account, id, mark_read).await
    }

    /// What the server of an account shows of a message now; none where it shows none or cannot be asked.
    pub(crate) async fn head(&self, address: &str, id: MailId) -> Option<MailHead> {
        let account = self.account(Some(address)).await.ok()?;
        self.mailbox.head(&account, id).await.ok()?
    }

    /// The addresses of all accounts.
    pub(crate) fn every_address(&self) -> Vec<String> {
        self.files.settings().into_iter().map(|settings| settings.address).collect()
    }

    /// The address of the account that is meant: the one that is named, or the first.
    pub(crate) fn address(&self, address: Option<&str>) -> Result<String, Sentence> {
        if !self.is_on() {
            return Err("mail is off in limpid.toml".into());
        }
        let all = self.every_address();
        let wanted = address.map(|address| address.trim().to_lowercase()).filter(|address| !address.is_empty());
        let found = match &wanted {
            // What is wrong with its file is for whoever reads that to say.
            Some(wanted) => self.files.addresses().into_iter().find(|known| known == wanted),
            None => all.first().cloned(),
        };
        found.ok_or_else(|| match wanted {
            Some(wanted) if all.is_empty() => sentence!("there is no mail account `{}`", echoed(wanted)),
            Some(wanted) => {
                sentence!("there is no mail account `{}`; there are: {}", echoed(wanted), echoed(all.join(", ")))
            }
            None => "no mail account is set up; setup_email prepares one".into(),
        })
    }
}
