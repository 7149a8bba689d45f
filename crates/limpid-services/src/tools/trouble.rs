//! What tools say of errors, and who worded those.

use limpid_channels::mail::MailError;
use limpid_config::FileError;
use limpid_core::{Labelled, Sentence, Trust, io_cause};
use limpid_store::StoreError;

use crate::error::AgentError;

/// What a tool says of an error of the store or of a service.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` gives it away")]
pub fn trouble(error: impl Trouble) -> Sentence {
    Labelled::new(error.in_words(), error.worded_by()).into()
}

/// An error that a tool may tell the model of. Each kind says who worded it, so no stranger's words get in by way of one.
pub trait Trouble: std::fmt::Display {
    /// What the model is told of it.
    fn in_words(&self) -> String {
        self.to_string()
    }

    /// Who wrote the least trusted part of its words, besides the arguments of the call, which the executor labels.
    fn worded_by(&self) -> Trust;
}

impl Trouble for StoreError {
    fn worded_by(&self) -> Trust {
        Trust::Owner
    }
}

impl Trouble for AgentError {
    /// Where a file lies is the owner's to know, and whoever laid it there may have chosen its name.
    fn in_words(&self) -> String {
        match self {
            Self::File(FileError::Io { source, .. }) => {
                format!("a file that this needs cannot be used: {}; the owner has to look at it", io_cause(source))
            }
            Self::File(FileError::Exposed { .. }) => {
                "a file with a secret may be read by others; the owner has to run chmod 600 on it".to_owned()
            }
            other => other.to_string(),
        }
    }

    fn worded_by(&self) -> Trust {
        match self {
            // A provider's words.
            Self::Model(_) => Trust::Outside,
            Self::Store(_)
            | Self::Goal(_)
            | Self::Prompt(_)
            | Self::File(_)
            | Self::NotFound { .. }
            | Self::Invalid(_) => Trust::Owner,
        }
    }
}

impl Trouble for MailError {
    fn worded_by(&self) -> Trust {
        match self {
            Self::NotFound(_) | Self::Invalid(_) => Trust::Owner,
            // The server's words, or those of whoever answers in its place.
            Self::Unreachable { .. }
            | Self::Certificate { .. }
            | Self::Login { .. }
            | Self::Server { .. }
            | Self::Unknown { .. } => Trust::Outside,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    // SEC-051 SEC-065
    #[test]
    fn where_a_file_lies_is_told_to_the_owner_alone() {
        let path = "/home/ada/.limpid/skills/tea/obey eve.md";
        let full = AgentError::file(path)(io::Error::from(io::ErrorKind::StorageFull));
        let linked = AgentError::file(path)(io::Error::other("a skill may not hold links"));
        let exposed = AgentError::File(FileError::Exposed { path: path.into(), mode: 0o644 });
        for (error, why) in [(full, "the disk is full"), (linked, "may not hold links"), (exposed, "chmod 600")] {
            assert!(error.to_string().contains(path), "{error}");
            let told = trouble(error).into_text();
            assert!(told.contains(why) && !told.contains("/home") && !told.contains("obey"), "{told}");
        }
    }
}
