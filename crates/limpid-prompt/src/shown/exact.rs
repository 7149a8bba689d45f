//! Text as somebody is shown it who says yes to it: no two texts look alike. What a question shows is what is sent, so a secret must not
//! be spelled by which of two letters stands there that are drawn the same.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::char::{canonical_combining_class, compose};
use unicode_script::{Script, UnicodeScript as _};
use unicode_security::skeleton;

use super::joins::is_joiner;
use super::shown;

/// Signs that look like one of ASCII and that people write: each has a look of its own in print.
const USUAL: &str = "‘’“”–—…•·«»";

/// Scripts with letters that look like those of ASCII.
const ALIKE: [Script; 6] =
    [Script::Cyrillic, Script::Greek, Script::Armenian, Script::Cherokee, Script::Coptic, Script::Lisu];

/// Letters of ASCII that such a script has alike.
const ASCII_ALIKE: &str = "aceopxyijsvABCEHIKMNOPTXYZ";

/// The text with everything written out that [`shown`] writes out, and what looks like something else: blanks but the usual one, letters
/// of another script that are drawn as those around them, accents that are one letter with what stands before them.
pub fn exact(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return shown(text);
    }
    let letters: Vec<char> = text.chars().collect();
    let words = words(&letters);
    let mut is_alike = vec![false; letters.len()];
    let own = |word: &Range<usize>| letters[word.clone()].iter().find_map(|letter| certain(*letter));
    // A word whose letters tell nothing is of the script of the last one that does; the first ones, of the first that does.
    let mut script = words.iter().find_map(own).unwrap_or(Script::Latin);
    for word in &words {
        script = own(word).unwrap_or(script);
        for place in word.clone() {
            is_alike[place] = is_other(letters[place], script);
        }
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = None;
    for (letter, is_alike) in letters.into_iter().zip(is_alike) {
        if is_alike || is_odd(before, letter) {
            out.extend(letter.escape_unicode());
        } else {
            out.push(letter);
        }
        before = Some(letter);
    }
    match shown(&out) {
        Cow::Borrowed(_) => Cow::Owned(out),
        Cow::Owned(shown) => Cow::Owned(shown),
    }
}

/// The same on one line.
pub fn exact_line(text: &str) -> String {
    super::shown_line(&exact(text))
}

/// The places of words: runs of letters, digits and what belongs to them.
fn words(letters: &[char]) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() && canonical_combining_class(*letter) == 0 {
            continue;
        }
        match words.last_mut() {
            Some(word) if word.end == at => word.end = at + 1,
            _ => words.push(at..at + 1),
        }
    }
    words
}

/// The script of a letter that looks like none of another one.
fn certain(letter: char) -> Option<Script> {
    let is_certain =
        letter.is_alphabetic() && if letter.is_ascii() { !ASCII_ALIKE.contains(letter) } else { !is_as_ascii(letter) };
    let script = letter.script();
    let is_of_one = !matches!(script, Script::Common | Script::Inherited | Script::Unknown);
    (is_certain && is_of_one).then_some(script)
}

/// Whether a letter looks like one of the script that its word is of, and is none.
fn is_other(letter: char, script: Script) -> bool {
    let is_alike = ALIKE.contains(&script);
    match letter.is_ascii() {
        true => is_alike && ASCII_ALIKE.contains(letter),
        // Letters of full width and of formulas have the look of ASCII and no script of their own.
        false => is_as_ascii(letter) && (letter.script() != script || script == Script::Latin),
    }
}

/// Whether a letter is drawn as letters or digits of ASCII. The small i without a dot is a letter of Turkish, and looks like one.
fn is_as_ascii(letter: char) -> bool {
    let mut drawn = skeleton(letter.encode_utf8(&mut [0; 4])).collect::<Vec<_>>().into_iter();
    !letter.is_ascii() && letter != 'ı' && drawn.all(|letter| letter.is_ascii_alphanumeric())
}

/// Whether a letter is a blank, sign or accent that looks like another one, or makes one letter with what stands before it.
fn is_odd(before: Option<char>, letter: char) -> bool {
    if letter.is_ascii() {
        return false;
    }
    let is_blank = letter.is_whitespace() && letter != '\u{3000}';
    // How wide what they belong to is drawn is not the same everywhere, and in a call they mean nothing.
    let is_of_picture = matches!(letter, '\u{fe0e}' | '\u{fe0f}' | '\u{20e3}');
    // What is drawn as nothing is written out, or joins pictures, as everywhere.
    let is_sign = !letter.is_alphanumeric()
        && canonical_combining_class(letter) == 0
        && !USUAL.contains(letter)
        && !is_joiner(letter)
        && skeleton(letter.encode_utf8(&mut [0; 4])).all(|drawn| drawn.is_ascii_graphic());
    let is_joined = before.is_some_and(|before| compose(before, letter).is_some());
    is_blank || is_of_picture || is_sign || is_joined
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-060 SEC-077
    #[test]
    fn what_people_write_stays_as_it_is() {
        for text in [
            "plain words",
            "Grüße, Übergröße, café, señor, Işık ılık",
            "“We’re here” – he said… • 5 °C, 3 €",
            "Привет, мама и папа! Это о нас: я и он, а у неё USB-кабель.",
            "Καλημέρα, πώς είσαι; Ο καφές και το νερό.",
            "日本語 a b c, Tシャツ, 한국어",
            "שלום עולם, مرحبا",
            "👩\u{200d}🚀 and 🇩🇪",
        ] {
            assert_eq!(exact(text), text);
        }
    }

    // SEC-060 SEC-077
    #[test]
    fn what_looks_like_something_else_is_written_out() {
        for (text, expected) in [
            ("s\u{435}e you, s\u{43e}up and \u{441}o\u{441}o", r"s\u{435}e you, s\u{43e}up and \u{441}o\u{441}o"),
            ("we ate \u{43e}\u{441}\u{430} at six", r"we ate \u{43e}\u{441}\u{430} at six"),
            ("ada@ex\u{430}mple.com", r"ada@ex\u{430}mple.com"),
            ("Привет, мaмa", r"Привет, м\u{61}м\u{61}"),
            ("у нас peace", r"у нас \u{70}\u{65}\u{61}\u{63}\u{65}"),
            ("a\u{a0}b\u{2003}c\u{202f}d", r"a\u{a0}b\u{2003}c\u{202f}d"),
            ("u\u{302} or \u{fb}", "u\\u{302} or \u{fb}"),
            ("\u{ff41}\u{1d41a} 2\u{fe0f}\u{20e3} a\u{2010}b", r"\u{ff41}\u{1d41a} 2\u{fe0f}\u{20e3} a\u{2010}b"),
            ("\u{1b}[2J \u{202e}", r"\u{1b}[2J \u{202e}"),
        ] {
            assert_eq!(exact(text), expected, "{text:?}");
        }
    }
}
