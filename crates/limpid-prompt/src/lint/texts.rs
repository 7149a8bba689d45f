//! Findings in texts: characters that nobody sees, placeholders that nobody filled, paragraphs that stand twice, and
//! templates that shrink as the tier grows.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::boundary::is_invisible;
use crate::problem::{File, Problem};
use crate::section::Form;
use crate::template::names::Names;

use super::own::{ANY_TIER, Own, warn};

/// Paragraphs shorter than this may well stand twice.
const TELLING_PARAGRAPH: usize = 40;

/// What people leave in a text that they mean to fill in later.
const PLACEHOLDERS: [&str; 9] = ["TODO", "TBD", "FIXME", "XXX", "${", "[insert", "<insert", "[your ", "lorem ipsum"];

pub(super) fn characters(own: Own<'_>, problems: &mut Vec<Problem>) {
    for file in own.files() {
        let mut before = 'a';
        for (at, letter) in file.text.char_indices() {
            // Joiners belong to emoji and to scripts beyond Latin.
            let joins = matches!(letter, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}') && !before.is_ascii();
            if is_invisible(letter) || matches!(letter, '\u{200c}' | '\u{200d}') && !joins {
                let message = format!("an invisible character: U+{:04X}", letter as u32);
                warn(problems, file, at..at + letter.len_utf8(), message, "delete it");
            }
            before = letter;
        }
    }
}

pub(super) fn placeholders(own: Own<'_>, problems: &mut Vec<Problem>) {
    let names = Names::new();
    for (_, _, form) in own.forms() {
        let Some((file, body)) = own.body(form) else { continue };
        let text = &file.text[body.clone()];
        let lower = text.to_ascii_lowercase();
        for word in PLACEHOLDERS {
            let upper = word.chars().all(|letter| letter.is_ascii_uppercase());
            let found = if upper { word_in(text, word) } else { lower.find(word) };
            if let Some(at) = found {
                let at = body.start + at..body.start + at + word.len();
                warn(problems, file, at, format!("`{word}` is left to be filled in"), "write what it stands for");
            }
        }
        for (at, name) in single_braces(text) {
            if is_name(&names, name) {
                let at = body.start + at..body.start + at + name.len() + 2;
                let message = format!("`{{{name}}}` has single braces and is printed as it stands");
                warn(problems, file, at, message, &format!("write {{{{ {name} }}}}"));
            }
        }
    }
}

/// Whether a name could stand between double braces.
fn is_name(names: &Names, name: &str) -> bool {
    let path: Vec<String> = name.split('.').map(str::to_owned).collect();
    names.find(&path).is_ok()
}

/// Of two tiers, the higher one says more.
pub(super) fn shrinking(own: Own<'_>, problems: &mut Vec<Problem>) {
    let mut rows: BTreeMap<String, Vec<(usize, &Form)>> = BTreeMap::new();
    for (name, tier, form) in own.forms().filter(|(_, tier, _)| *tier != ANY_TIER) {
        rows.entry(name).or_default().push((tier, form));
    }
    for (name, forms) in rows {
        for pair in forms.windows(2) {
            let [(lower, small), (higher, large)] = pair else { continue };
            let (Some((_, small)), Some((file, large))) = (own.body(small), own.body(large)) else { continue };
            if large.len() < small.len() {
                let (lower, higher) = (lower + 1, higher + 1);
                let message = format!("{name}: the text of tier {higher} is shorter than that of tier {lower}");
                warn(problems, file, large.start..large.start, message, "a higher tier says at least as much");
            }
        }
    }
}

/// Paragraphs that two texts of one path have in common.
pub(super) fn paragraphs(own: Own<'_>, problems: &mut Vec<Problem>) {
    let mut seen: BTreeMap<String, Vec<Found>> = BTreeMap::new();
    for (name, tier, form) in own.forms() {
        let Some((file, body)) = own.body(form) else { continue };
        let mut start = body.start;
        for paragraph in file.text[body].split("\n\n") {
            let words = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
            if words.len() >= TELLING_PARAGRAPH {
                let at = start..start + paragraph.len();
                let place = Found { name: name.clone(), tier, file: Arc::clone(file), at };
                seen.entry(words).or_default().push(place);
            }
            start += paragraph.len() + 2;
        }
    }
    for places in seen.values() {
        let twin = |later: &Found| {
            let earlier = places.iter().take_while(|found| !found.is(later));
            earlier.into_iter().find(|found| meet(own, found, later))
        };
        for (found, first) in places.iter().filter_map(|found| Some((found, twin(found)?))) {
            let message = format!("this paragraph stands in {} too: {}", first.name, first.file.path);
            warn(problems, &found.file, found.at.clone(), message, "say it once");
        }
    }
}

/// Whether two texts can stand in one prompt.
fn meet(own: Own<'_>, one: &Found, other: &Found) -> bool {
    let same_tier = one.tier == other.tier || one.tier == ANY_TIER || other.tier == ANY_TIER;
    let one_text = one.name == other.name && one.file.path != other.file.path;
    let two_modes = one.name.starts_with("mode ") && other.name.starts_with("mode ");
    let on = |name: &str, path: &crate::profile::Path| {
        let id = if name.starts_with("mode ") { "mode" } else { name };
        path.sections().any(|section| section.id == id)
    };
    let mut paths = own.profile.paths();
    same_tier && !one_text && !two_modes && paths.any(|path| on(&one.name, path) && on(&other.name, path))
}

/// A paragraph and where it stands.
struct Found {
    name: String,
    tier: usize,
    file: Arc<File>,
    at: Range<usize>,
}

impl Found {
    fn is(&self, other: &Self) -> bool {
        self.file.path == other.file.path && self.at == other.at
    }
}

/// Where a word stands by itself.
fn word_in(text: &str, word: &str) -> Option<usize> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(word)
        .map(|(at, _)| at)
        .find(|at| !text[..*at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

/// What stands between single braces on one line, and where the opening one is.
fn single_braces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices('{').filter_map(|(at, _)| {
        let inner = text[at + 1..].split(['}', '\n']).next()?;
        let open = !text[..at].ends_with('{') && !text[at + 1..].starts_with(['{', '%', '#']);
        (open && text[at + 1 + inner.len()..].starts_with('}')).then_some((at, inner.trim()))
    })
}
