//! Which parts of a text look as if nobody had chosen them.

use std::ops::RangeInclusive;

/// Fewer letters and digits than these are guessed, or are a number that a site gives its pages.
const SHORTEST: usize = 15;

/// A key that is written in groups of hexadecimal digits has so many of them at least.
const SHORTEST_IN_HEX_GROUPS: usize = 24;

/// A key that is written in groups of other letters and digits has so many of equal length at least; words seldom come so.
const FEWEST_GROUPS: usize = 4;

/// How long one of these is.
const GROUP: RangeInclusive<usize> = 4..=6;

/// A key changes between kinds of characters at least once in so many; words and dates do more seldom.
const CHARACTERS_A_CHANGE: usize = 5;

/// A single word with so many changes between letters and digits is a key, also a longer one.
const CHANGES: usize = 4;

/// The parts of a text that look random, each without words that stand before or behind it. Hyphens and underscores are letters of some.
pub(super) fn random_parts_of(text: &str) -> impl Iterator<Item = String> {
    let pieces = text.split(|sign: char| !sign.is_ascii_alphanumeric() && !"-_".contains(sign));
    pieces.flat_map(|piece| {
        let words: Vec<&str> = piece.split(['-', '_']).collect();
        let uuids = words.array_windows::<5>().filter(|parts| is_uuid(parts)).map(|parts| parts.concat());
        let drawn = words.iter().filter(|word| looks_random(word)).map(|word| (*word).to_owned());
        let keys: Vec<String> = uuids.chain(drawn).collect();
        if !keys.is_empty() {
            return keys;
        }
        // One that has hyphens and underscores among its letters (RFC 4648, base64url) may have no long word.
        let whole = || looks_random_over_hyphens(&words).then(|| words.concat());
        key_in_groups(&words).or_else(whole).into_iter().collect()
    })
}

/// The key among words that is written in groups, as people read one out, without the words beside it.
fn key_in_groups(words: &[&str]) -> Option<String> {
    let is_hex = |word: &&str| !word.is_empty() && word.chars().all(|sign| sign.is_ascii_hexdigit());
    let in_hex = words.split(|word| !is_hex(word)).find(|groups| {
        let length: usize = groups.iter().map(|group| group.len()).sum();
        length >= SHORTEST_IN_HEX_GROUPS && groups.iter().any(|group| turns_back(group))
    });
    let of_one_length = || {
        words.chunk_by(|before, this| before.len() == this.len()).find(|groups| {
            let mixed = groups.iter().filter(|group| is_mixed(group)).count();
            let is_long = groups.len() >= FEWEST_GROUPS && GROUP.contains(&groups[0].len());
            is_long && mixed * 2 > groups.len() && groups.iter().any(|group| turns_back(group))
        })
    };
    let groups = in_hex.or_else(of_one_length)?;
    // A word that looks like a group at its beginning or its end is a part of a title.
    let first = groups.iter().position(|group| is_mixed(group))?;
    let last = groups.iter().rposition(|group| is_mixed(group))?;
    Some(groups[first..=last].concat())
}

/// Whether a word changes between letters and digits and back: `part2`, `a15` and `16gb` do not, nor do numbers.
fn turns_back(word: &str) -> bool {
    changes_of_digits(word) >= 2
}

fn changes_of_digits(word: &str) -> usize {
    let of_digits: Vec<bool> = word.chars().map(|sign| sign.is_ascii_digit()).collect();
    of_digits.array_windows().filter(|[before, this]| before != this).count()
}

/// Whether words with what stands between them look random: titles of pages have no capitals within words.
fn looks_random_over_hyphens(words: &[&str]) -> bool {
    let joined = words.concat();
    let has_inner_capital = words.iter().any(|word| word.chars().skip(1).any(|sign| sign.is_ascii_uppercase()));
    let has_small = joined.contains(|sign: char| sign.is_ascii_lowercase());
    let changes: usize = words.iter().map(|word| changes(word)).sum();
    joined.len() >= SHORTEST
        && has_inner_capital
        && has_small
        && is_mixed(&joined)
        && changes * CHARACTERS_A_CHANGE >= joined.len()
}

/// Whether these are the parts of a UUID (RFC 9562).
fn is_uuid(parts: &[&str; 5]) -> bool {
    let is_part =
        |(part, length): (&&str, usize)| part.len() == length && part.chars().all(|sign| sign.is_ascii_hexdigit());
    parts.iter().zip([8, 4, 4, 4, 12]).all(is_part) && is_mixed(&parts.concat())
}

/// Whether a word looks random.
fn looks_random(word: &str) -> bool {
    let is_hex = word.chars().all(|sign| sign.is_ascii_hexdigit());
    let is_random = is_hex || changes_of_digits(word) >= CHANGES || changes(word) * CHARACTERS_A_CHANGE >= word.len();
    word.len() >= SHORTEST && is_mixed(word) && is_random
}

/// Whether a text has both letters and digits.
pub(super) fn is_mixed(text: &str) -> bool {
    text.contains(|sign: char| sign.is_ascii_digit()) && text.contains(char::is_alphabetic)
}

/// How often letters and digits of a word change from one kind to another. A capital at its beginning is none.
fn changes(word: &str) -> usize {
    let kinds: Vec<Kind> = word.chars().filter_map(Kind::of).collect();
    let is_change = |at: &usize| match (kinds[at - 1], kinds[*at]) {
        (Kind::Upper, Kind::Lower) => *at > 1 && kinds[at - 2] == Kind::Upper,
        (before, this) => before != this,
    };
    (1..kinds.len()).filter(is_change).count()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Upper,
    Lower,
    Digit,
}

impl Kind {
    fn of(sign: char) -> Option<Self> {
        match sign {
            'A'..='Z' => Some(Self::Upper),
            'a'..='z' => Some(Self::Lower),
            '0'..='9' => Some(Self::Digit),
            _ => None,
        }
    }
}
