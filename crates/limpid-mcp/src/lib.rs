//! The Model Context Protocol, by `rmcp`: connections to servers, and a server of our own.
//!
//! What a server says is a stranger's text. Here it is bounded and made plain: so many tools, so long a text, so deep a schema.
//! Who may call what, what the owner has looked at, and when a server is started is for `limpid-services` to say.
//!
//! # Layout
//! - [`server`]: what a server is: a program to start, or an address.
//! - [`Connection`]: one that is open; its tools, prompts and resources.
//! - [`offered`]: what a server offers, within bounds.
//! - [`answer`]: what it answers, as a text.
//! - [`login`]: logging in at a server, in the owner's browser.
//! - [`trouble`]: why something failed.
//! - [`serving`]: what is lent to clients.
//! - [`Asking`]: who is asked what a server wants the owner to say in the middle of a call.
//! - `guard`: what a connection may receive; the question which revision a server speaks.
//! - `process` starts a program; [`keeper`] is the process between that ends it with everything that it started.

pub mod answer;
mod asks;
mod connection;
mod guard;
mod handler;
pub mod keeper;
pub mod login;
pub mod offered;
mod process;
pub mod server;
pub mod serving;
pub mod trouble;

pub use answer::Answer;
pub use asks::{Asking, PATIENCE};
pub use connection::{Connection, How};
pub use handler::{Change, Changed};
pub use login::{KeptLogin, Login, LoginClient, LoginWish};
pub use offered::{Listed, OfferedPrompt, OfferedResource, OfferedTool};
pub use server::{Address, Program, Revision, Server};
pub use trouble::McpError;
