//! What is said of a call that has become a draft, to the owner and to the model, and which draft such words are about: a screen
//! links to it.

use limpid_core::{Sentence, sentence};
use limpid_store::DraftId;

const BEGIN: &str = "Draft ";
const WAITS: &str = " waits for you: ";
const SHOW: &str = "`limpid draft show ";
const APPROVE: &str = "`, then `limpid draft approve ";
const REFUSE: &str = "` or `limpid draft refuse ";
const END: &str = "`.";

/// What the owner is told at a terminal.
pub fn kept_words(id: DraftId) -> Sentence {
    sentence!("{}{}{}{}{}{}{}{}{}{}", BEGIN, id.0, WAITS, SHOW, id.0, APPROVE, id.0, REFUSE, id.0, END)
}

/// The same as earlier versions said it; conversations hold such words.
fn kept_words_before(id: DraftId) -> String {
    format!("{BEGIN}{}{WAITS}limpid draft show {}, then approve or refuse.", id.0, id.0)
}

/// The draft that a text begins to tell of, and what it says behind that.
pub fn kept_in(text: &str) -> Option<(DraftId, &str)> {
    let (number, _) = text.strip_prefix(BEGIN)?.split_once(WAITS)?;
    let id = DraftId(number.parse().ok()?);
    let words = [kept_words(id).into_text(), kept_words_before(id)];
    let behind = words.iter().find_map(|words| text.strip_prefix(words.as_str()))?;
    Some((id, behind.trim_start()))
}

/// What the model is told in the place of a result.
pub fn held_words(id: DraftId) -> Sentence {
    sentence!("not done yet: kept as draft {}, which the owner approves or refuses", id.0)
}

/// The draft that stands in the place of a result.
pub fn held_as(result: &str) -> Option<DraftId> {
    let number =
        result.strip_prefix("not done yet: kept as draft ")?.strip_suffix(", which the owner approves or refuses")?;
    number.parse().ok().map(DraftId)
}

#[cfg(test)]
mod tests {
    use limpid_core::{Labelled, Trust};

    use super::*;

    // SEC-010
    #[test]
    fn the_words_of_a_draft_name_it_and_no_others_do() {
        let words = kept_words(DraftId(12)).into_text();
        assert_eq!(
            words,
            "Draft 12 waits for you: `limpid draft show 12`, then `limpid draft approve 12` or `limpid draft refuse 12`."
        );
        assert_eq!(kept_in(&words), Some((DraftId(12), "")));
        assert_eq!(kept_in(&format!("{words} It calls send_mail.")), Some((DraftId(12), "It calls send_mail.")));
        let before = "Draft 12 waits for you: limpid draft show 12, then approve or refuse.";
        assert_eq!(kept_in(before), Some((DraftId(12), "")));
        let more = format!("{before} It would be send_mail.");
        assert_eq!(kept_in(&more), Some((DraftId(12), "It would be send_mail.")));
        for other in [
            "",
            "Draft 1 waits for you: limpid draft show 2, then approve or refuse.",
            "Draft 1 was sent",
            "Draft 1 waits for you: `limpid draft show 2`, then `limpid draft approve 2` or `limpid draft refuse 2`.",
            "Draft 1 waits for you: `limpid draft show 1`, then `limpid draft approve 2` or `limpid draft refuse 1`.",
            "Draft x waits for you: `limpid draft show x`, then `limpid draft approve x` or `limpid draft refuse x`.",
        ] {
            assert_eq!(kept_in(other), None, "{other}");
        }
        let (held, trust) = Labelled::<String>::from(held_words(DraftId(12))).into_parts();
        assert_eq!((held_as(&held), trust), (Some(DraftId(12)), Trust::Owner));
        assert_eq!(held_as("not done yet: kept as draft 1, and more"), None);
    }
}
