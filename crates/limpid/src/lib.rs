//! The command line of Limpid. The binary is thin: it reads the environment, calls the agent, and prints.
//!
//! # Layout
//! - [`cli`]: what can be said; [`commands`]: what each command does.
//! - [`reference`]: the pages that are written from it.
//! - [`environment`]: the only place that reads the environment.
//! - [`output`]: what goes to standard output and what to standard error.
//! - [`failure`]: how the program fails, and its exit codes.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "the files of a test are its own"))]

pub mod cli;
pub mod commands;
mod confirm;
pub mod environment;
pub mod failure;
pub mod output;
pub mod reference;
