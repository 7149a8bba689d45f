//! The tests of this crate from outside, in one program: linking one for each file takes minutes and gigabytes.

#![allow(clippy::disallowed_methods, reason = "the files of a test are its own")]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod bodies;
mod catalogue;
mod chain;
mod effort;
mod embeddings;
mod litellm;
mod local_model;
mod remedies;
mod remote;
mod reported;
mod schemas;
mod scripted;
mod state;
mod support;
