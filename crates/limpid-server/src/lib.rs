//! The agent over HTTP. It holds no logic: what comes in is checked at the door and handed to the
//! [`Agent`](limpid_runtime::Agent).
//!
//! # Layout
//! - [`server`]: where it listens, and its life.
//! - `listener`: connections, how long each may take, and how many wait.
//! - [`page`]: the page in a browser.
//! - `api`: programs that ask, at the address of the page.
//! - `ingest`: what other machines hand in.
//! - [`mcp`]: what is lent to clients of the Model Context Protocol.
//! - `questions`: calls that wait for the owner, at the page and for programs.
//! - `carried`: what changes something is carried out whole.
//! - `door`: who may ask: hosts, tokens, and how often somebody may be wrong.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "the files of a test are its own"))]

#[expect(unused_qualifications, reason = "the macro that describes a route writes them")]
mod api;
mod carried;
mod door;
mod ingest;
mod listener;
pub mod mcp;
pub mod page;
mod questions;
pub mod server;

pub use api::{ApiRole, ApiToken, ApiTokens, openapi};
pub use mcp::{McpOptions, McpServer};
pub use page::{PageServer, log_out_all, login_link};
pub use server::{DoorNews, Server, ServerError, keep_open};
