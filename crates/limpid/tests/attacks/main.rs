//! Attacks on the running program, one module each: an obedient model, which does what any text tells it, the real program in
//! a home of its own, and real sockets. Each says what must not come about, and that a harmless turn still works.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod destroyed_files;
#[cfg(target_os = "linux")]
mod endless_file;
mod equal_keys;
mod flood_of_calls;
#[path = "../it/kit.rs"]
#[allow(dead_code, reason = "the other program uses the rest")]
mod kit;
mod mentioned_host;
mod obedient;
mod words_of_an_error;
