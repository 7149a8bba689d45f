//! Templates: what a body, an entry or a gate may contain, compiled once so that evaluating it cannot fail.
//!
//! The grammar is a small part of Jinja: `{{ expression }}`, `{% if %}` with `elif` and `else`, comments. Loops,
//! includes, assignments, calls and arithmetic do not exist. minijinja parses; [`compile`] takes over what is allowed
//! and checks every name and filter; [`evaluate`](crate::evaluate) walks the result over a
//! [`Frame`](crate::scope::Frame). Data is only ever copied to the output, so a template is expanded once, whatever the
//! data looks like.

pub(crate) mod compile;
mod filter;
pub(crate) mod names;
mod syntax;

pub(crate) use filter::Filter;
pub(crate) use syntax::{Expr, Node, Root};
pub use syntax::{Gate, Name, Slot, Template};

#[cfg(test)]
mod tests;
