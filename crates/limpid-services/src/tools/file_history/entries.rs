//! What stands at a place: what a file holds, or where a link leads.

use std::path::Path;

use limpid_config::regular_file;
use limpid_store::{FileContent, FileHash};

use super::kept::hash_of;

/// Bytes of a file up to which its text is kept, so that the owner can be shown what changed.
const KEPT: u64 = 256 * 1024;

/// How the text begins that stands for a link.
const LINK: &str = "a link to ";

/// Whether a content stands for a link, or may: a file that says the same is not told apart.
pub(super) fn is_link(content: &FileContent) -> bool {
    content.text.as_ref().is_some_and(|text| text.starts_with(LINK))
}

/// What a file holds, or where a link leads that stands at a place itself.
pub(super) fn entry(place: &Path) -> std::io::Result<Option<FileContent>> {
    match std::fs::read_link(place) {
        Ok(target) => Ok(Some(FileContent::text(format!("{LINK}{}\n", target.display())))),
        Err(_) => content(place),
    }
}

/// What a file holds; its text too unless it is large. None when there is no file.
pub(super) fn content(path: &Path) -> std::io::Result<Option<FileContent>> {
    let Some(hash) = hash_of(path)? else { return Ok(None) };
    let text = regular_file::read_text(path, KEPT).ok().filter(|text| FileHash::of(text.as_bytes()) == hash);
    Ok(Some(FileContent { hash, text }))
}

/// What a file holds whose whole text was read.
pub(super) fn of_text(text: String) -> FileContent {
    let hash = FileHash::of(text.as_bytes());
    FileContent { hash, text: (text.len() as u64 <= KEPT).then_some(text) }
}
