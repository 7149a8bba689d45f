//! Tools that need little but the settings: files, programs, the web, buses, history.

pub(crate) mod exec;
pub(crate) mod files;
pub(crate) mod hardware;
pub(crate) mod history;
pub(crate) mod web;
