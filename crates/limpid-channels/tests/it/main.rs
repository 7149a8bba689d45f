//! The tests of this crate from outside, in one program: linking one for each file takes minutes and gigabytes.

#![allow(clippy::disallowed_methods, reason = "the files of a test are its own")]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod busy;
mod garbage;
mod letters;
mod secure;
mod servers;
