//! What the tools of files do alike with a call.

use std::path::Path;
use std::time::Instant;

use limpid_core::{Sentence, sentence};
use limpid_prompt::shown::{WhenOpened, when_opened};
use serde_json::Value;

use super::folder::Changing;
use super::grants::{Grants, Place};
use super::lock;
use crate::{PathArgument, ToolContext, echoed};

/// Changes files on a thread that may wait for a disk, and for other changes until the time that `work` gets: it was counted
/// from the call, so that a change never comes long after it.
pub(super) async fn changing<T: Send + 'static>(
    work: impl FnOnce(Instant) -> Result<T, Sentence> + Send + 'static,
) -> Result<T, Sentence> {
    let until = lock::patience();
    blocking(move || work(until)).await
}

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
    let path = arguments.get("path").and_then(Value::as_str);
    // Where it may be left out, blanks leave it out, too.
    let path = path.filter(|path| absent.is_none() || !path.trim().is_empty()).or(absent);
    path.map(|path| PathArgument { path: grants.judged(path), write, adds: false }).into_iter().collect()
}

/// Says of a call whose path may not be written that it cannot run.
pub(super) fn may_write(grants: &Grants, arguments: &Value) -> Result<(), Sentence> {
    let path = arguments.get("path").and_then(Value::as_str);
    path.map_or(Ok(()), |path| grants.place_to_write(path).map(drop))
}

/// The same arguments with another path.
pub(super) fn with_path(arguments: &Value, path: &str) -> Option<Value> {
    let mut moved = arguments.clone();
    *moved.get_mut("path")? = Value::from(path);
    Some(moved)
}

/// What is said of a file in a low place that was written, so that nobody looks for it elsewhere.
pub(super) fn where_it_is(place: &Place<'_>) -> &'static str {
    if place.root.trust.is_foreign() { "; it is kept there, apart from the owner's own files" } else { "" }
}

/// What a call may leave in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct MayLeave {
    drawn: bool,
}

impl MayLeave {
    /// What a call may leave by how it was judged.
    pub(super) fn of(context: &ToolContext) -> Self {
        Self { drawn: !context.trust.is_foreign() || context.approved || context.drawn }
    }

    /// Refuses a text that asks others for something when it is opened, where the owner was not asked about one: what the file holds has
    /// changed since the call was judged, as by another call of the same reply. It is looked at while nobody else changes the file.
    /// None is a text that is too long to be looked at.
    pub(super) fn check(self, file: &Changing<'_>, after: Option<&str>) -> Result<(), Sentence> {
        if self.drawn || when_opened(file.name(), after) != WhenOpened::Fetches {
            return Ok(());
        }
        Err(sentence!(
            "`{}` was changed since this call was judged, and would ask others for something when it is opened; nothing was written. \
             Make the call again by itself: then the owner is asked.",
            echoed(file.asked())
        ))
    }
}

/// The name of a file as one line of text, whatever it is made of.
pub(super) fn one_line(name: &Path) -> String {
    name.to_string_lossy().chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
