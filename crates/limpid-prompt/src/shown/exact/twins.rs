//! Twins: letters of one script that are drawn the same. Of those in a text the one that stands there most often stays.

use std::collections::HashMap;

use unicode_script::{Script, UnicodeScript as _};

use super::words::drawn;

/// Letters that Unicode counts as alike and that people tell apart.
const TOLD_APART: &str = "σүҮ土士未末";

/// Letters of Arabic that are drawn the same in some places of a word.
const OF_ARABIC: [(char, &str); 14] = [
    ('ي', "1"),
    ('ى', "2"),
    ('ی', "12"),
    ('ك', "3"),
    ('ک', "3"),
    ('ه', "456"),
    ('ہ', "4"),
    ('ھ', "5"),
    ('ە', "6"),
    ('ة', "7"),
    ('ۃ', "7"),
    ('ۀ', "8"),
    ('ۂ', "8"),
    ('\u{654}', "8"),
];

/// Signs that are drawn the same.
const SIGNS: [(char, &str); 4] = [('〜', "~"), ('～', "~"), ('—', "_"), ('―', "_")];

/// Marks the letters that are the rarer ones of those that look the same.
pub(super) fn mark(letters: &[char], odd: &mut [bool]) {
    // How often each stands there, and where first, by how it looks.
    let mut counts: HashMap<String, Vec<(char, usize)>> = HashMap::new();
    let looks: Vec<Vec<String>> = letters.iter().map(|letter| looks(*letter)).collect();
    for (letter, look) in letters.iter().zip(&looks).filter(|(letter, _)| !letter.is_ascii()) {
        for look in look {
            let known = counts.entry(look.clone()).or_default();
            match known.iter_mut().find(|(other, _)| other == letter) {
                Some((_, count)) => *count += 1,
                None => known.push((*letter, 1)),
            }
        }
    }
    let usual = |look: &String| counts.get(look).and_then(|known| known.iter().rev().max_by_key(|(_, count)| *count));
    for (at, look) in looks.iter().enumerate() {
        odd[at] |= look.iter().filter_map(usual).any(|(usual, _)| *usual != letters[at]);
    }
}

/// How a letter looks, for each of its shapes; nothing where it has no twin.
fn looks(letter: char) -> Vec<String> {
    if letter.is_ascii() || TOLD_APART.contains(letter) {
        return Vec::new();
    }
    let of = |table: &[(char, &str)]| {
        let found = table.iter().find(|(known, _)| *known == letter)?;
        Some(found.1.chars().map(|shape| format!("={shape}")).collect())
    };
    if let Some(shapes) = of(&OF_ARABIC).or_else(|| of(&SIGNS)) {
        return shapes;
    }
    if let '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}' = letter {
        return vec![format!("#{}", u32::from(letter) & 0xf)];
    }
    // Of other scripts those who read them tell the letters apart.
    match letter.is_alphabetic()
        && matches!(letter.script(), Script::Latin | Script::Greek | Script::Cyrillic | Script::Han)
    {
        true => {
            let drawn: String = drawn(letter).collect();
            vec![format!("{:?} {} {drawn}", letter.script(), letter.is_uppercase())]
        }
        false => Vec::new(),
    }
}
