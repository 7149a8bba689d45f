//! The agent over HTTP, on real sockets of the loopback.

#![allow(clippy::disallowed_methods, reason = "the files of a test are its own")]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod api_chat;
mod api_clients;
mod api_fuzz;
mod api_groups;
mod api_kit;
mod api_strangers;
mod api_talk;
mod browser;
mod ingest;
mod kit;
mod page_agents;
mod page_by_side;
mod page_chat;
mod page_drafts;
mod page_forms;
mod page_goals;
mod page_inbox;
mod page_list;
mod page_login;
mod page_memory;
mod page_prompt;
mod page_prompt_files;
mod page_said;
mod page_screens;
mod page_settings;
mod page_skills;
mod page_tasks;
