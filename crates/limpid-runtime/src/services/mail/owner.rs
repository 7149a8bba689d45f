//! What a person does with mail accounts.

use std::sync::Arc;

use limpid_channels::mail::{Secret, Server, address};
use limpid_store::MailAccount;

use crate::agent::Agent;
use crate::services::error::AgentError;
use crate::services::mail::AccountSettings;

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

impl Agent {
    /// The mail accounts, by address.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn mailboxes(&self) -> Result<Vec<MailStatus>, AgentError> {
        let desk = &self.inner.mail;
        let rows = self.inner.store.mail_accounts().await?.rows;
        let status = |address: String| {
            let ready = desk.read_settings(&address).map_err(|error| error.to_string());
            let ready = ready.and_then(|settings| match desk.lacks_secret(&settings) {
                Some(why) => Err(why),
                None => desk.form(&settings),
            });
            let servers = ready.as_ref().map(|account| (account.imap.to_string(), account.smtp.to_string()));
            let (imap, smtp) = servers.unwrap_or_default();
            let row = rows.iter().find(|row| row.address == address).cloned();
            MailStatus { address, problem: ready.err(), imap, smtp, row }
        };
        Ok(desk.addresses().into_iter().map(status).collect())
    }

    /// How an account is reached, as its file says; none when there is none of this address.
    ///
    /// # Errors
    /// When its file is wrong.
    pub fn mail_settings(&self, address: &str) -> Result<Option<AccountSettings>, AgentError> {
        let desk = &self.inner.mail;
        let address = address.trim().to_lowercase();
        let there = desk.addresses().contains(&address);
        if there { desk.read_settings(&address).map(Some) } else { Ok(None) }
    }

    /// Where an account of these settings would be read and where its letters would go.
    ///
    /// # Errors
    /// When the settings are wrong.
    pub fn mail_servers(&self, settings: &AccountSettings) -> Result<(Server, Server), AgentError> {
        let account = self.inner.mail.form(settings).map_err(AgentError::Invalid)?;
        Ok((account.imap, account.smtp))
    }

    /// Adds an account or changes one, with its password or token when one is given. It is looked into from here on:
    /// what is there already does not count as new.
    ///
    /// # Errors
    /// When the address is none, or the files cannot be written.
    pub async fn set_up_mail(
        &self,
        settings: AccountSettings,
        secret: Option<Secret>,
    ) -> Result<MailStatus, AgentError> {
        let inner = &self.inner;
        let bare = address(&settings.address).map_err(|error| AgentError::Invalid(error.to_string()))?;
        let settings = AccountSettings { address: bare.clone(), ..settings };
        inner.mail.write(&settings, secret.as_ref())?;
        inner.store.add_mail_account(&bare).await?;
        inner.plan_mail(&bare).await?;
        let status = self.mailboxes().await?.into_iter().find(|status| status.address == bare);
        status.ok_or_else(|| AgentError::Invalid(format!("the files of {bare} are gone again")))
    }

    /// Takes an account out: its files and how far it was read. What came from it stays.
    ///
    /// # Errors
    /// When there is no such account, or a file cannot be removed.
    pub async fn forget_mail(&self, address: &str) -> Result<(), AgentError> {
        let inner = &self.inner;
        let address = address.trim().to_lowercase();
        let erased = inner.mail.erase(&address)?;
        let removed = inner.store.remove_mail_account(&address).await?;
        inner.unplan_mail(&address).await?;
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
    pub async fn test_mail_account(&self, address: &str) -> Result<(), AgentError> {
        let desk = &self.inner.mail;
        let account = desk.account(Some(address)).await.map_err(AgentError::Invalid)?;
        let tested = desk.mailbox.test(&account).await;
        tested.map_err(|error| AgentError::Invalid(desk.redactor.clean(error.to_string())))
    }

    /// Looks into an account now; says how many messages came.
    ///
    /// # Errors
    /// When there is no such account, it cannot be read, or the store fails.
    pub async fn poll_mail(&self, address: &str) -> Result<usize, AgentError> {
        let desk = Arc::clone(&self.inner.mail);
        let address = desk.address(Some(address)).map_err(AgentError::Invalid)?;
        desk.poll(&address, self.now_ms()).await?.map_err(AgentError::Invalid)
    }
}
