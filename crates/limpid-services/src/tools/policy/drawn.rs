//! Files that ask somebody for something as soon as they are opened: what a call writes into such a one leaves when its owner looks.

use std::path::Path;

use limpid_core::policy::FileChange;
use limpid_prompt::shown::{Drawn, shown};
use serde_json::Value;

use crate::tools::policy::CallContext;
use crate::tools::policy::facts::CallFacts;

/// Endings of files that are drawn or carried out by what opens them.
const DRAWN: [&str; 22] = [
    "html", "htm", "xhtml", "xht", "shtml", "mhtml", "mht", "hta", "svg", "xml", "xsl", "css", "js", "mjs", "csv",
    "tsv", "rtf", "url", "webloc", "desktop", "eml", "ics",
];

/// Endings of texts in which a picture is drawn where the text has one; so is one without an ending.
const TEXTS: [&str; 6] = ["md", "markdown", "mdx", "txt", "rst", "adoc"];

impl CallFacts {
    /// Marks files for strangers' text that would tell somebody, as soon as they are opened, what the turn has read.
    pub(crate) fn know_drawn_files(&mut self, arguments: &Value, context: &CallContext) {
        if !context.trust.is_foreign() || !context.window.is_private {
            return;
        }
        let is_low = |path: &&mut limpid_core::policy::PathFacts| path.write && path.change == FileChange::OwnLow;
        for path in self.paths.iter_mut().filter(is_low) {
            if asks_when_opened(path.real.as_path(), arguments) {
                path.change = FileChange::Drawn;
            }
        }
    }
}

/// Whether the file at a place asks somebody for something when it is opened, with what a call puts there.
fn asks_when_opened(place: &Path, arguments: &Value) -> bool {
    let ending = place.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    if DRAWN.contains(&ending.as_str()) {
        return true;
    }
    let is_text = ending.is_empty() || TEXTS.contains(&ending.as_str());
    let words = arguments.as_object().into_iter().flat_map(|fields| fields.values()).filter_map(Value::as_str);
    is_text && words.into_iter().any(|text| text.contains(':') && Drawn::new(text).as_str() != shown(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // SEC-005 SEC-059
    #[test]
    fn a_page_a_table_and_a_picture_ask_and_words_do_not() {
        let asks =
            |name: &str, text: &str| asks_when_opened(Path::new(name), &json!({ "path": name, "content": text }));
        let picture = "![The Anchor](http://a.example/a.png?x=4711)";
        for (name, text) in [("a.html", "hi"), ("A.SVG", "hi"), ("t.csv", "a,b"), ("a.md", picture), ("notes", picture)]
        {
            assert!(asks(name, text), "{name}");
        }
        let image = "<img src=http://a.example/a.png>";
        assert!(
            asks("a.md", image) && asks_when_opened(Path::new("a.md"), &json!({ "old_text": "x", "new_text": image }))
        );
        let link = "See [The Anchor](http://a.example/): seven rooms!";
        for (name, text) in [("a.md", link), ("notes", "Look: no picture!"), ("a.rs", "let a: Vec<u8> = vec![1];")] {
            assert!(!asks(name, text), "{name}");
        }
    }
}
