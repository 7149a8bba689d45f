//! Whether somebody has said a thing, or the agent made it up from what they said.

use std::collections::HashSet;

use crate::recall::query_words;

/// Whether a text repeats what somebody wrote: at least half of its words stand in `written`.
///
/// Words are compared as recall compares them. A paraphrase or a translation counts as made up: rather too little is
/// called a fact than too much.
///
/// ```
/// use limpid_core::said::is_said;
/// let written = ["I moved to Bergen last week."];
/// assert!(is_said("Moved to Bergen", written));
/// assert!(!is_said("Likes rain and fish", written));
/// ```
pub fn is_said<'a>(text: &str, written: impl IntoIterator<Item = &'a str>) -> bool {
    let words = words(text);
    let written: HashSet<String> = written.into_iter().flat_map(self::words).collect();
    let known = words.iter().filter(|word| written.contains(*word)).count();
    known > 0 && known * 2 >= words.len()
}

/// Every word of a text, however long the text is.
fn words(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric()).flat_map(query_words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // LES-050
    #[test]
    fn half_of_the_words_make_it_said() {
        let cases = [
            ("Lives in Berlin", "I live in Berlin", true),
            ("Drinks oolong", "Oolong, please. Always oolong!", true),
            ("Drinks oolong in the morning", "Oolong, please.", false),
            ("Prefers short answers", "What is the capital of France?", false),
            ("猫が好き", "私は猫が好きです", true),
            ("", "anything", false),
            ("?!", "anything", false),
            ("Berlin", "", false),
        ];
        for (text, written, said) in cases {
            assert_eq!(is_said(text, [written]), said, "{text:?} of {written:?}");
        }
    }

    // LES-050
    #[test]
    fn the_end_of_a_long_message_counts_too() {
        let long: String = (0..5000).map(|n| format!("word{n} ")).collect();
        assert!(is_said("word4999", [long.as_str()]));
    }
}
