//! A section: one named piece of prompt text.

pub(crate) mod build;
mod definition;
mod form;
pub(crate) mod front;
mod list;
mod shown;
mod stability;
mod subject;

pub use definition::{DropOrder, Section, Trim};
pub use form::{Form, Forms};
pub use list::{EntryList, Take};
pub use stability::Stability;
pub use subject::Subject;
