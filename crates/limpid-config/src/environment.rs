//! What the environment says, as the binary read it.

use std::collections::BTreeMap;
use std::fmt;

/// Environment variables as the binary read them: addresses and keys. Printing it shows names only.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Takes variables; empty values count as absent.
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(variables.into_iter().filter(|(_, value)| !value.trim().is_empty()).collect())
    }

    /// A variable's value.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Every variable.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
