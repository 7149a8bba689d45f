//! The body of a notification: a reply without its markup, short enough for the screen of a phone.

mod addresses;
mod plain;

pub use self::addresses::without_addresses;
use self::plain::plain;
use crate::Labelled;

/// Characters of a body, with the sign that something follows.
pub const BODY_CHARS: usize = 240;

/// The sign that something follows.
const MORE: char = '…';

/// Bytes of a line, of a word, and of all lines together, that are looked at: far more than a body holds.
const LOOKED_AT: usize = 4096;

/// The body of a notification about a text: without markup and user-interface blocks, cut between words. None when
/// nothing is left to read.
///
/// ```
/// let body = limpid_core::notice::body("## Mail\n**Eve** wrote: [the plan](https://example.com).");
/// assert_eq!(body.as_deref(), Some("Mail Eve wrote: the plan."));
/// ```
pub fn body(text: &str) -> Option<String> {
    told(&plain(text))
}

/// The body and the title of a notification, by who wrote them: what is foreign has no address in it ([`without_addresses`]).
pub fn of(title: Labelled<String>, text: &Labelled<String>) -> Option<(String, String)> {
    let plain = plain(text.value());
    let body = told(&if text.trust().is_foreign() { without_addresses(&plain) } else { plain })?;
    let (title, trust) = title.into_parts();
    Some((if trust.is_foreign() { without_addresses(&title) } else { title }, body))
}

fn told(plain: &str) -> Option<String> {
    (!plain.is_empty()).then(|| cut(plain))
}

/// As much of a text as is looked at.
fn start(text: &str) -> &str {
    &text[..text.floor_char_boundary(LOOKED_AT)]
}

/// At most [`BODY_CHARS`] characters, cut between words; a first word that is longer is cut hard.
fn cut(text: &str) -> String {
    if text.chars().count() <= BODY_CHARS {
        return text.to_owned();
    }
    let head: String = text.chars().take(BODY_CHARS - 1).collect();
    let ends_a_word = text[head.len()..].starts_with(' ');
    let whole = if ends_a_word { Some(head.as_str()) } else { head.rsplit_once(' ').map(|(words, _)| words) };
    let mut body = whole.unwrap_or(&head).to_owned();
    body.push(MORE);
    body
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // KAI-069
    #[test]
    fn nothing_to_read_is_no_notification() {
        for text in ["", " \n\t", "***", "```kai-ui\n{}", "```kai-ui\n{}\n```\n---", "> \n#  "] {
            assert_eq!(body(text), None, "{text:?}");
        }
    }

    // KAI-069
    #[test]
    fn a_long_text_is_cut_between_words() {
        let words = "abcd ".repeat(60);
        let cut = body(&words).unwrap();
        assert_eq!(cut, format!("{}…", "abcd ".repeat(47) + "abcd"));
        assert_eq!(cut.chars().count(), 240);
        assert_eq!(body(&"x".repeat(240)).unwrap(), "x".repeat(240));
        assert_eq!(body(&"ä".repeat(241)).unwrap(), format!("{}…", "ä".repeat(239)), "a long first word is cut hard");
        assert_eq!(body(&format!("a {}", "b".repeat(300))).unwrap(), "a…");
    }

    proptest! {
        // KAI-069
        #[test]
        fn no_text_makes_a_body_too_long(text in prop::collection::vec(any::<char>(), 0..600)) {
            let text = String::from_iter(text);
            if let Some(body) = body(&text) {
                prop_assert!(!body.trim().is_empty() && body.chars().count() <= BODY_CHARS);
                prop_assert!(!body.contains('\n'));
            }
        }
    }
}
