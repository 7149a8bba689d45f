//! The tests of this crate from outside, in one program: linking one for each file takes minutes and gigabytes.

#![allow(clippy::disallowed_methods, reason = "the files of a test are its own")]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod command;
#[cfg(target_os = "linux")]
mod exec;
mod files;
mod kit;
mod open_and_locate;
mod redirect_rules;
mod web_fetch;
mod web_search;
