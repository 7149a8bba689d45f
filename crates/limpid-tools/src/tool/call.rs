//! What a tool says of a call before it is made.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

/// What a call is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Concerned {
    /// The tool does not say it.
    NotSaid,
    /// The arguments say all of it, whatever is there.
    InArguments,
    /// It is this, such as the words of a memory whose number the arguments have.
    Words(String),
    /// The same of a call that leaves for others, which its arguments alone do not say: it is judged as one that sends.
    SentTo(String),
}

impl Concerned {
    /// What was found, or that there is none of it.
    pub fn found(words: Option<String>, missing: &str) -> Self {
        Self::Words(words.unwrap_or_else(|| missing.to_owned()))
    }

    /// The words that whoever is asked sees besides the arguments.
    pub fn into_words(self) -> Option<String> {
        match self {
            Self::NotSaid | Self::InArguments => None,
            Self::Words(words) | Self::SentTo(words) => Some(words),
        }
    }
}

/// A thing of the database that a call names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The arguments that name it: first the tool's own, then what the same is called where another profile knows the tool.
    pub fields: &'static [&'static str],
    /// All its names, whichever of them the call has.
    pub names: Vec<String>,
}

/// A path that a call names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathArgument {
    /// The path as the model wrote it.
    pub path: String,
    /// Whether the call would change what stands there.
    pub write: bool,
    /// Whether it would only add to what is there.
    pub adds: bool,
}

/// Where a call leads, looked up once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The folder that it runs in, whole and without links: the one path that it names.
    pub folder: PathBuf,
    /// All that decides what it runs, sees and reaches, each part beside what it is.
    pub all: BTreeSet<(&'static str, OsString)>,
}

/// A program that a call would start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The program, whole and without links.
    pub program: PathBuf,
    /// The files that its words name, in the same way.
    pub files: Vec<PathBuf>,
    /// The folder that it starts in, in the same way.
    pub folder: PathBuf,
    /// The folders that its words name where tools and programs may write, in the same way.
    pub folders: Vec<PathBuf>,
    /// A folder of which it sees the files alone.
    pub files_in: Option<PathBuf>,
}

/// What a program gets that may be a stranger's: never both. What one of them sees must not get to one that sends or leaves something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrangersProgram {
    /// Sight of the owner's places.
    Sees,
    /// The network, and sight of strangers' places, in which a copy of what is the owner's may lie.
    Sends,
    /// Neither. It writes files that are opened or sent later.
    Leaves,
}

impl StrangersProgram {
    /// Whether it sees the owner's places. One that does and one that doesn't never run at once.
    pub fn sees(self) -> bool {
        self == Self::Sees
    }
}
