//! What the tools of files do alike with a call.

use std::path::Path;

use limpid_core::{Sentence, sentence};
use serde_json::Value;

use super::grants::Grants;
use crate::{PathArgument, echoed};

/// Does something with files on a thread that may wait for a disk.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Sentence> + Send + 'static,
) -> Result<T, Sentence> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(sentence!("it broke off: {}", echoed(error))))
}

/// The argument `path` of a call, as policies look at it.
pub(super) fn path_argument(
    grants: &Grants,
    arguments: &Value,
    write: bool,
    absent: Option<&str>,
) -> Vec<PathArgument> {
    let path = arguments.get("path").and_then(Value::as_str).or(absent);
    let long = |path: &str| grants.written_out(path).unwrap_or_else(|| path.to_owned());
    path.map(|path| PathArgument { path: long(path), write }).into_iter().collect()
}

/// The name of a file as one line of text, whatever it is made of.
pub(super) fn one_line(name: &Path) -> String {
    name.to_string_lossy().chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
