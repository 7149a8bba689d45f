//! The agent over HTTP. It holds no logic: what comes in is checked at the door and handed to the
//! [`Agent`](limpid_runtime::Agent).
//!
//! # Layout
//! - [`server`]: where it listens, and its life.
//! - `ingest`: what other machines hand in.
//! - `door`: who may ask: hosts, tokens, and how often somebody may be wrong.

mod door;
mod ingest;
pub mod server;

pub use server::{Server, ServerError, keep_open};
