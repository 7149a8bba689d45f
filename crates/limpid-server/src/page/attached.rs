//! Files that go along with a message: as a browser sends them, and as they are shown.

use askama::Template;
use limpid_core::Trust;
use limpid_core::attached::{AttachedFile, Part, parts};
use limpid_prompt::shown::{shown, shown_line};
use serde::Deserialize;

use super::trouble::Trouble;

/// Characters of a file that are shown when it is opened.
const SHOWN: usize = 20_000;

/// What the owner says, as it is shown while it waits or is being answered.
#[derive(Default)]
pub(super) struct Words {
    pub(super) text: String,
    pub(super) files: Vec<File>,
    /// Whose words they are besides, where a button was pressed.
    pub(super) from: &'static str,
}

/// What a tag says of words that a button sent; the model, and whoever it has read, chose them.
pub(super) const fn by_button(trust: Trust) -> &'static str {
    if trust.is_foreign() { "by a button, perhaps in someone else's words" } else { "by a button" }
}

/// A file as it is shown.
#[derive(Template)]
#[template(path = "parts/file.html")]
pub(super) struct File {
    name: String,
    size: String,
    text: String,
    is_cut: bool,
}

/// A file as a browser sends it.
#[derive(Deserialize)]
struct Sent {
    name: String,
    text: String,
}

impl File {
    pub(super) fn new(name: &str, text: &str) -> Self {
        let end = text.char_indices().nth(SHOWN).map(|(at, _)| at);
        Self {
            name: Some(shown_line(name)).filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "a file".to_owned()),
            size: size(text.len()),
            text: shown(&text[..end.unwrap_or(text.len())]).into_owned(),
            is_cut: end.is_some(),
        }
    }
}

/// What was handed in: its files, and its words.
pub(super) fn taken_apart(handed_in: &str) -> Words {
    let mut words = Words::default();
    for part in parts(handed_in) {
        match part {
            Part::File { name, text } => words.files.push(File::new(name, text)),
            Part::Words(text) => words.text.push_str(text),
        }
    }
    words
}

/// The files that a browser sends.
pub(super) fn read(files: &str) -> Result<Vec<AttachedFile>, Trouble> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let files: Vec<Sent> =
        serde_json::from_str(files).map_err(|_| Trouble::invalid("The files are no list of names and texts."))?;
    Ok(files.into_iter().map(|Sent { name, text }| AttachedFile { name, text }).collect())
}

fn size(bytes: usize) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        ..1024 => format!("{bytes} bytes"),
        _ => format!("{} KB", bytes.div_ceil(1024)),
    }
}
