//! How tokens are counted.
//!
//! Two questions need two counts, and the types keep them apart:
//!
//! - May a prompt say this? A budget of a prompt's own sections is measured by a [`FixedCounter`], whose count of a text
//!   nothing changes. What fitted yesterday fits today, whatever was said since.
//! - Does a request fit the window? The [`WindowEstimate`] learns from what providers report, by kind of text. It decides
//!   when a conversation is shortened and is no [`FixedCounter`], so no budget can be measured with it.

mod calibration;
mod kind;

pub use calibration::{Observation, WindowEstimate};
pub use kind::{Tally, TextKind};

/// Counts the tokens of texts; the report of a prompt says which one counted.
pub trait TokenCounter {
    /// What counted, and how sure it is: `o200k_base`, `estimate`, `estimate ×1.12 ±4 %`.
    fn name(&self) -> &str;

    /// The tokens of one text. The same text always has the same number.
    fn count(&self, text: &str) -> usize;
}

/// A counter that counts a text the same tomorrow as today, so that budgets can be measured with it.
///
/// ```compile_fail
/// use limpid_prompt::{Inputs, RenderRequest, count::WindowEstimate};
/// let inputs = Inputs::default();
/// let counter = WindowEstimate::default();
/// let request = RenderRequest { path: "chat-remote", inputs: &inputs, counter: &counter, count_tokens: false };
/// ```
pub trait FixedCounter: TokenCounter {}

/// The plain estimate: four Latin characters a token, one of any other script. Nothing is learned.
///
/// The budgets of prompts are measured with it. An exact tokenizer costs 50 MB of memory, too much for a daemon; on the
/// texts that ship, a test holds the estimate against two exact ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate(());

impl TokenCounter for Estimate {
    fn name(&self) -> &str {
        "estimate"
    }

    fn count(&self, text: &str) -> usize {
        let quarters: usize =
            if text.is_ascii() { text.len() } else { text.chars().map(|c| if is_latin(c) { 1 } else { 4 }).sum() };
        quarters.div_ceil(4)
    }
}

impl FixedCounter for Estimate {}

/// Latin letters with their marks, and the punctuation, digits and spaces that go with them.
fn is_latin(c: char) -> bool {
    matches!(c, '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{2000}'..='\u{206f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // OLLM-105
    #[test]
    fn four_latin_characters_or_one_other_make_a_token() {
        let count = |text: &str| Estimate::default().count(text);
        assert_eq!([count(""), count("a"), count("four"), count("fives")], [0, 1, 1, 2]);
        assert_eq!([count("größe — “x”"), count("東京"), count("🦞")], [3, 2, 1]);
    }

    proptest! {
        // OLLM-105
        #[test]
        fn two_texts_never_count_less_than_their_concatenation(a in any::<String>(), b in any::<String>()) {
            let counter = Estimate::default();
            let joined = [a.as_str(), b.as_str()].concat();
            prop_assert!(counter.count(&a) + counter.count(&b) >= counter.count(&joined));
        }
    }
}
