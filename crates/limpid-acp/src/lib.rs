//! The agent for editors: the Agent Client Protocol, version 1, over a pair of byte streams.
//!
//! A session of an editor is a conversation. It has an agent of its own, over the store and the models of the home, whose
//! settings also grant the folders and the servers that the editor named: so what one session may touch, no other may.
//!
//! What the owner types in the editor is the owner's word. Whatever the editor attaches to it is text that anybody may have
//! written. Questions are asked through the editor; one that nobody answers is answered no.
//!
//! - `connection`: requests of the editor, and who answers them. Nothing there waits, so a cancel is always read.
//! - `lines`: the streams as lines, none of which is too long.
//! - `sessions`, `session`: what is open; `grants`: what it may touch; `known`: what is kept of it, and lists.
//! - `prompt_text`: what a prompt says, and who wrote it. `prompt`: one prompt, from its text to its end.
//! - `waiting`: prompts for a session that is opened again first.
//! - `turn`: the events of a turn as updates; `calls`: those of tools; `permission`: questions; `replay`: what was said before.
//! - `choices`: modes, settings, commands; `plan`: the steps of goals.
//! - `editor_server`: a server that the editor named; `address`: where one leads; `servers`: what the owner is asked about
//!   it before it is used.

mod address;
mod calls;
mod choices;
mod connection;
mod editor_server;
mod errors;
mod forms;
mod grants;
mod known;
mod lines;
mod new_chat;
mod permission;
mod plan;
mod prompt;
mod prompt_text;
mod replay;
mod servers;
mod session;
mod sessions;
mod starts;
mod texts;
mod turn;
mod updates;
mod waiting;

pub use connection::serve;
pub use new_chat::NewChat;
pub use sessions::Host;
