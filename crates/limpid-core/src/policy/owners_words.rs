//! The words that a window shows of the owner's, and which of them a text repeats.

use std::collections::BTreeSet;

use super::argument::Argument;

/// Letters that a word has at least to say something; numbers of fewer digits say as little.
const SHORTEST: usize = 3;

/// Words of the owner's, in small letters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnersWords(BTreeSet<String>);

impl OwnersWords {
    /// The words of texts that are the owner's, without those that `is_common` says of that everybody uses them.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>, is_common: impl Fn(&str) -> bool) -> Self {
        Self(texts.into_iter().flat_map(words).filter(|word| !is_common(word)).collect())
    }

    /// Those that arguments repeat, in their order, each once.
    ///
    /// ```
    /// use limpid_core::policy::{Argument, OwnersWords};
    /// let own = OwnersWords::of(["Ada lives in Pankow, at 12 Elm Street; the PIN is 4711."], |word| word == "the");
    /// let task = Argument::Text("Find the clinic near Elm Street, PANKOW.".to_owned());
    /// assert_eq!(own.repeated_in(&task), ["elm", "street", "pankow"]);
    /// ```
    pub fn repeated_in(&self, arguments: &Argument) -> Vec<String> {
        let mut repeated = Vec::new();
        for text in texts(arguments) {
            for word in words(text) {
                if self.0.contains(&word) && !repeated.contains(&word) {
                    repeated.push(word);
                }
            }
        }
        repeated
    }
}

fn texts(argument: &Argument) -> Vec<&str> {
    match argument {
        Argument::Text(text) => vec![text],
        Argument::List(items) => items.iter().flat_map(texts).collect(),
        Argument::Fields(fields) => fields.iter().flat_map(|(_, value)| texts(value)).collect(),
    }
}

/// The words of a text, in small letters: runs of letters and digits, and where a script has no blanks between its words, each two
/// letters that stand together.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric()).flat_map(|run| {
        let run = run.to_lowercase();
        let letters: Vec<char> = run.chars().collect();
        if letters.iter().any(|letter| has_no_blanks(*letter)) {
            return letters.windows(2).map(|pair| pair.iter().collect()).collect();
        }
        if letters.len() < SHORTEST { Vec::new() } else { vec![run] }
    })
}

/// Whether a letter is of a script without blanks between words: of Thailand and its neighbours, China and Japan.
const fn has_no_blanks(letter: char) -> bool {
    matches!(letter, '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-101
    #[test]
    fn words_are_found_in_every_script_and_short_ones_say_nothing() {
        let own =
            OwnersWords::of(["Ich wohne in Köln, Tür 12, Konto 0815. 我住在柏林。"], |word| word == "ich");
        let repeated = |text: &str| own.repeated_in(&Argument::Text(text.to_owned()));
        assert_eq!(repeated("Ärzte in KÖLN; 0815 und 12"), ["köln", "0815"]);
        assert_eq!(repeated("柏林的天气"), ["柏林"]);
        assert_eq!(repeated("ich in wo"), [""; 0]);
        let nested =
            Argument::Fields(vec![("a".to_owned(), Argument::List(vec![Argument::Text("köln köln".to_owned())]))]);
        assert_eq!(own.repeated_in(&nested), ["köln"]);
    }
}
