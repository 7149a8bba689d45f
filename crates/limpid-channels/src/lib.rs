//! The ways out of the machine that are not pages of the web.
//!
//! # Layout
//! - [`mail`]: mail accounts: what is fetched by IMAP, what is sent by SMTP, and what a message says.
//! - [`push`]: notices to browsers.

pub mod mail;
pub mod push;
