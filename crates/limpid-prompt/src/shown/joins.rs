//! Letters that are drawn as nothing themselves and change how those beside them are drawn: joiners, and selectors of a variant.

/// Whether a letter is one of them.
pub(super) fn is_joiner(letter: char) -> bool {
    matches!(letter, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Whether one of them does its work between its neighbours; anywhere else nobody sees whether it is there, so that it could carry what
/// nobody sees. At the border of a text, which may be a piece of a longer one, there is no neighbour that speaks against it.
pub(super) fn joins(before: Option<char>, letter: char, after: Option<char>) -> bool {
    let borders_on =
        |fits: fn(char) -> bool| before.is_none_or(fits) && after.is_none_or(fits) && (before, after) != (None, None);
    match letter {
        // A picture of two, as of a woman and a rocket.
        '\u{200d}' if after.is_none_or(is_picture) => {
            before.is_none_or(|before| is_picture(before) || before == '\u{fe0f}')
        }
        '\u{200c}' => before.is_some_and(is_virama) || (borders_on(is_arabic) && before.is_none_or(is_joined)),
        '\u{200d}' => before.is_some_and(is_virama),
        // A letter that is a sign by itself becomes a picture, or the other way round.
        '\u{fe0e}' | '\u{fe0f}' => before.is_none_or(is_sign_and_picture),
        _ => false,
    }
}

/// Signs that are drawn as letters unless a selector says otherwise.
fn is_sign_and_picture(letter: char) -> bool {
    matches!(letter, '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2328}' | '\u{23cf}' | '\u{23e9}'..='\u{23fa}' | '\u{25a0}'..='\u{27bf}' | '\u{2934}' | '\u{2935}'
        | '\u{2b05}'..='\u{2b07}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f170}'..='\u{1f251}'
        | '\u{1f321}'..='\u{1f32c}' | '\u{1f336}' | '\u{1f37d}' | '\u{1f396}'..='\u{1f39f}' | '\u{1f3cb}'..='\u{1f3ce}'
        | '\u{1f3d4}'..='\u{1f3df}' | '\u{1f3f3}'..='\u{1f3f7}' | '\u{1f43f}' | '\u{1f441}' | '\u{1f549}'..='\u{1f5ff}'
        | '\u{1f6cb}'..='\u{1f6e9}' | '\u{1f6f0}' | '\u{1f6f3}')
}

fn is_picture(letter: char) -> bool {
    is_sign_and_picture(letter)
        || matches!(letter, '\u{231a}'..='\u{23ff}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// Signs of scripts of India behind which a joiner asks for another form of the letter.
fn is_virama(letter: char) -> bool {
    matches!(
        letter,
        '\u{94d}'
            | '\u{9cd}'
            | '\u{a4d}'
            | '\u{acd}'
            | '\u{b4d}'
            | '\u{bcd}'
            | '\u{c4d}'
            | '\u{ccd}'
            | '\u{d4d}'
            | '\u{dca}'
    )
}

fn is_arabic(letter: char) -> bool {
    matches!(letter, '\u{620}'..='\u{64a}' | '\u{66e}'..='\u{6d3}' | '\u{6fa}'..='\u{6ff}' | '\u{750}'..='\u{77f}')
}

/// Whether an Arabic letter is joined to the next one, so that what keeps them apart is seen.
fn is_joined(letter: char) -> bool {
    is_arabic(letter)
        && !matches!(letter, '\u{621}'..='\u{625}' | '\u{627}' | '\u{629}' | '\u{62f}'..='\u{632}' | '\u{648}'
            | '\u{671}'..='\u{677}' | '\u{688}'..='\u{699}' | '\u{6c0}'..='\u{6cb}' | '\u{6cd}' | '\u{6cf}' | '\u{6d2}' | '\u{6d3}')
}

#[cfg(test)]
mod tests {
    use super::super::shown;

    // SEC-089
    #[test]
    fn what_joins_nothing_is_written_out() {
        let stays = [
            "👩\u{200d}🚀",
            "❤\u{fe0f}\u{200d}🔥",
            "☺\u{fe0e}",
            // Persian: "I want", and Hindi with a half letter.
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
        ];
        for text in stays {
            assert_eq!(shown(text), text);
        }
        let table = [
            ("at\u{200c} six", "at\\u{200c} six"),
            ("six.\u{200d}\u{200c}\u{200d}", "six.\\u{200d}\\u{200c}\\u{200d}"),
            ("1\u{fe0f}2\u{fe0e}", "1\\u{fe0f}2\\u{fe0e}"),
            ("☺\u{fe0f}\u{fe0f}", "☺\u{fe0f}\\u{fe0f}"),
            ("🚀\u{fe0f}", "🚀\\u{fe0f}"),
            ("👩\u{200d}\u{200d}🚀", "👩\\u{200d}\\u{200d}🚀"),
            // Behind a letter that joins nothing it is not seen.
            ("د\u{200c}م", "د\\u{200c}م"),
        ];
        for (text, expected) in table {
            assert_eq!(shown(text), expected);
        }
    }
}
