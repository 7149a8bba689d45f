//! Mail accounts. Everything that is done with one goes through [`Mailbox`], so that the rest of Limpid knows neither
//! IMAP nor SMTP.
//!
//! # Layout
//! - [`account`]: an account as plain values; [`login`]: how it logs in, with which [`secret`]; [`roots`]: whose
//!   certificates its servers have; [`servers`]: where large providers are.
//! - [`mailbox`]: what can be done with an account; [`error`]: why it could not be.
//! - [`letter`]: a message to be sent; `encode`: its text in the ASCII of mail.
//! - `mail_servers`: an account at its own servers; `imap`, `smtp`: what they speak; `link`, `tls`:
//!   over what, bounded and secured.

pub mod account;
mod encode;
pub mod error;
mod imap;
pub mod letter;
mod link;
pub mod login;
mod mail_servers;
pub mod mailbox;
pub mod roots;
pub mod secret;
pub mod servers;
mod smtp;
mod tls;

pub use account::{Account, Security, Server};
pub use error::{MailError, Said};
pub use letter::{Answered, Letter, address};
pub use limpid_formats::mail::{Attachment, Mail, MailHead, MailId};
pub use login::{Login, TokenSource};
pub use mail_servers::MailServers;
pub use mailbox::{MailQuery, Mailbox, News, Offered, Poll};
pub use roots::Roots;
pub use secret::Secret;
