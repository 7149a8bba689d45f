//! The tests of this crate from outside, in one program: linking one for each file takes minutes and gigabytes.

#![allow(clippy::disallowed_methods, reason = "the files of a test are its own")]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod behaviour;
mod budgets;
mod compile_fail;
mod composition;
mod forged_lines;
mod goal_room;
mod golden;
mod invalid;
mod kit;
mod labels;
mod loading;
mod membership;
mod mode_policy;
mod ollm_engine;
mod outside;
mod page;
mod prefix;
mod profile_kai;
mod profile_koshi;
mod profile_limpid;
mod profile_limpid_rules;
mod profile_ollm;
mod profile_picoclaw;
mod report;
mod scenarios;
mod shipped;
mod small_windows;
mod state;
mod support;
mod template_part;
mod tool_texts;
