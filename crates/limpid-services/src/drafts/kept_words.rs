//! What is said of a call that has become a draft, to the owner and to the model, and which draft such words are about: a screen
//! links to it.

use limpid_core::{Sentence, sentence};
use limpid_store::DraftId;

const BEGIN: &str = "Draft ";
const MIDDLE: &str = " waits for you: limpid draft show ";
const END: &str = ", then approve or refuse.";

/// What the owner is told at a terminal.
pub fn kept_words(id: DraftId) -> Sentence {
    sentence!("{}{}{}{}{}", BEGIN, id.0, MIDDLE, id.0, END)
}

/// The draft that a text begins to tell of, and what it says behind that.
pub fn kept_in(text: &str) -> Option<(DraftId, &str)> {
    let (number, _) = text.strip_prefix(BEGIN)?.split_once(MIDDLE)?;
    let id = DraftId(number.parse().ok()?);
    Some((id, text.strip_prefix(kept_words(id).text())?.trim_start()))
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
        assert_eq!(words, "Draft 12 waits for you: limpid draft show 12, then approve or refuse.");
        assert_eq!(kept_in(&words), Some((DraftId(12), "")));
        assert_eq!(kept_in(&format!("{words} It would be a letter.")), Some((DraftId(12), "It would be a letter.")));
        for other in [
            "",
            "Draft 1 was sent",
            "Draft 1 waits for you: limpid draft show 2, then approve or refuse.",
            "Draft x waits for you: limpid draft show x, then approve or refuse.",
        ] {
            assert_eq!(kept_in(other), None, "{other}");
        }
        let (held, trust) = Labelled::<String>::from(held_words(DraftId(12))).into_parts();
        assert_eq!((held_as(&held), trust), (Some(DraftId(12)), Trust::Owner));
        assert_eq!(held_as("not done yet: kept as draft 1, and more"), None);
    }
}
