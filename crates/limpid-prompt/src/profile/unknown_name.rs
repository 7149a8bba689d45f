//! Names that stand for nothing.

use std::fmt;

/// A name that stands for nothing, with the names that would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    what: &'static str,
    name: String,
    known: Vec<String>,
}

impl UnknownName {
    pub(crate) fn new<'a>(what: &'static str, name: &str, known: impl Iterator<Item = &'a String>) -> Self {
        Self { what, name: name.to_owned(), known: known.cloned().collect() }
    }

    /// The names that are known.
    pub fn known(&self) -> &[String] {
        &self.known
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} `{}`; ", self.what, self.name)?;
        match self.known.as_slice() {
            [] => f.write_str("there is none"),
            known => write!(f, "there are: {}", known.join(", ")),
        }
    }
}

impl std::error::Error for UnknownName {}
