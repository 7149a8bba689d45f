//! Numbers beside words that are written from right to left: many a screen draws one before such a word and one behind it as the same
//! picture.

use unicode_normalization::char::is_combining_mark;

use super::super::is_turned;

/// Marks the digits between which and such a word no letter of another script stands, before it or behind it. On the screen a row may end
/// anywhere, so one between two such words is marked too.
pub(super) fn mark(letters: &[char], odd: &mut [bool]) {
    if !letters.iter().any(|letter| is_turned(*letter)) {
        return;
    }
    let mut is_beside = false;
    for (letter, odd) in letters.iter().zip(odd.iter_mut()) {
        is_beside = goes_on(is_beside, *letter);
        *odd |= is_beside && is_number(*letter);
    }
    is_beside = false;
    for (letter, odd) in letters.iter().zip(odd.iter_mut()).rev() {
        is_beside = goes_on(is_beside, *letter);
        *odd |= is_beside && is_number(*letter);
    }
}

/// Whether what stands behind a letter is beside a word from right to left, where what stands before it is or is not.
fn goes_on(is_beside: bool, letter: char) -> bool {
    match letter {
        letter if is_number(letter) => is_beside,
        letter if is_turned(letter) => true,
        letter => is_beside && !is_from_left(letter),
    }
}

/// Digits, which have no direction of their own, and the points of Arabic ones.
fn is_number(letter: char) -> bool {
    letter.is_ascii_digit()
        || matches!(letter, '²' | '³' | '¹' | '\u{660}'..='\u{669}' | '\u{66b}' | '\u{66c}' | '\u{6f0}'..='\u{6f9}')
}

/// Whether a letter is written from left to right. Signs that count as letters have no direction.
fn is_from_left(letter: char) -> bool {
    let is_sign = matches!(letter, '\u{2b9}'..='\u{2ff}' | '\u{a700}'..='\u{a721}' | '\u{a788}');
    letter.is_alphabetic() && !is_turned(letter) && !is_sign && !is_combining_mark(letter)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use self::Direction::{Arabic, ArabicDigit, Digit, Left, Neutral, Point, Right};
    use crate::shown::{exact, exact_json};

    // SEC-077
    #[test]
    fn a_number_beside_a_word_from_right_to_left_is_written_out() {
        for (text, expected) in [
            ("room 7 אורן ok", r"room \u{37} אורן ok"),
            ("room אורן 7 ok", r"room אורן \u{37} ok"),
            ("שלום, 12 ברוש", r"שלום, \u{31}\u{32} ברוש"),
            ("مرحبا ٥, a", r"مرحبا \u{665}, a"),
            ("room 7, שלום", r"room \u{37}, שלום"),
            ("room 7 is for אורן", "room 7 is for אורן"),
            ("room 7", "room 7"),
        ] {
            assert_eq!(exact(text), expected);
        }
        let json = r#"{"to":"+49301111","text":"שלום 7"}"#;
        assert_eq!(exact_json(json), r#"{"to":"+49301111","text":"שלום \u0037"}"#);
    }

    /// Every text of these letters, on one row and on rows that end anywhere.
    // SEC-077
    #[test]
    fn no_two_texts_are_the_same_picture_where_words_from_right_to_left_are_turned() {
        for (letters, longest) in [("אבا12٣ .a", 4), ("א1 .a", 6)] {
            let letters: Vec<char> = letters.chars().collect();
            let mut texts = vec![String::new()];
            for _ in 0..longest {
                let longer = texts.iter().flat_map(|text| letters.iter().map(move |letter| format!("{text}{letter}")));
                let longer: Vec<String> = longer.collect();
                texts.extend(longer);
                texts.sort_unstable();
                texts.dedup();
            }
            for width in [usize::MAX, 3] {
                let mut pictures: HashMap<Vec<String>, &str> = HashMap::new();
                for text in &texts {
                    let letters: Vec<char> = exact(text).chars().collect();
                    let picture: Vec<String> = letters.chunks(width).map(drawn).collect();
                    let other = pictures.insert(picture, text);
                    assert_eq!(other, None, "{text:?}");
                }
            }
        }
    }

    /// How Unicode's rules see a letter of these texts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Direction {
        Left,
        Right,
        Arabic,
        Digit,
        ArabicDigit,
        Point,
        Neutral,
    }

    fn direction(letter: char) -> Direction {
        match letter {
            '\u{5d0}'..='\u{5ea}' => Right,
            '\u{620}'..='\u{64a}' => Arabic,
            '\u{660}'..='\u{669}' => ArabicDigit,
            '0'..='9' => Digit,
            '.' => Point,
            letter if letter.is_alphabetic() => Left,
            _ => Neutral,
        }
    }

    /// A row as it is seen from left to right, on a screen whose rows go that way.
    fn drawn(row: &[char]) -> String {
        let levels = levels(row);
        let mut drawn = row.to_vec();
        for level in [2, 1] {
            let mut at = 0;
            while at < drawn.len() {
                let run = levels[at..].iter().take_while(|one| **one >= level).count();
                drawn[at..at + run].reverse();
                at += run.max(1);
            }
        }
        drawn.into_iter().collect()
    }

    /// The levels of a row's letters by the rules W2 to W7, N1, N2, I1, I2 and L1 of Unicode's annex 9.
    fn levels(row: &[char]) -> Vec<u8> {
        let mut directions: Vec<Direction> = row.iter().map(|letter| direction(*letter)).collect();
        let mut strong = Left;
        for one in &mut directions {
            match *one {
                Left | Right | Arabic => strong = *one,
                Digit if strong == Arabic => *one = ArabicDigit,
                _ => {}
            }
        }
        for at in 0..directions.len() {
            let beside = (at.checked_sub(1).map(|at| directions[at]), directions.get(at + 1).copied());
            directions[at] = match (directions[at], beside) {
                (Point, (Some(Digit), Some(Digit))) => Digit,
                (Point, (Some(ArabicDigit), Some(ArabicDigit))) => ArabicDigit,
                (Point, _) => Neutral,
                (one, _) => one,
            };
        }
        strong = Left;
        for one in &mut directions {
            match *one {
                Left | Right | Arabic => strong = *one,
                Digit if strong == Left => *one = Left,
                _ => {}
            }
        }
        let goes_left = |one: Option<&Direction>| one.is_none_or(|one| *one == Left);
        let mut at = 0;
        while at < directions.len() {
            let run = directions[at..].iter().take_while(|one| **one == Neutral).count();
            let before = goes_left(at.checked_sub(1).and_then(|at| directions.get(at)));
            let is_left = before || goes_left(directions.get(at + run));
            directions[at..at + run].fill(if is_left { Left } else { Right });
            at += run.max(1);
        }
        let level = |one: &Direction| match one {
            Left => 0,
            Digit | ArabicDigit => 2,
            Right | Arabic | Point | Neutral => 1,
        };
        let mut levels: Vec<u8> = directions.iter().map(level).collect();
        let blanks = row.iter().rev().take_while(|letter| **letter == ' ').count();
        levels[row.len() - blanks..].fill(0);
        levels
    }
}
