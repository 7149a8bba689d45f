//! The tests of this crate from outside, in one program: linking one for each file takes minutes and gigabytes.

#![allow(clippy::disallowed_methods, reason = "the files of a test are its own")]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod acp;
mod agents;
#[cfg(target_os = "linux")]
mod allowed_programs;
mod architecture;
#[path = "../attacks/mod.rs"]
mod attacks;
mod bridge;
mod chat;
mod cmd;
mod conformance;
mod conformance_fixtures;
mod context_size;
mod conversations;
#[cfg(target_os = "linux")]
mod day_in_a_repository;
mod days;
mod drafts;
mod files;
mod foreign_folder;
mod history;
mod inbox;
mod kit;
mod mail;
mod mcp;
mod mcp_asks;
mod mcp_real;
mod memory;
mod model_update;
mod notify;
mod own_scenarios;
mod owner_faults;
mod piped;
#[cfg(target_os = "linux")]
mod programs;
mod provider_faults;
mod providers;
mod providers_down;
mod screens;
mod semantic;
mod serve;
mod serve_faults;
mod settings;
mod shown;
mod spent;
mod telemetry;
#[cfg(unix)]
mod terminal;
mod travel;
mod unread;
