//! The words of a text, as they are compared: what a reader would call the same word or number has the same key.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Letters that a word has at least to say something, unless it is written as a name or an abbreviation; digits of a number as well.
const SHORTEST: usize = 3;

/// Digits in groups that are one number at least.
const SHORTEST_GROUPED: usize = 4;

/// Digits of a number from which on each part of so many stands for it: telephones, accounts and the like.
const LONG_NUMBER: usize = 7;

/// Signs that stand between two groups of one number at most.
const MOST_BETWEEN: usize = 3;

/// What Markdown makes words bold by, and the like.
const MARKS: [char; 3] = ['*', '`', '~'];

/// The zeros of scripts whose digits are not made plain by composing: Arabic, Persian, N'Ko, of India and its neighbours, Mongolian.
const ZEROS: [u32; 20] = [
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50, 0xED0, 0xF20,
    0x1040, 0x1090, 0x17E0, 0x1810,
];

/// Letters of a word that are shown.
const SHOWN: usize = 40;

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What it is compared by: small letters without marks; of a number, digits.
    pub key: String,
    /// The word as it stands there.
    pub written: String,
}

/// The words of a text: runs of letters and digits; numbers, however their digits are grouped; and of scripts without blanks between
/// words, or with endings that change, each few letters that stand together.
pub fn words(text: &str) -> Vec<Word> {
    let letters: Vec<char> = text.nfkc().filter(|letter| !is_invisible(*letter)).map(plain_digit).collect();
    let mut found = Vec::new();
    words_of(&letters, &mut found);
    // A word that was parted at the end of a line counts whole as well.
    if let Some(joined) = joined(&letters) {
        words_of(&joined, &mut found);
    }
    found
}

fn words_of(letters: &[char], found: &mut Vec<Word>) {
    let is_in_word = |letter: &char| letter.is_alphanumeric() || is_combining_mark(*letter);
    for run in letters.split(|letter| !is_in_word(letter)).filter(|run| !run.is_empty()) {
        // A mark is of the script of its letter.
        for part in run.chunk_by(|one, next| is_combining_mark(*next) || Script::of(*one) == Script::of(*next)) {
            match Script::of(part[0]) {
                Script::Spaced => spaced(part, found),
                Script::Together(few) => together(part, few, found),
            }
        }
    }
    numbers(letters, found);
}

/// Whether a letter is one that nobody sees: Unicode's `Default_Ignorable_Code_Point`.
const fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// A digit of any script as the one that it stands for.
fn plain_digit(letter: char) -> char {
    let digit = |zero: &u32| u32::from(letter).checked_sub(*zero).and_then(|value| char::from_digit(value, 10));
    ZEROS.iter().find_map(digit).unwrap_or(letter)
}

/// The letters with words whole that a hyphen parts at the end of a line, and without marks of Markdown inside of words; none where
/// there are no such.
fn joined(letters: &[char]) -> Option<Vec<char>> {
    let mut joined = Vec::with_capacity(letters.len());
    let mut rest = letters;
    while let Some((letter, after)) = rest.split_first() {
        let from = rest;
        rest = after;
        let follows = |at: &[char]| {
            joined.last().copied().is_some_and(char::is_alphanumeric)
                && at.first().copied().is_some_and(char::is_alphanumeric)
        };
        // What is counted here is not counted again from its next letter.
        let mut is_kept = true;
        if matches!(letter, '-' | '\u{2010}' | '\u{2011}') {
            let blank = after.iter().take_while(|next| next.is_whitespace()).count();
            if after[..blank].contains(&'\n') && follows(&after[blank..]) {
                (rest, is_kept) = (&after[blank..], false);
            }
        } else if MARKS.contains(letter) {
            let marks = after.iter().take_while(|next| MARKS.contains(next)).count();
            is_kept = !follows(&after[marks..]);
            rest = &after[marks..];
        }
        if is_kept {
            joined.extend_from_slice(&from[..from.len() - rest.len()]);
        }
    }
    (joined.len() < letters.len()).then_some(joined)
}

/// How words stand in a script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    /// With blanks between them.
    Spaced,
    /// So that each few letters that stand together say something.
    Together(usize),
}

impl Script {
    const fn of(letter: char) -> Self {
        match letter {
            // Thai, Lao, Burmese, Khmer: letters are sounds.
            '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' => Self::Together(4),
            // Japanese, Chinese and Korean: letters are syllables or words.
            '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' | '\u{20000}'..='\u{3FFFF}' => {
                Self::Together(2)
            }
            _ => Self::Spaced,
        }
    }
}

/// The word that a run is, and without its digits.
fn spaced(run: &[char], found: &mut Vec<Word>) {
    let is_digit = |letter: &char| letter.is_ascii_digit();
    if run.iter().all(is_digit) {
        return;
    }
    let is_mixed = run.iter().any(is_digit);
    let is_name = run.len() == SHORTEST - 1 && (is_mixed || run[0].is_uppercase());
    if run.len() >= SHORTEST || is_name {
        found.push(Word::of(run));
    }
    if is_mixed {
        found.extend(run.split(is_digit).filter(|part| part.len() >= SHORTEST).map(Word::of));
    }
}

fn together(run: &[char], few: usize, found: &mut Vec<Word>) {
    let key: Vec<char> = folded(run).chars().collect();
    // Two letters of Hiragana are mostly an ending.
    let says = |part: &&[char]| part.iter().any(|letter| !matches!(letter, '\u{3040}'..='\u{309F}'));
    let whole = (SHORTEST..few).contains(&key.len()).then_some(&*key);
    found.extend(key.windows(few).chain(whole).filter(says).map(Word::of));
}

/// The numbers of a text: each group of digits, and groups that only signs stand between as one number.
fn numbers(letters: &[char], found: &mut Vec<Word>) {
    let is_between = |letter: char| letter != '\n' && !letter.is_alphanumeric();
    let mut groups: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let Some(start) = letters[at..].iter().position(char::is_ascii_digit).map(|more| at + more) else { break };
        let end = letters[start..]
            .iter()
            .position(|letter| !letter.is_ascii_digit())
            .map_or(letters.len(), |more| start + more);
        let between = groups.last().map(|(_, before)| &letters[*before..start]);
        if !between.is_some_and(|signs| signs.len() <= MOST_BETWEEN && signs.iter().all(|sign| is_between(*sign))) {
            number(letters, &groups, found);
            groups.clear();
        }
        groups.push((start, end));
        at = end;
    }
    number(letters, &groups, found);
}

fn number(letters: &[char], groups: &[(usize, usize)], found: &mut Vec<Word>) {
    let (Some((start, _)), Some((_, end))) = (groups.first(), groups.last()) else { return };
    let alone = groups.iter().map(|(start, end)| &letters[*start..*end]);
    found.extend(alone.filter(|group| group.len() >= SHORTEST).map(Word::of));
    let whole = &letters[*start..*end];
    let digits: Vec<char> = whole.iter().copied().filter(char::is_ascii_digit).collect();
    let parts = digits.windows(digits.len().min(LONG_NUMBER)).filter(|part| part.len() >= SHORTEST_GROUPED);
    let written = written(whole);
    found.extend(parts.map(|part| Word { key: part.iter().collect(), written: written.clone() }));
}

impl Word {
    fn of(letters: &[char]) -> Self {
        Self { key: folded(letters), written: written(letters) }
    }
}

/// Letters as they stand there, as far as they are shown.
fn written(letters: &[char]) -> String {
    let more = if letters.len() > SHOWN { "…" } else { "" };
    letters.iter().take(SHOWN).collect::<String>() + more
}

/// Letters without marks, small; `ß` is `ss`, since the large ones have no other.
fn folded(letters: &[char]) -> String {
    let bare: String = letters.iter().copied().nfkd().filter(|letter| !is_combining_mark(*letter)).nfc().collect();
    bare.to_uppercase().to_lowercase()
}
