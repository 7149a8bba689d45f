//! Spelling: of two ways to write the same letters one stays, that of Unicode's form C; and what joins them stays where everybody sees it.

use std::collections::HashSet;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{canonical_combining_class, compose, is_combining_mark};
use unicode_script::{Script, UnicodeScript as _};

use super::words::{family, first};

/// Unicode's class of marks that stand above a letter.
const ABOVE: u8 = 230;

/// What is joined to a person's picture: their work, their hair, how they move, their family.
const OF_PERSONS: &str = "👨👩👧👦⚕⚖✈🌾🍳🍼🎄🎓🎤🎨🏫🏭💻💼🔧🔬🚀🚒🦯🦰🦱🦲🦳🦼🦽";

/// Marks the letters of what is spelled in another way than the usual one.
pub(super) fn mark(letters: &[char], odd: &mut [bool]) {
    let clusters = clusters(letters);
    let count = |wanted: Order| clusters.iter().filter(|(_, order)| *order == wanted).count();
    // Marks of one letter that stand in two orders are drawn the same: of the two, the one that stands there most often stays.
    let rare = if count(Order::Usual) >= count(Order::Other) { Order::Other } else { Order::Usual };
    let has_both = count(Order::Usual) > 0 && count(Order::Other) > 0;
    for (cluster, order) in clusters {
        let is_spelled = order != Order::Composed && !(has_both && order == rare);
        let (base, mut seen) = (letters[cluster.start], HashSet::new());
        odd[cluster.start] |= is_combining_mark(base);
        for place in cluster.skip(1) {
            odd[place] |= !is_spelled || !belongs(base, letters[place]) || !seen.insert(letters[place]);
        }
    }
    // Where a pair is drawn as two, nobody sees that it is joined.
    let beside: HashSet<(char, char)> =
        letters.windows(2).map(|two| (two[0], two[1])).filter(|(_, next)| is_of_person(*next)).collect();
    for at in 0..letters.len() {
        let (before, after) = (at.checked_sub(1).map(|at| letters[at]), letters.get(at + 1).copied());
        odd[at] |= before.is_some_and(|before| !before.is_ascii() && is_twice(before, letters[at]));
        odd[at] |= is_unseen_joiner(letters[at], before, after)
            || (letters[at] == '\u{200d}' && before.zip(after).is_some_and(|pair| beside.contains(&pair)));
    }
}

/// How the marks of a letter stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// There are none, or one.
    Single,
    /// As in form C.
    Usual,
    /// As they were typed, as with vowels of Arabic and Hebrew.
    Other,
    /// Form C has other letters in their place.
    Composed,
}

/// Letters with their marks.
fn clusters(letters: &[char]) -> Vec<(Range<usize>, Order)> {
    let (mut clusters, mut at) = (Vec::new(), 0);
    while at < letters.len() {
        let marks = letters[at + 1..].iter().take_while(|letter| is_combining_mark(**letter)).count();
        let cluster = &letters[at..at + 1 + marks];
        let ordered = cluster.iter().filter(|letter| canonical_combining_class(**letter) > 0).count();
        let order = if marks == 0 {
            Order::Single
        } else {
            let mut composed: Vec<char> = cluster.iter().copied().nfc().collect();
            let is_same = composed == cluster;
            let mut sorted = cluster.to_vec();
            composed.sort_unstable();
            sorted.sort_unstable();
            match (is_same, composed == sorted) {
                (true, _) if ordered < 2 => Order::Single,
                (true, _) => Order::Usual,
                (false, true) => Order::Other,
                (false, false) => Order::Composed,
            }
        };
        clusters.push((at..at + 1 + marks, order));
        at += 1 + marks;
    }
    clusters
}

/// Whether a mark is one that is written on this letter, and changes how it looks.
fn belongs(base: char, mark: char) -> bool {
    match mark.script() {
        Script::Inherited | Script::Common => {
            let is_arabic = matches!(mark, '\u{64b}'..='\u{653}' | '\u{670}');
            let is_alike = first(mark) != mark && !is_arabic;
            // A dot over a letter that has one.
            let is_dot = mark == '\u{307}' && "ijįịіј".contains(base);
            if mark == '\u{654}' {
                return base == 'ه';
            }
            // A dot or an accent on one without a dot is drawn as on one with it.
            let is_dotless = "ıȷ".contains(base) && canonical_combining_class(mark) == ABOVE;
            let script = if is_arabic { base.script() == Script::Arabic } else { is_of_europe(base) };
            script && !is_alike && !is_dot && !is_dotless
        }
        script => family(base) == script && !is_vowel_twice(base, mark),
    }
}

fn is_of_europe(base: char) -> bool {
    base.is_alphabetic() && matches!(base.script(), Script::Latin | Script::Greek | Script::Cyrillic)
}

/// Whether a sign of a vowel stands on a vowel, in the scripts of India: together they are drawn as another vowel. Their blocks are laid out
/// alike.
fn is_vowel_twice(base: char, mark: char) -> bool {
    let (base, mark) = (u32::from(base), u32::from(mark));
    let is_of_india = (0x900..0xd80).contains(&base);
    let is_vowel = matches!(base & 0x7f, 0x04..=0x14 | 0x60 | 0x61) || matches!(base, 0xa72 | 0xa73);
    is_of_india
        && is_vowel
        && matches!(mark & 0x7f, 0x3a | 0x3b | 0x3e..=0x4c | 0x4e | 0x4f | 0x55..=0x57 | 0x62 | 0x63)
}

/// Whether two letters are drawn as one that there is.
fn is_twice(before: char, letter: char) -> bool {
    let is_thai = matches!((before, letter), ('เ', 'เ') | ('\u{e4d}', 'า') | ('ເ', 'ເ') | ('\u{ecd}', 'າ'));
    is_thai || (!is_combining_mark(letter) && compose(before, letter).is_some())
}

/// Whether a picture is joined to that of a person: what they do or have, or one of their family.
fn is_of_person(letter: char) -> bool {
    OF_PERSONS.contains(letter)
}

/// Whether a joiner stands where it may not be seen: between pictures that are not one, or letters that are drawn so without it.
fn is_unseen_joiner(letter: char, before: Option<char>, after: Option<char>) -> bool {
    match letter {
        '\u{200d}' => {
            let is_person = matches!(before, Some('👨' | '👩' | '🧑' | '👧' | '👦' | '\u{1f3fb}'..='\u{1f3ff}'));
            let is_one = is_person && after.is_some_and(is_of_person);
            let is_sinhala = before == Some('\u{dca}') && matches!(after, Some('\u{dba}' | '\u{dbb}'));
            !(is_one || is_sinhala)
        }
        // Persian, Urdu; Kannada and Telugu, where a vowel's sign is lost.
        '\u{200c}' => {
            let is_arabic = after.is_some_and(|after| after.script() == Script::Arabic && after != 'ء')
                && before.is_some_and(|before| before.script() == Script::Arabic && before != '\u{640}');
            let is_dravidian = matches!(before, Some('\u{c4d}' | '\u{ccd}'))
                && after.is_some_and(|after| {
                    after.is_alphabetic() && matches!(after.script(), Script::Telugu | Script::Kannada)
                });
            !(is_arabic || is_dravidian)
        }
        _ => false,
    }
}
