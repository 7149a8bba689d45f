//! What tools say of errors, and who worded those.

use limpid_channels::mail::MailError;
use limpid_core::{Labelled, Sentence, Trust};
use limpid_store::StoreError;

use crate::error::AgentError;

/// What a tool says of an error of the store or of a service.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` gives it away")]
pub fn trouble(error: impl Trouble) -> Sentence {
    Labelled::new(error.to_string(), error.worded_by()).into()
}

/// An error that a tool may tell the model of. Each kind says who worded it, so no stranger's words get in by way of one.
pub trait Trouble: std::fmt::Display {
    /// Who wrote the least trusted part of its words, besides the arguments of the call, which the executor labels.
    fn worded_by(&self) -> Trust;
}

impl Trouble for StoreError {
    fn worded_by(&self) -> Trust {
        Trust::Owner
    }
}

impl Trouble for AgentError {
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
