//! What a server is: a program that is started, or an address.

use std::fmt;
use std::path::PathBuf;

/// A server to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Server {
    /// A program that is started, and spoken to over its standard input and output.
    Program(Program),
    /// An address that is spoken to by streamable HTTP.
    Address(Address),
}

/// A program to start. No shell is between. Printing it shows the names of its variables only.
#[derive(Clone, PartialEq, Eq)]
pub struct Program {
    /// The program: a path, or a name that is looked for in the `PATH` of its variables.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// All of its environment variables.
    pub variables: Vec<(String, String)>,
    /// The folder that it starts in.
    pub folder: PathBuf,
}

/// An address. Printing it shows the names of its headers only.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// Where it is.
    pub url: String,
    /// Headers of every request.
    pub headers: Vec<(String, String)>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.variables.iter().map(|(name, _)| name).collect();
        let mut shown = f.debug_struct("Program");
        shown.field("command", &self.command).field("arguments", &self.arguments);
        shown.field("variables", &names).field("folder", &self.folder).finish()
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Address").field("url", &self.url).field("headers", &names).finish()
    }
}

/// How a connection to a server begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revision {
    /// With a handshake: revision 2025-11-25 of the protocol, and older ones.
    Handshake,
    /// Without one: revision 2026-07-28.
    Discovery,
}

impl Revision {
    /// Its word, as files keep it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Discovery => "discovery",
        }
    }

    /// Reads its word; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Handshake, Self::Discovery].into_iter().find(|revision| revision.as_str() == word)
    }
}
