//! Who wrote a text.

use std::fmt;
use std::str::FromStr;

/// Who wrote a text, from the most to the least trusted.
///
/// The order is that of trust: a text made of several has the greatest label among them ([`Trust::join`]). There is no
/// default: whoever takes in a text says who wrote it.
///
/// ```compile_fail
/// limpid_core::Trust::default();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trust {
    /// The owner, at a client of their own.
    Owner,
    /// A prompt file of the owner's.
    File,
    /// Another person on a channel.
    Guest,
    /// Anybody: mail, web pages, notifications, results of tools that read such text.
    Outside,
}

impl Trust {
    /// Every label, from the most to the least trusted.
    pub const ALL: [Self; 4] = [Self::Owner, Self::File, Self::Guest, Self::Outside];

    /// The label's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::File => "file",
            Self::Guest => "guest",
            Self::Outside => "outside",
        }
    }

    /// The label of a text that was made from two: the less trusted one.
    ///
    /// ```
    /// use limpid_core::Trust;
    /// assert_eq!(Trust::Owner.join(Trust::Outside), Trust::Outside);
    /// ```
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        self.max(other)
    }

    /// The label without files of the owner's: they are in every prompt, and a text that was made from them is the owner's.
    #[must_use]
    pub const fn of_strangers(self) -> Self {
        if self.is_foreign() { self } else { Self::Owner }
    }

    /// Whether the text must stand inside a boundary when a model reads it.
    pub const fn is_foreign(self) -> bool {
        matches!(self, Self::Guest | Self::Outside)
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no trust label.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no trust label; use owner, file, guest or outside")]
pub struct UnknownTrust(String);

impl FromStr for Trust {
    type Err = UnknownTrust;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|trust| trust.as_str() == word).ok_or_else(|| UnknownTrust(word.to_owned()))
    }
}
