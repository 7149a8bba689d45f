//! The names that templates may use, over the inputs of one prompt.

mod data;
mod derived;
mod fields;
mod frame;
mod json;
mod pick;
mod record;
mod time;
mod view;
mod workspace;

pub use data::Scope;
pub use frame::Frame;
pub use record::{GroupView, Record};
pub use view::{Foreign, Plain, View};

#[cfg(test)]
mod tests;
