//! What is said of a call that has become a draft, to the owner and to the model, and where such words end: a screen draws the draft in
//! their place.

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

/// What a text says behind the words that tell of a draft; none where it begins otherwise. Anybody may write such words: which draft a
/// text tells of is known by what was written down with it, never by its words.
pub fn behind_kept_words(id: DraftId, text: &str) -> Option<&str> {
    let words = [kept_words(id).into_text(), kept_words_before(id)];
    let behind = words.iter().find_map(|words| text.strip_prefix(words.as_str()))?;
    Some(behind.trim_start())
}

/// What the model is told in the place of a result.
pub fn held_words(id: DraftId) -> Sentence {
    sentence!("not done yet: kept as draft {}, which the owner approves or refuses", id.0)
}

#[cfg(test)]
mod tests {
    use limpid_core::{Labelled, Trust};

    use super::*;

    // SEC-010
    #[test]
    fn what_is_told_behind_the_words_of_a_draft_is_found_behind_those_of_this_draft_only() {
        let behind = |text: &str| behind_kept_words(DraftId(12), text).map(str::to_owned);
        let words = kept_words(DraftId(12)).into_text();
        assert_eq!(
            words,
            "Draft 12 waits for you: `limpid draft show 12`, then `limpid draft approve 12` or `limpid draft refuse 12`."
        );
        assert_eq!(behind(&words).as_deref(), Some(""));
        assert_eq!(behind(&format!("{words} It calls send_mail.")).as_deref(), Some("It calls send_mail."));
        let before = "Draft 12 waits for you: limpid draft show 12, then approve or refuse.";
        assert_eq!(behind(before).as_deref(), Some(""));
        assert_eq!(behind(&format!("{before} It would be send_mail.")).as_deref(), Some("It would be send_mail."));
        let others = ["", "Draft 12 was sent", "Draft 12 waits for you: limpid draft show 2, then approve or refuse."];
        for other in
            others.map(str::to_owned).into_iter().chain([kept_words(DraftId(1)).into_text(), format!("> {words}")])
        {
            assert_eq!(behind(&other), None, "{other}");
        }
        let (held, trust) = Labelled::<String>::from(held_words(DraftId(12))).into_parts();
        assert!(held.contains("kept as draft 12") && trust == Trust::Owner, "{held}");
    }
}
