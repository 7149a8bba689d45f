//! What a person does with mail accounts.

use limpid_channels::mail::{Account, MailError, Secret, Server, address};
use limpid_config::TextKind;
use limpid_core::Sentence;
use limpid_store::MailAccount;

use crate::error::AgentError;
use crate::mail::service::MailAccounts;
use crate::mail::settings::AccountSettings;

/// The kind of the timers of accounts; their names are the addresses.
pub const MAIL_TIMER: &str = "mail";

const MINUTE_MS: i64 = 60 * 1000;

/// A mail account as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailStatus {
    /// Its address.
    pub address: String,
    /// Why it cannot be used as its files stand; none when it can.
    pub problem: Option<String>,
    /// Where mail is read.
    pub imap: String,
    /// Where mail is sent.
    pub smtp: String,
    /// How far it was read, and what went wrong last; none before the first look.
    pub row: Option<MailAccount>,
}

impl MailAccounts {
    /// The mail accounts, by address.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn list(&self) -> Result<Vec<MailStatus>, AgentError> {
        let rows = self.store.mail_accounts().await?.rows;
        let status = |address: String| {
            let ready = self.files.read_settings(&address).map_err(|error| error.to_string());
            let ready = ready.and_then(|settings| match self.files.lacks_secret(&settings) {
                Some(why) => Err(why),
                None => self.files.form(&settings),
            });
            let servers = ready.as_ref().map(|account| (account.imap.to_string(), account.smtp.to_string()));
            let (imap, smtp) = servers.unwrap_or_default();
            let row = rows.iter().find(|row| row.address == address).cloned();
            MailStatus { address, problem: ready.err(), imap, smtp, row }
        };
        Ok(self.files.addresses().into_iter().map(status).collect())
    }

    /// How an account is reached, as its file says; none when there is none of this address.
    ///
    /// # Errors
    /// When its file is wrong.
    pub fn settings(&self, address: &str) -> Result<Option<AccountSettings>, AgentError> {
        let address = address.trim().to_lowercase();
        let there = self.files.addresses().contains(&address);
        if there { self.files.read_settings(&address).map(Some) } else { Ok(None) }
    }

    /// Where an account of these settings would be read and where its letters would go.
    ///
    /// # Errors
    /// When the settings are wrong.
    pub fn servers(&self, settings: &AccountSettings) -> Result<(Server, Server), AgentError> {
        let account = self.files.form(settings).map_err(AgentError::Invalid)?;
        Ok((account.imap, account.smtp))
    }

    /// Adds an account or changes one, with its password or token when one is given. It is looked into from here on:
    /// what is there already does not count as new.
    ///
    /// # Errors
    /// When the address is none, or the files cannot be written.
    pub async fn setup(&self, settings: AccountSettings, secret: Option<Secret>) -> Result<MailStatus, AgentError> {
        let bare = address(&settings.address).map_err(|error| AgentError::Invalid(error.to_string()))?;
        let settings = AccountSettings { address: bare.clone(), ..settings };
        self.files.write(&settings, secret.as_ref())?;
        self.store.add_mail_account(&bare).await?;
        self.plan(&bare).await?;
        let status = self.list().await?.into_iter().find(|status| status.address == bare);
        status.ok_or_else(|| AgentError::Invalid(format!("the files of {bare} are gone again")))
    }

    /// Takes an account out: its files and how far it was read. What came from it stays.
    ///
    /// # Errors
    /// When there is no such account, or a file cannot be removed.
    pub async fn forget(&self, address: &str) -> Result<(), AgentError> {
        let address = address.trim().to_lowercase();
        let erased = self.files.erase(&address)?;
        let removed = self.store.remove_mail_account(&address).await?;
        self.unplan(&address).await?;
        if erased || removed {
            return Ok(());
        }
        let advice = "`limpid inbox mail list` lists them".to_owned();
        Err(AgentError::NotFound { what: "mail account", name: address, advice })
    }

    /// Logs in where the account's mail is read and where it is sent.
    ///
    /// # Errors
    /// What is wrong with the account.
    pub async fn test(&self, address: &str) -> Result<(), AgentError> {
        let account = self.account(Some(address)).await.map_err(invalid)?;
        let tested = self.log_in(&account).await;
        tested.map_err(|error| AgentError::Invalid(self.redactor.clean_as(TextKind::Failure, error.to_string())))
    }

    /// Looks into an account now; says how many messages came.
    ///
    /// # Errors
    /// When there is no such account, it cannot be read, or the store fails.
    pub async fn fetch(&self, address: &str) -> Result<usize, AgentError> {
        let address = self.address(Some(address)).map_err(invalid)?;
        self.poll(&address).await?.map_err(AgentError::Invalid)
    }

    /// The addresses that there are files for.
    pub fn addresses(&self) -> Vec<String> {
        self.files.addresses()
    }

    /// How long to wait between two looks into an account, in milliseconds; none: for ever.
    pub fn poll_ms(&self) -> Option<i64> {
        let minutes = self.config.mail.poll_minutes;
        (self.config.mail.enabled && minutes > 0).then(|| i64::from(minutes) * MINUTE_MS)
    }

    /// Logs in where an account's mail is read and where it is sent.
    ///
    /// # Errors
    /// What went wrong, as the servers say it.
    pub async fn log_in(&self, account: &Account) -> Result<(), MailError> {
        self.mailbox.test(account).await
    }

    /// Has an account looked into at once by whoever serves.
    async fn plan(&self, address: &str) -> Result<(), AgentError> {
        if self.poll_ms().is_some() {
            self.store.set_timer(MAIL_TIMER, address, self.host.now_ms()).await?;
            self.waker.wake();
        }
        Ok(())
    }

    /// Has an account not looked into any more.
    async fn unplan(&self, address: &str) -> Result<(), AgentError> {
        Ok(self.store.remove_timer(MAIL_TIMER, address).await?)
    }
}

fn invalid(why: Sentence) -> AgentError {
    AgentError::Invalid(why.into_text())
}
