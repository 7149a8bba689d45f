//! The ways out of the machine that are not the web.
//!
//! # Layout
//! - [`mail`]: mail accounts: what is fetched by IMAP, what is sent by SMTP, and what a message says.

pub mod mail;
