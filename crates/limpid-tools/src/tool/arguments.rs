//! Arguments as they are read, and the words of errors about them.

use limpid_core::{Labelled, Sentence, Trust, sentence};
use reqwest::StatusCode;
use serde_json::Value;

/// Reads arguments into a type.
///
/// # Errors
/// A sentence that names the field, for the model.
pub fn read_arguments<T: serde::de::DeserializeOwned>(arguments: Value) -> Result<T, Sentence> {
    // The executor adds the label of who wrote the arguments.
    serde_json::from_value(arguments)
        .map_err(|error| sentence!("wrong arguments: {}", Labelled::new(error, Trust::Owner)))
}

/// Words of the model or of the owner that an error repeats, and what the system says of a path of theirs. The executor adds
/// the label of the turn, which is that of the model's words. For errors only: in a result nobody adds a label.
pub fn echoed<T>(words: T) -> Labelled<T> {
    Labelled::new(words, Trust::Owner)
}

/// The status of an answer by its number and its usual name; what the server itself calls it is left out.
pub(crate) fn status(status: StatusCode) -> Sentence {
    sentence!("{} {}", status.as_u16(), status.canonical_reason().unwrap_or("(unknown)"))
}
