//! What comes in as values: settings, the home folder, environment variables, the clock, ids, secrets.
//!
//! Nothing here is asynchronous, and nothing knows of models, prompts or the store.
//!
//! - [`Config`]: `limpid.toml`; [`Live`] holds what can be replaced while the program runs.
//! - [`Home`]: which file is where; [`private_file`]: those that only the owner may read.
//! - [`regular_file`], `open_folder`: files and folders that others may have made; `named_folder`: folders that settings name;
//!   [`without_links`]: what stands at a place that was judged before.
//! - [`Environment`], [`Clock`], [`Ids`]: what tests can hold still.
//! - [`process`]: which process holds a lease or serves a home, and whether it lives.
//! - [`Redactor`]: takes known secrets out of texts and streams.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "the files of a test are its own"))]

mod clock;
mod config;
mod environment;
mod error;
mod home;
mod ids;
#[cfg(unix)]
pub mod named_folder;
#[cfg(unix)]
pub mod open_folder;
pub mod private_file;
pub mod process;
mod redact;
pub mod regular_file;
mod settings;
pub mod without_links;

pub use clock::{Clock, SystemClock};
pub use config::*;
pub use environment::Environment;
pub use error::FileError;
pub use home::{Home, MAX_FILE, ReadText, read_marking, read_text, read_within};
pub use ids::{Ids, RandomIds, hex};
pub use redact::{Redactor, StreamRedactor, TextKind};
pub use settings::{Kind as SettingKind, Setting, settings_page};
