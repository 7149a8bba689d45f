//! Bopomofo, Korean, and the letters of Chinese and Japanese that are drawn as theirs. Those of one word are of one of them.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use unicode_script::{Script, UnicodeScript as _};

use super::words::{drawn, family, is_in_use};

/// What letters of the same family are told apart by here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Side {
    /// Chinese and Japanese, which share words.
    Han,
    Bopomofo,
    Hangul,
}

/// Letters that are drawn as one of another side.
static TWINS: LazyLock<HashSet<char>> = LazyLock::new(|| {
    let letters =
        || (0x3005..0xa000_u32).chain(0xac00..0xd7a4).filter_map(char::from_u32).filter(|letter| is_in_use(*letter));
    let mut looks: HashMap<String, HashSet<Side>> = HashMap::new();
    for (letter, side) in letters().filter_map(|letter| Some((letter, side(letter)?))) {
        looks.entry(drawn(letter).collect()).or_default().insert(side);
    }
    let is_twin = |letter: &char| looks.get(&drawn(*letter).collect::<String>()).is_some_and(|sides| sides.len() > 1);
    letters().filter(is_twin).collect()
});

/// Marks the letters that are drawn as one of the side that their word is of. A word that tells nothing is of the side of the text.
pub(super) fn mark(letters: &[char], odd: &mut [bool]) {
    if !letters.iter().any(|letter| side(*letter).is_some() && TWINS.contains(letter)) {
        return;
    }
    let of_text = main(letters).unwrap_or(Side::Han);
    let mut at = 0;
    while at < letters.len() {
        let word = letters[at..].iter().take_while(|letter| side(**letter).is_some()).count();
        let of_word = main(&letters[at..at + word]).unwrap_or(of_text);
        for place in at..at + word {
            odd[place] |= side(letters[place]) != Some(of_word) && TWINS.contains(&letters[place]);
        }
        at += word.max(1);
    }
}

/// The side of most of the letters that are drawn as none of another side; the first of those with as many.
fn main(letters: &[char]) -> Option<Side> {
    let certain = || letters.iter().filter(|letter| !TWINS.contains(letter)).filter_map(|letter| side(*letter));
    let count = |wanted: Side| certain().filter(|side| *side == wanted).count();
    let first = certain().next()?;
    let rest = [Side::Han, Side::Hangul, Side::Bopomofo].into_iter().filter(|side| *side != first);
    rest.chain([first]).max_by_key(|side| count(*side))
}

fn side(letter: char) -> Option<Side> {
    match letter.script() {
        Script::Bopomofo => Some(Side::Bopomofo),
        Script::Hangul => Some(Side::Hangul),
        _ => (family(letter) == Script::Han && letter.is_alphabetic()).then_some(Side::Han),
    }
}
