//! The command line of Limpid. The binary is thin: it reads the environment, calls the agent, and prints.
//!
//! # Layout
//! - [`cli`]: what can be said.

pub mod cli;
