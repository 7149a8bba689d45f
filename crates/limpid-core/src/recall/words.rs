//! Words of a text: how it is cut, and what of a word counts.

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

/// Different words of a query that are searched; later ones are left out.
pub const MAX_QUERY_WORDS: usize = 64;

/// The words that a text is found by.
pub fn text_words(text: &str) -> Vec<String> {
    words_of(text, Use::Index).into_iter().map(stem).collect()
}

/// The words of a text as [`text_words`] gives them, except that a word which can be none of `sought` keeps its form:
/// finding stems takes longer than all the rest.
pub(super) fn words_like(text: &str, sought: &[(String, u64)]) -> Vec<String> {
    // A stem begins as its word does.
    let may_be = |word: &str| sought.iter().any(|(stem, _)| stem.bytes().next() == word.bytes().next());
    words_of(text, Use::Index).into_iter().map(|word| if may_be(&word) { stem(word) } else { word }).collect()
}

/// The words of a text as they stand there, in its order.
pub fn plain_words(text: &str) -> Vec<String> {
    words_of(text, Use::Query)
}

/// The different words of a query, in its order: lower case without accents, addresses of web pages dropped, hyphens
/// split, one-character words dropped except parts of hyphenated ones and Chinese, Japanese and Korean ones, which are searched as pairs of
/// characters. Of English words the stem counts. Any text gives words or none.
///
/// ```
/// use limpid_core::recall::query_words;
/// assert_eq!(query_words("Wi-Fi at the Café? see https://x.org/a"), ["wi", "fi", "at", "the", "cafe", "see"]);
/// assert_eq!(query_words("codeword-3-user, or a 4?"), ["codeword", "3", "user", "or"]);
/// assert_eq!(query_words("東京タワー"), ["東京", "京タ", "タワ", "ワー"]);
/// ```
pub fn query_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for piece in text.split_whitespace().filter(|piece| !is_web_address(piece)) {
        for word in words_of(piece, Use::Query).into_iter().map(stem) {
            if words.len() == MAX_QUERY_WORDS {
                return words;
            }
            if !words.contains(&word) {
                words.push(word);
            }
        }
    }
    words
}

/// What words are taken for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// To find the text by: single characters of Chinese, Japanese and Korean besides the pairs.
    Index,
    /// To search with: pairs only, except where a character stands alone.
    Query,
}

fn words_of(text: &str, purpose: Use) -> Vec<String> {
    let mut words = Vec::new();
    let mut run: Vec<char> = Vec::new();
    let mut kind = None;
    // Parts of a name such as `codeword-3-user` count however short they are: what tells it from others may be one digit.
    let mut joined = false;
    let (mut before, mut last) = (' ', ' ');
    let folded = folded(text);
    let mut chars = folded.chars().chain([' ']).peekable();
    while let Some(c) = chars.next() {
        let next = if is_cjk(c) { Some(Script::Pairs) } else { c.is_alphanumeric().then_some(Script::Words) };
        if next != kind {
            match kind {
                Some(Script::Words) if run.len() > 1 || joined || joins(c, chars.peek().copied()) => {
                    words.push(run.iter().collect());
                }
                Some(Script::Pairs) => push_pairs(&run, purpose, &mut words),
                _ => {}
            }
            run.clear();
            kind = next;
            joined = is_hyphen(last) && before.is_alphanumeric();
        }
        if next.is_some() {
            run.push(c);
        }
        (before, last) = (last, c);
    }
    words
}

fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '_' | '\u{2010}' | '\u{2011}')
}

/// Whether a character joins the word before it to one behind it.
fn joins(c: char, next: Option<char>) -> bool {
    is_hyphen(c) && next.is_some_and(char::is_alphanumeric)
}

/// The stem of an English word, so that `paints` finds `painting`. Other languages keep most words as they are: the
/// same rule on both sides finds them all the same.
pub fn stem(word: String) -> String {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        Stemmer::create(Algorithm::English).stem(&word).into_owned()
    } else {
        word
    }
}

/// How a script is cut into words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    /// At what is no letter or digit.
    Words,
    /// Into pairs of characters.
    Pairs,
}

fn push_pairs(run: &[char], purpose: Use, words: &mut Vec<String>) {
    if purpose == Use::Index || run.len() == 1 {
        words.extend(run.iter().map(char::to_string));
    }
    words.extend(run.windows(2).map(|pair| pair.iter().collect::<String>()));
}

/// Lower case, compatibility forms made plain, accents off. Only the accents of Latin, Greek and Cyrillic go: in
/// other scripts a mark makes another letter.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkd().filter(|c| !matches!(c, '\u{300}'..='\u{36f}')).nfc().flat_map(char::to_lowercase).collect()
}

fn is_web_address(piece: &str) -> bool {
    let start = piece.trim_start_matches(|c: char| !c.is_alphanumeric());
    ["http://", "https://", "www."]
        .iter()
        .any(|scheme| start.get(..scheme.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(scheme)))
}

fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}'     // Hangul letters
        | '\u{3005}'..='\u{3007}'   // iteration mark, closing mark, zero
        | '\u{3041}'..='\u{30ff}'   // Hiragana, Katakana
        | '\u{3105}'..='\u{312f}'   // Bopomofo
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'   // Han
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'   // Hangul syllables
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}
