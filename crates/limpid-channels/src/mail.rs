//! Mail accounts. Everything that is done with one goes through [`Mailbox`], so that the rest of Limpid knows neither
//! IMAP nor SMTP.
//!
//! # Layout
//! - [`account`]: an account as plain values; [`secret`]: its password or token; [`servers`]: where large providers are.
//! - [`mailbox`]: what can be done with an account; [`error`]: why it could not be.
//! - [`message`]: bytes of a message as text that can be read.
//! - [`letter`]: a message to be sent; `encode`: its text in the ASCII of mail.
//! - `imap`, `smtp`, `tls`: the servers.

pub mod account;
mod encode;
pub mod error;
mod imap;
pub mod letter;
pub mod mailbox;
pub mod message;
pub mod secret;
pub mod servers;
mod smtp;
mod tls;

pub use account::{Account, Login, Security, Server};
pub use error::MailError;
pub use letter::{Answered, Letter, address};
pub use mailbox::{MailId, MailQuery, MailServers, Mailbox, News, Poll, Sent};
pub use message::{Attachment, Mail, MailHead};
pub use secret::Secret;
