//! The ways out of the machine that are not pages of the web.
//!
//! # Layout
//! - [`mail`]: mail accounts: what is fetched by IMAP, what is sent by SMTP, and what a message says.
//! - [`push`]: notices to browsers.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "the files of a test are its own"))]

pub mod mail;
pub mod push;
