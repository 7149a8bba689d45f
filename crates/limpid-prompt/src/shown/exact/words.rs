//! Words: all letters of one are of one script, and those of another script are not drawn as these are.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::is_nfc;
use unicode_script::{Script, UnicodeScript as _};
use unicode_security::GeneralSecurityProfile as _;
use unicode_security::general_security_profile::IdentifierType;
use unicode_security::skeleton;

use super::signs::is_usual;

/// Scripts with letters that look like those of ASCII.
const ALIKE: [Script; 6] =
    [Script::Cyrillic, Script::Greek, Script::Armenian, Script::Cherokee, Script::Coptic, Script::Lisu];

/// Letters of ASCII that such a script has alike.
const ASCII_ALIKE: &str = "aceopxyijsvABCEHIKMNOPTXYZ";

/// Where letters of scripts that have look-alikes in each other stand.
const RANGES: [Range<u32>; 6] =
    [0x80..0x600, 0x13a0..0x1400, 0x1c80..0x2000, 0x2c60..0x2e00, 0xa4d0..0xa800, 0xab30..0xabc0];

/// How letters are drawn that one script alone has, by the first sign of their skeleton.
static ONLY: LazyLock<HashMap<char, Option<Script>>> = LazyLock::new(|| {
    let mut only = HashMap::new();
    for letter in RANGES.into_iter().flatten().filter_map(char::from_u32) {
        if letter.is_alphabetic() && letter.identifier_type() == Some(IdentifierType::Recommended) {
            let script = letter.script();
            let known = only.entry(first(letter)).or_insert(Some(script));
            *known = known.filter(|known| *known == script);
        }
    }
    only
});

/// Marks the letters that stand in a word of another script, and all that are of no script in use.
pub(super) fn mark(letters: &[char], odd: &mut [bool]) {
    let words = words(letters);
    let own: Vec<Option<Script>> = words.iter().map(|word| main(&letters[word.clone()])).collect();
    // A word whose letters tell nothing is of the script of the last one that does; the first ones, of the first that does.
    let mut script = own.iter().flatten().next().copied().unwrap_or(Script::Latin);
    for (word, own) in words.into_iter().zip(own) {
        script = own.unwrap_or(script);
        let is_number = is_as_number(&letters[word.clone()]);
        for place in word {
            let letter = letters[place];
            let is_odd = !letter.is_ascii() && (is_number || !is_in_use(letter));
            odd[place] |= !is_usual(letter) && (is_odd || is_other(letter, script));
        }
    }
}

/// Whether a letter, digit or mark is one that people write today, and stays what it is where letters are composed. So is none that is only
/// another shape of one: of full width, of formulas, ligatures.
pub(super) fn is_in_use(letter: char) -> bool {
    // A syllable of Korean is one letter.
    if matches!(letter, '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{d7b0}'..='\u{d7ff}') {
        return false;
    }
    let is_used = matches!(
        letter.identifier_type(),
        Some(IdentifierType::Recommended | IdentifierType::Inclusion | IdentifierType::Limited_Use)
    );
    // Vowels of Hebrew, a vowel of Thai and of Lao, and what stands for laughing in Korean.
    let is_used = is_used
        || matches!(letter, '\u{5b0}'..='\u{5bc}' | '\u{5c1}' | '\u{5c2}' | '\u{e33}' | '\u{eb3}' | '\u{3131}'..='\u{3163}');
    is_used && is_nfc(letter.encode_utf8(&mut [0; 4]))
}

/// The script that a letter counts as: those of one language are one.
pub(super) fn family(letter: char) -> Script {
    match letter.script() {
        Script::Hiragana | Script::Katakana | Script::Bopomofo | Script::Hangul => Script::Han,
        Script::Common if letter == 'ー' => Script::Han,
        script => script,
    }
}

/// The first sign of what a letter is drawn as.
pub(super) fn first(letter: char) -> char {
    drawn(letter).next().unwrap_or(letter)
}

/// What a letter is drawn as.
pub(super) fn drawn(letter: char) -> impl Iterator<Item = char> {
    skeleton(letter.encode_utf8(&mut [0; 4])).collect::<Vec<_>>().into_iter()
}

/// The places of words: runs of letters, digits and what belongs to them. Scripts that look like no other one are words of their own, also
/// where no blank stands between.
fn words(letters: &[char]) -> Vec<Range<usize>> {
    let mut words: Vec<(Range<usize>, Option<Script>)> = Vec::new();
    for (at, letter) in letters.iter().enumerate() {
        // JSON writes a line break so.
        let is_escape = at > 0 && letters[at - 1] == '\\' && "bfnrtu".contains(*letter);
        if is_escape || !(letter.is_alphanumeric() || is_combining_mark(*letter)) {
            continue;
        }
        let side = match family(*letter) {
            Script::Common | Script::Inherited | Script::Unknown => None,
            script if ALIKE.contains(&script) => Some(Script::Latin),
            script => Some(script),
        };
        match words.last_mut() {
            Some((word, of)) if word.end == at && (side.is_none() || of.is_none() || side == *of) => {
                word.end = at + 1;
                *of = of.or(side);
            }
            _ => words.push((at..at + 1, side)),
        }
    }
    words.into_iter().map(|(word, _)| word).collect()
}

/// The script of most of the letters that are drawn as none of another script.
fn main(word: &[char]) -> Option<Script> {
    let mut counts: Vec<(Script, usize)> = Vec::new();
    for script in word.iter().filter_map(|letter| certain(*letter)) {
        match counts.iter_mut().find(|(known, _)| *known == script) {
            Some((_, count)) => *count += 1,
            None => counts.push((script, 1)),
        }
    }
    // The first of those with as many.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(script, _)| script)
}

/// The script of a letter that looks like none of another one.
fn certain(letter: char) -> Option<Script> {
    let script = family(letter);
    if !letter.is_alphabetic() || matches!(script, Script::Common | Script::Inherited | Script::Unknown) {
        return None;
    }
    let is_certain = match letter.is_ascii() {
        true => !ASCII_ALIKE.contains(letter),
        false => {
            let first = first(letter);
            !first.is_ascii() && ONLY.get(&first).is_none_or(|only| *only == Some(letter.script()))
        }
    };
    is_certain.then_some(script)
}

/// Whether a letter is of another script than its word.
fn is_other(letter: char, script: Script) -> bool {
    let own = family(letter);
    if letter.is_ascii() {
        return ALIKE.contains(&script) && ASCII_ALIKE.contains(letter);
    }
    match own {
        Script::Inherited | Script::Unknown => false,
        Script::Common => letter.is_alphanumeric() && first(letter).is_ascii_alphanumeric() && script == Script::Latin,
        own if own == Script::Latin || ALIKE.contains(&own) => own != script,
        // A script that looks like no other has single letters that do.
        own => own != script && drawn(letter).all(|drawn| drawn.is_ascii_alphanumeric()),
    }
}

/// Whether letters stand in the place of digits.
fn is_as_number(word: &[char]) -> bool {
    let is_as = |letter: char, like: fn(char) -> bool| !letter.is_ascii() && drawn(letter).all(like);
    let is_as_digit = |letter: char| is_as(letter, |drawn| drawn.is_ascii_digit());
    let is_round = |letter: char| is_as(letter, |drawn| drawn.is_ascii_digit() || "OoIl".contains(drawn));
    match word {
        [letter] => is_as_digit(*letter),
        word => {
            word.iter().any(char::is_ascii_digit)
                && word.iter().all(|letter| letter.is_ascii_digit() || is_round(*letter))
        }
    }
}
