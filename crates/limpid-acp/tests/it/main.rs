//! The protocol from outside: an editor of the test's own, which speaks JSON by the line, and an agent with a scripted model.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "the files of a test are its own")]

mod chats;
mod hostile;
mod kit;
mod sessions;
