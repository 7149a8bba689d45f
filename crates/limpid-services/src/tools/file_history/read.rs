//! What conversations have read of files, so that none writes over what it does not know.
//!
//! Each process knows what was read through it; what another one changes is seen by the bytes.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use limpid_core::policy::{Followed, PathFacts};
use limpid_core::{ConversationId, Labelled, Sentence, Trust, sentence};
use limpid_store::FileContent;
use limpid_tools::echoed;
use limpid_tools::files::Grants;

use super::opened::{OpenedFile, content, of_text};
use crate::line_diff::line_diff;

/// Files that are remembered, over all conversations; the one that was looked at longest ago goes first. Those that a stranger's text may
/// have led to are counted for themselves, so they push out none of the others.
const MOST: usize = 512;

/// Bytes of their texts that are kept, of each side; of the others it is known only whether they changed.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Files of which it is remembered that they were known once. With more, each file that is not known counts as one of them.
const MOST_FORGOTTEN: usize = 100_000;

/// Lines of a difference that are shown.
const LINES: usize = 60;

/// Files as conversations know them.
#[derive(Default)]
pub(super) struct ReadFiles(Mutex<Known>);

#[derive(Default)]
struct Known {
    files: HashMap<Place, Version>,
    looks: u64,
    /// The hashes of those that had to make room. What they held is not known, but that they were read.
    forgotten: HashSet<u64>,
    has_forgotten_all: bool,
}

/// A file as a conversation knows it.
type Place = (ConversationId, Followed);

struct Version {
    content: FileContent,
    look: u64,
    /// Whether a stranger's text may have led to each look at it.
    is_led: bool,
}

/// What a conversation does not know of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// It has changed since it was read: how.
    Changed(String),
    /// It was read, and what it held is remembered no more.
    Forgotten,
    /// It was read, and cannot be now, or something else is in its place.
    Unreadable,
}

impl Known {
    fn note(&mut self, place: Place, content: FileContent, trust: Trust) {
        self.looks += 1;
        self.forgotten.remove(&hash(&place));
        let is_led = trust.is_foreign() && self.files.get(&place).is_none_or(|version| version.is_led);
        self.files.insert(place, Version { content, look: self.looks, is_led });
        let of_side = self.files.iter().filter(|(_, version)| version.is_led == is_led);
        let oldest = of_side.min_by_key(|(_, version)| version.look).map(|(place, _)| place.clone());
        let kept = self.files.values().filter(|version| version.is_led == is_led).count();
        if let Some(oldest) = oldest.filter(|_| kept > MOST) {
            self.files.remove(&oldest);
            self.forgotten.insert(hash(&oldest));
        }
        if self.forgotten.len() > MOST_FORGOTTEN {
            self.forgotten.clear();
            self.has_forgotten_all = true;
        }
        self.forget_texts(is_led);
    }

    fn has_forgotten(&self, place: &Place) -> bool {
        self.has_forgotten_all || self.forgotten.contains(&hash(place))
    }

    /// Lets go of a side's texts that were looked at longest ago, where all of them are too long.
    fn forget_texts(&mut self, is_led: bool) {
        let length = |version: &Version| version.content.text.as_ref().map_or(0, String::len);
        let mut kept: usize = self.files.values().filter(|version| version.is_led == is_led).map(length).sum();
        while kept > MOST_BYTES {
            let of_side = self.files.values_mut().filter(|version| version.is_led == is_led);
            let texts = of_side.filter(|version| version.content.text.is_some());
            let Some(oldest) = texts.min_by_key(|version| version.look) else { return };
            kept -= length(oldest);
            oldest.content.text = None;
        }
    }
}

impl ReadFiles {
    /// A conversation knows what a file held; `trust` is the label of what led to that.
    pub(super) fn note(&self, conversation: &ConversationId, real: &Followed, content: FileContent, trust: Trust) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.note((conversation.clone(), real.clone()), content, trust);
    }

    /// Whether a conversation knows what a file holds now.
    pub(super) fn is_known(&self, conversation: &ConversationId, real: &Followed) -> bool {
        let known = {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.files.get(&(conversation.clone(), real.clone())).map(|version| version.content.hash)
        };
        // What nobody read is not looked at.
        known.is_some_and(|hash| look(real.as_path()).is_some_and(|now| now.hash == hash))
    }

    /// What a conversation is told of a file that it does not know as it is now; none where it does, or never read it. From then on it
    /// knows the file; `trust` is the label of what led to the call.
    pub(super) fn check(&self, conversation: &ConversationId, real: &Followed, trust: Trust) -> Option<Unknown> {
        let key = (conversation.clone(), real.clone());
        let (before, is_forgotten) = {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            (known.files.get(&key).map(|version| version.content.clone()), known.has_forgotten(&key))
        };
        let Some(before) = before else {
            let now = if is_forgotten { look(real.as_path()) } else { None };
            self.note(conversation, real, now?, trust);
            return Some(Unknown::Forgotten);
        };
        // What cannot be read, or lies behind a link by now, is nothing that anybody is told of.
        let Ok(now) = content(real.as_path()) else { return Some(Unknown::Unreadable) };
        if now.as_ref().map(|now| now.hash) == Some(before.hash) {
            return None;
        }
        let told = match (&before.text, now.as_ref().map(|now| now.text.as_ref())) {
            (_, None) => "it is gone; nothing was written".to_owned(),
            (Some(was), Some(Some(is_now))) => {
                format!("nothing was written; what is different now:\n{}", difference(was, is_now))
            }
            (_, Some(_)) => "nothing was written; read it again".to_owned(),
        };
        match now {
            Some(now) => self.note(conversation, real, now, trust),
            None => drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).files.remove(&key)),
        }
        Some(Unknown::Changed(told))
    }
}

fn hash(place: &Place) -> u64 {
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    hasher.finish()
}

/// Why a call may not write over a file, for the model: `unknown` is from [`ReadFiles::check`], `trust` the label of that read.
pub(super) fn refusal(path: &PathFacts, unknown: Unknown, trust: Trust) -> Sentence {
    let name = echoed(path.written.clone());
    match unknown {
        Unknown::Changed(told) => {
            let told = Labelled::new(told, trust);
            sentence!("`{}` is not as you know it, somebody has changed it: {}", name, told)
        }
        Unknown::Forgotten => {
            sentence!("you read `{}` long ago, and it may have changed; nothing was written; read it again", name)
        }
        Unknown::Unreadable => {
            sentence!("`{}` cannot be read now, or leads elsewhere; nothing was written; read it again", name)
        }
    }
}

/// What a file holds, as a conversation may come to know it; nothing where there is no file.
pub(super) fn look(real: &Path) -> Option<FileContent> {
    content(real).ok().flatten()
}

/// What a file holds that a call is about to read, as tools of files read it. Nothing where they refuse it: then no
/// conversation comes to know it, and a path that leads anywhere else costs nobody the time of a look.
pub(super) fn look_before_read(grants: &Grants, real: &Path) -> Option<FileContent> {
    let file = if grants.reads(real) { OpenedFile::at(real) } else { Ok(None) };
    file.ok().flatten()?.text().ok().flatten().map(of_text)
}

/// The lines that went and came, with a few around them.
fn difference(was: &str, is_now: &str) -> String {
    let whole = line_diff(was, is_now).unified_diff().context_radius(1).to_string();
    let lines: Vec<&str> = whole.lines().collect();
    let more = lines.len().saturating_sub(LINES);
    let rest = if more > 0 { format!("\n… and {more} more lines; read it again") } else { String::new() };
    format!("{}{rest}", lines.iter().take(LINES).copied().collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests;
