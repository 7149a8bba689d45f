//! What the model may have done: the interface of a tool, and Limpid's own tools that need no store.
//!
//! A tool is a small file: its name, its arguments as a Rust type, what kind of effect it has, and what it does. What
//! the model is told about it stands in the profile's `tools/*.md`. A tool that needs something of the world (a store,
//! a folder, a client) holds it as a field; the runtime makes it so. Tools run in one place only, the tool executor of
//! `limpid-services`, which asks the policy first.
//!
//! # Layout
//! - [`tool`]: the interface.
//! - [`schema`]: arguments as a JSON schema, made small.
//! - [`check`]: the arguments of a call against that schema.
//! - `spelling`: texts as rules that hold something back are compared with them.
//! - [`snapshot`]: copies of files that an approval is bound to.
//! - [`files`]: files of granted folders.
//! - `exec`: programs in a sandbox (Linux).
//! - [`get_local_time`]: the owner's clock; [`get_location_from_ip`]: the rough place.
//! - [`outlet`]: handing something over to a program or an address of the owner's.
//! - [`hardware`]: parts that are wired to the machine; the buses of Linux with the feature of that name.
//! - [`written`]: where a call wrote files, for whoever keeps their history.
//! - [`web`]: getting things from the web, and nothing else; [`web_fetch`], [`web_search`] with the engines
//!   of [`search`], [`open_url`].

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "the files of a test are its own"))]

use std::sync::Arc;

pub mod check;
#[cfg(target_os = "linux")]
pub mod exec;
pub mod files;
pub mod get_local_time;
pub mod get_location_from_ip;
pub mod hardware;
mod home_links;
pub mod open_url;
pub mod outlet;
pub mod schema;
pub mod search;
pub mod snapshot;
mod spelling;
pub mod tool;
pub mod web;
pub mod web_fetch;
pub mod web_search;
pub mod written;

pub use check::check_arguments;
pub use get_local_time::GetLocalTime;
pub use get_location_from_ip::GetLocationFromIp;
pub use home_links::is_named_twice;
pub use open_url::{OpenUrl, Screen, SystemScreen};
pub use outlet::Outlet;
pub use schema::schema_of;
pub use snapshot::Snapshot;
pub use spelling::{ascii_form, letters_form, usual_form};
pub(crate) use tool::status;
pub use tool::{
    Concerned, Found, Named, PathArgument, SendState, ShownItems, Started, Stop, StrangersProgram, Tool, ToolContext,
    echoed, read_arguments,
};
pub use web::{Addresses, Web};
pub use web_fetch::WebFetch;
pub use web_search::WebSearch;
pub use written::Written;

/// The tools that need nothing but the call, in the order in which they are declared.
pub fn plain_tools() -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(GetLocalTime)]
}
