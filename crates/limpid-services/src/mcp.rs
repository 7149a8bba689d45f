//! Servers of the Model Context Protocol: whose tools and prompts the agent borrows.
//!
//! A model is offered only what the owner has looked at. It is kept in the home (`data/mcp`) with every word that was shown,
//! and tools are made from there, so none needs a connection: one is made when a tool is called, and what the server then says
//! of that tool has to be what the owner looked at. Results and prompts of servers are strangers' texts.
//!
//! - `servers`: all servers, and the one way to a connection.
//! - `link`: the connection to one server, made again after growing pauses.
//! - `record`: what was looked at.
//! - `names`: the name under which a tool is offered, for ever the same.
//! - `tool`: a tool of a server; `resource_tool` reads what servers offer to read.
//! - `logins`: logins at servers, in the owner's browser.
//! - `owner`: what the owner does with servers; `settings` writes `limpid.toml`.

mod defaults;
mod link;
mod logins;
mod names;
mod owner;
mod prompts;
mod record;
mod resource_tool;
mod servers;
mod settings;
mod tool;

pub use limpid_mcp::{LoginClient, LoginWish, Revision, keeper};

pub use self::names::offered_name;
pub use self::owner::{NewServer, Probed, ServerRow, ToolReview, ToolRow, ToolState};
pub use self::servers::{McpOptions, McpServers};
