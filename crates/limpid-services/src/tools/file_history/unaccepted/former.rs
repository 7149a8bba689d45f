//! What a file said when its owner knew it last, while something else waits in its place.

use std::path::Path;

use limpid_store::{FileContent, file_key};

use super::{Place, UnacceptedFiles};
use crate::tools::file_history::entries::{entry_hash, is_link, link_target};
use crate::tools::file_history::without_mark;
use crate::tools::policy::real_by;

impl UnacceptedFiles {
    /// What a file said when the owner knew it last, for as long as something else waits in its place: none where nothing does, and
    /// where that is not kept. Whatever it says once stood at that place and was the owner's there.
    pub fn former_text(&self, place: &Place) -> Option<String> {
        if self.waiting.is_empty() && self.runs.is_empty() {
            return None;
        }
        // A link that waits leads where it led before, or nowhere: where it leads now is nothing that the owner knows.
        let led = |link: &Path| match self.known_before(link) {
            Some(before) => before.and_then(link_target),
            None => std::fs::read_link(link).ok(),
        };
        let end = real_by(&place.own, &led)?;
        let before = self.known_before(&end)?.filter(|before| !is_link(before))?;
        match &before.text {
            Some(text) => Some(without_mark(text).to_owned()),
            // It was large or no UTF-8, and stood in prompts all the same.
            None => self.kept.text(before.hash),
        }
    }

    /// What stood at a place itself, or that nothing did, when the owner knew it last; none where what stands there now is theirs.
    fn known_before(&self, place: &Path) -> Option<Option<&FileContent>> {
        let key = file_key(place);
        if !self.is_in_question(&key) {
            return None;
        }
        // What cannot be read is not there for any prompt.
        let now = entry_hash(place).ok().flatten();
        self.other_than(&key, now)
    }

    /// Whether anything but what stands at a place may be known of it.
    pub(super) fn is_in_question(&self, key: &str) -> bool {
        self.waiting_at(key).is_some() || self.writing(key).next().is_some()
    }
}
