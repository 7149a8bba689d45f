//! Tools that need little but the settings: files, programs, the web, buses, history.

mod exec;
mod files;
mod hardware;
mod history;
mod web;

pub use self::exec::{Unavailable, folder_troubles, left_out, running, tools as exec_tools};
pub(crate) use self::files::{OUTSIDE, grants};
pub use self::files::{counts_as_owners, tools as file_tools};
pub use self::hardware::tools as hardware_tools;
pub use self::history::tools as history_tools;
pub use self::web::{engine, tools as web_tools};
