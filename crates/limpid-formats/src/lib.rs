//! Formats that strangers write (HTML, mail), parsed in a process that can touch nothing.
//!
//! A parser of such a format is large, and whoever writes the page chooses what it does: it may take all memory, never end,
//! or be led to run code. So it runs in a process of its own, once for each question. That process has its standard streams
//! and nothing else: no files, no network, no other processes, little memory and little time. When it breaks, the answer is
//! an error, and nothing else has noticed.
//!
//! # Layout
//! - [`Parser`]: asks a question of a new process.
//! - [`question`]: what can be asked, and how both sides write it.
//! - [`worker`]: the hidden sub-command of the binary that answers; `restrict`: how it gives up everything.
//! - `html`, `page`, `search_page`, [`mail`]: the formats.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "the files of a test are its own"))]

mod depth;
mod html;
mod lanes;
pub mod mail;
mod page;
mod parser;
pub mod question;
#[cfg(unix)]
mod restrict;
mod search_page;
mod shares;
pub mod worker;

pub use parser::{Broken, Heads, Parser, Parsing};
pub use question::Layers;
pub use search_page::Found;
pub use shares::Shares;
