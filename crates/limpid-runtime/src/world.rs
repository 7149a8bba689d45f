//! What the agent needs of the world besides files, the store and models: the time, names nobody has yet, and what
//! the environment says. Each comes in as a value, so that tests can hold it still.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;

/// A clock.
pub trait Clock: Send + Sync {
    /// The time.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A source of names and tags that nobody can guess.
pub trait Ids: Send + Sync {
    /// 64 bits that were never drawn before.
    fn draw(&self) -> u64;
}

/// Names drawn from the system's randomness.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn draw(&self) -> u64 {
        // Without randomness nothing safe can be drawn, and no caller could go on.
        getrandom::u64().expect("the system has randomness")
    }
}

/// 16 hexadecimal digits: a tag or the tail of a name.
pub(crate) fn hex(ids: &dyn Ids) -> String {
    format!("{:016x}", ids.draw())
}

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
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
