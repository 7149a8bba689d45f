//! Mail accounts: which there are, what comes from them, and what is sent from them.
//!
//! # Layout
//! - `service`: the accounts; `settings`: how one is reached; `accounts`: the files that say so.
//! - `secrets`: where passwords and tokens are; `oauth`: tokens that are fetched.
//! - `fetch`: a look into an account, what is kept of it, and waiting for more.
//! - `owner`: what a person does with accounts.

mod accounts;
mod fetch;
mod oauth;
mod owner;
mod secrets;
mod service;
mod settings;
mod tokens;
mod tools;

pub use limpid_channels::mail::{Secret, Server};

pub use crate::mail::fetch::{MailWait, Watching};
pub use crate::mail::owner::{MAIL_TIMER, MailStatus};
pub use crate::mail::service::{MailAccounts, MailOptions};
pub use crate::mail::settings::{AccountSettings, LoginKind, OAuthSettings, ServerSettings};
pub use crate::mail::tools::tools;
