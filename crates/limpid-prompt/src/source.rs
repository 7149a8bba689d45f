//! Files of profiles as plain values, and places in them.

use std::fmt;

use crate::front_matter::says_public;

/// Which layer a file of a profile comes from; a later layer takes the place of an earlier one, file by file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// The program.
    Shipped,
    /// The last text of an owner's file that could be used. It counts only while the file itself cannot be used.
    Kept,
    /// The owner's home folder.
    Home,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shipped => "shipped",
            Self::Kept => "kept",
            Self::Home => "home",
        })
    }
}

/// One file of a profile, as whoever read it hands it over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path inside the folder of profiles, with `/` between names: `kai/sections/soul.md`.
    pub path: String,
    /// What it holds; text in UTF-8 when it is whole.
    pub bytes: Vec<u8>,
    /// The layer that it belongs to.
    pub layer: Layer,
}

impl SourceFile {
    /// A file of the owner's.
    pub fn home(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), layer: Layer::Home }
    }

    /// A file that ships with the program.
    pub fn shipped(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), layer: Layer::Shipped }
    }

    /// Whether strangers may learn its words: it ships, it is a manifest or a policy, or its front matter says so. Of a manifest the
    /// titles of groups are text, which no section of a public path lists, and what stands between sections.
    pub fn is_public(&self) -> bool {
        self.layer == Layer::Shipped
            || self.path.ends_with(".toml")
            || std::str::from_utf8(&self.bytes).is_ok_and(says_public)
    }
}

/// A stretch of lines of a file; it prints as the origin of a part: `shipped:profiles/kai/sections/soul.md:4-9`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceRef {
    /// The layer of the file.
    pub layer: Layer,
    /// Its path inside the folder of profiles.
    pub path: String,
    /// The first line, from 1.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

impl SourceRef {
    /// The file with its first line: `home:profiles/kai/profile.toml:4`.
    pub fn line(&self) -> String {
        format!("{}:{}", self.file(), self.first)
    }

    /// The file without its lines: `home:profiles/kai/sections/soul.md`.
    pub fn file(&self) -> String {
        format!("{}:profiles/{}", self.layer, self.path)
    }
}

impl fmt::Display for SourceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:profiles/{}:{}-{}", self.layer, self.path, self.first, self.last)
    }
}
