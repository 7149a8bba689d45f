//! Texts of models and of strangers.

use limpid::output;
use limpid_core::goal::{WithoutMarkers, scan};
use limpid_core::quiet::QuietFilter;
use limpid_core::ui::{Fences, Part, parts, plain};
use limpid_prompt::boundary::{fence, inside, is_invisible};

const TAG: &str = "0123456789abcdef";

/// A stranger's text in a boundary: it ends where the boundary does.
pub(crate) fn boundary(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let fenced = fence(&text, TAG);
    let within = inside(&fenced);
    assert_eq!(fenced.matches(TAG).count(), 2, "the tag stands inside: {fenced}");
    assert!(!within.to_lowercase().contains("[/untrusted"), "{fenced}");
    assert_eq!(fenced, format!("[untrusted {TAG}]\n{within}\n[/untrusted {TAG}]"));
}

/// The markers in an answer: what is shown is the same in whatever pieces it came.
pub(crate) fn markers(bytes: &[u8]) {
    let (cut, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let text = String::from_utf8_lossy(rest);
    scan(&text);
    let mut at = usize::from(*cut).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let shown = |pieces: &[&str]| {
        let mut filter = WithoutMarkers::default();
        let mut out: String = pieces.iter().map(|piece| filter.push(piece)).collect();
        out.push_str(&filter.finish());
        out
    };
    assert_eq!(shown(&[&text[..at], &text[at..]]), shown(&[&text]));
    let quiet = |pieces: &[&str]| {
        let mut filter = QuietFilter::default();
        let mut out: String = pieces.iter().map(|piece| filter.push(piece)).collect();
        out.push_str(&filter.finish());
        out
    };
    assert_eq!(quiet(&[&text[..at], &text[at..]]), quiet(&[&text]));
}

/// A text as one line of a list: it has no break and nothing that a list would take for another entry.
pub(crate) fn line(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let line = limpid_core::line::one_line(&text);
    assert!(!line.contains(['\n', '\r', '\u{2028}', '\u{2029}']), "{line:?}");
}

/// A text on a terminal: nothing in it is followed or drawn as nothing, and what is written out stays so.
pub(crate) fn shown(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let shown = output::shown(&text);
    let steers = |letter: char| (letter.is_control() && !matches!(letter, '\n' | '\t')) || is_invisible(letter);
    assert!(!shown.contains(steers), "{shown:?}");
    assert_eq!(output::shown(&shown), shown);
}

/// Screens in an answer: the parts are the same in whatever pieces it came, and a tree has its bounds.
pub(crate) fn ui(bytes: &[u8]) {
    let (cut, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let text = String::from_utf8_lossy(rest);
    let mut at = usize::from(*cut).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let mut fences = Fences::default();
    let pieces = [fences.push(&text[..at]), fences.push(&text[at..]), fences.finish()];
    let trees =
        |parts: &mut dyn Iterator<Item = Part>| parts.filter(|part| !matches!(part, Part::Text(_))).collect::<Vec<_>>();
    let whole = trees(&mut parts(&text).into_iter());
    assert_eq!(trees(&mut pieces.into_iter().flatten()), whole);
    for part in whole {
        let Part::Tree(tree) = part else { continue };
        let mut nodes = 0;
        tree.root().walk(&mut |_| nodes += 1);
        assert!(nodes <= 301, "{nodes} components");
        assert!(plain(&tree, true).len() < 4 << 20);
        for callback in tree.callbacks() {
            assert!(tree.message(callback.number, |_| None).is_some_and(|said| !said.contains('\n')));
        }
    }
}
