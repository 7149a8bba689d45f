//! Parts for tests that cross crates.
//!
//! - [`browser`]: a browser that reads pushes.
//! - [`kept`]: bodies that were sent, for a look at them with the providers' own types.
//! - [`mail`]: a Dovecot and an SMTP server of the test's own, on loopback.
//! - [`mcp`]: a server of the Model Context Protocol, as politely or as badly as a test wants it.
//! - [`recorder`]: a server on loopback that records every request byte for byte and answers by a script, as politely
//!   or as badly as the script says.
//! - [`strict`]: providers that hold a client to their rules, in the words of their own errors.
//! - [`talker`]: a model in this process that answers by a function.
//! - [`terminal`]: a program at a pseudo-terminal, and what a person sees there.
//! - [`wire`]: the streams of the five provider protocols, and the texts inside their requests.
//!
//! The same server runs from the command line: `cargo run -p limpid-testkit -- record --port 0 --script FILE`.

#![allow(clippy::disallowed_methods, reason = "the files of a test are its own")]

pub mod browser;
pub mod cache;
mod http;
pub mod kept;
mod lock;
pub mod mail;
pub mod mcp;
mod port;
pub mod recorder;
pub mod strict;
pub mod talker;
#[cfg(unix)]
pub mod terminal;
pub mod wire;

pub use browser::Browser;
pub use kept::keep_body;
pub use limpid_model::script::{Reply, Script};
pub use mail::{Dovecot, SmtpSink};
pub use mcp::{McpScript, mcp_proxy, real_mcp_client, real_mcp_server};
pub use port::free_port;
pub use recorder::{Recorded, Recorder};
pub use strict::Strict;
pub use talker::{Said, Talker};
#[cfg(unix)]
pub use terminal::{Terminal, on_screen};
pub use wire::{SentText, Wire};
