//! Signs and blanks: those that people write and that look like no other one stay.

use unicode_normalization::char::is_combining_mark;
use unicode_script::Script;

use super::super::joins::is_joiner;
use super::words::family;

/// Signs of letters, money and reckoning.
const USUAL: &str = "‘’“”„–—―…•·«»¿¡§¶°²³½¼¾€£¥¢₹₽₺₴₩₪₫₱₸₦×÷±≈≠≤≥∞√←↑→↓↔⇒©®™№†‰";

/// Signs of scripts that have their own: Arabic, Hebrew, Armenian, those of India, Ethiopic, Tibetan, Khmer, Burmese, Han and Kana.
const OF_SCRIPTS: &str = "،؛؟٪٫٬۔־։՝՞՛।॥፡።፣፤፥፦፧་།༎។៕៖၊။、。「」『』【】《》〈〉〔〕・〜～々〆";

/// Pictures that are drawn as such in any font, or as a sign that is like no letter.
const PICTURES: &str = "☀☁☂☃☎☐☑☒☺♀♂♠♣♥♦♪♫⚖⚕⚠✈✉✓✔✗✘★☆❤✨⭐⌚⌛⏰⏳☔☕♿⚓⚡⚽⚾⛄⛅⛔⛪⛲⛳⛵⛺⛽✅✊✋❌❎❓❔❕❗";

/// Signs of full width, or of a script, and those of ASCII that look like them.
const WIDE: [(char, char); 13] = [
    ('！', '!'),
    ('？', '?'),
    ('，', ','),
    ('：', ':'),
    ('；', ';'),
    ('（', '('),
    ('）', ')'),
    ('％', '%'),
    ('＆', '&'),
    ('＋', '+'),
    ('＝', '='),
    ('／', '/'),
    ('։', ':'),
];

/// Shapes of an apostrophe in a word.
const APOSTROPHES: [char; 4] = ['’', '\'', 'ʼ', 'ʻ'];

/// Columns of a tab.
const TAB: usize = 8;

/// Flags that are those of the USA, Norway, France, Australia, Spain and St Helena by other names.
const SAME_FLAGS: [&str; 10] = ["UM", "SJ", "BV", "MF", "CP", "HM", "EA", "AC", "TA", "IC"];

/// Marks the signs and blanks that look like others, or that are none of those that people write.
pub(super) fn mark(letters: &[char], odd: &mut [bool]) {
    let has_two_blanks = letters.windows(2).any(|two| two == [' ', ' ']);
    let has_three_dots = letters.windows(3).any(|three| three == ['.', '.', '.']);
    let has_x = letters.split(|letter| !letter.is_alphanumeric()).any(|word| word == ['x']);
    mark_ends(letters, odd);
    mark_indents(letters, odd);
    for (at, letter) in letters.iter().enumerate() {
        let (before, after) = (at.checked_sub(1).map(|at| letters[at]), letters.get(at + 1).copied());
        odd[at] |= match *letter {
            '\t' => before.is_some_and(|before| !matches!(before, '\n' | '\t')),
            // As wide as two blanks.
            '\u{3000}' => has_two_blanks || !is_among_wide(before, after),
            // Selectors: how wide what they belong to is drawn is not the same everywhere, and in a call they mean nothing.
            '\u{fe0e}' | '\u{fe0f}' => true,
            // The sign of a millionth stands before a unit, the Greek letter does not.
            'µ' => !after.is_some_and(|after| after.is_ascii_alphabetic()),
            'μ' => after.is_some_and(|after| after.is_ascii_alphabetic()),
            '…' => has_three_dots,
            '×' => has_x,
            letter if letter.is_ascii() || is_joiner(letter) || is_combining_mark(letter) => false,
            letter if WIDE.iter().any(|(wide, _)| *wide == letter) => {
                letter != '։' && ![before, after].into_iter().flatten().any(is_wide)
            }
            letter if letter.is_alphanumeric() => false,
            letter => !is_usual(letter),
        };
    }
    mark_apostrophes(letters, odd);
    mark_narrow(letters, odd);
    mark_flags(letters, odd);
}

/// Signs that are letters or digits to Unicode as well.
pub(super) fn is_usual(letter: char) -> bool {
    let is_picture = matches!(letter, '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f300}'..='\u{1f64f}' | '\u{1f680}'..='\u{1f6ff}'
        | '\u{1f7e0}'..='\u{1f7eb}' | '\u{1f900}'..='\u{1f9ff}' | '\u{1fa70}'..='\u{1faff}');
    is_picture || letter == 'µ' || [USUAL, OF_SCRIPTS, PICTURES].iter().any(|known| known.contains(letter))
}

/// Blanks at the end of a line.
fn mark_ends(letters: &[char], odd: &mut [bool]) {
    let mut is_end = true;
    for (at, letter) in letters.iter().enumerate().rev() {
        is_end = *letter == '\n' || (is_end && matches!(letter, ' ' | '\t'));
        odd[at] |= is_end && *letter != '\n';
    }
}

/// A tab at a line's beginning is as wide as eight blanks: what the text has first of the two stays.
fn mark_indents(letters: &[char], odd: &mut [bool]) {
    let (mut is_indent, mut at, mut has_tabs) = (true, 0, None);
    while at < letters.len() {
        let blanks = letters[at..].iter().take_while(|letter| **letter == ' ').count();
        match letters[at] {
            '\n' => is_indent = true,
            '\t' if is_indent => odd[at] |= !*has_tabs.get_or_insert(true),
            ' ' if is_indent && blanks >= TAB => {
                let are_odd = *has_tabs.get_or_insert(false);
                odd[at..at + blanks].iter_mut().for_each(|odd| *odd |= are_odd);
            }
            ' ' if is_indent => {}
            _ => is_indent = false,
        }
        at += blanks.max(1);
    }
}

/// Whether something that is two cells wide stands beside it, and no blank.
fn is_among_wide(before: Option<char>, after: Option<char>) -> bool {
    let beside = [before, after].into_iter().flatten();
    beside.clone().any(is_wide) && !beside.into_iter().any(|letter| matches!(letter, ' ' | '\u{3000}'))
}

fn is_wide(letter: char) -> bool {
    let is_sign = "、。「」『』【】《》〈〉〔〕・〜～々".contains(letter);
    is_sign || family(letter) == Script::Han || WIDE.iter().any(|(wide, _)| *wide == letter)
}

/// Of an apostrophe's shapes the one that stands there most often stays; those that are letters stay in words alone.
fn mark_apostrophes(letters: &[char], odd: &mut [bool]) {
    let is_letter = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_alphabetic());
    let is_within = |at: usize| at > 0 && is_letter(letters.get(at - 1)) && is_letter(letters.get(at + 1));
    let count = |wanted: char| (0..letters.len()).filter(|at| letters[*at] == wanted && is_within(*at)).count();
    let usual = APOSTROPHES.into_iter().rev().max_by_key(|shape| count(*shape)).unwrap_or('\'');
    for at in (0..letters.len()).filter(|at| APOSTROPHES.contains(&letters[*at])) {
        odd[at] |= if is_within(at) { letters[at] != usual } else { letters[at].is_alphabetic() };
    }
}

/// Flags that are drawn as those of another country, and letters of flags that are none.
fn mark_flags(letters: &[char], odd: &mut [bool]) {
    let mut at = 0;
    while at < letters.len() {
        let run = letters[at..].iter().take_while(|letter| as_ascii(**letter).is_some()).count();
        for first in (at..at + run).step_by(2) {
            let flag = first..(first + 2).min(at + run);
            let name: String = letters[flag.clone()].iter().filter_map(|letter| as_ascii(*letter)).collect();
            if name.len() < 2 || SAME_FLAGS.contains(&name.as_str()) {
                odd[flag].fill(true);
            }
        }
        at += run.max(1);
    }
}

/// The letter of a flag's name.
fn as_ascii(letter: char) -> Option<char> {
    let at = u32::from(letter).checked_sub(0x1f1e6).filter(|at| *at < 26)?;
    char::from_u32(u32::from('A') + at)
}

/// Where a text has a sign in full width, that of ASCII is the odd one beside letters that are as wide.
fn mark_narrow(letters: &[char], odd: &mut [bool]) {
    for (wide, narrow) in WIDE {
        if !letters.contains(&wide) {
            continue;
        }
        for at in (0..letters.len()).filter(|at| letters[*at] == narrow) {
            let near = |places: [Option<usize>; 2]| {
                let near = places.into_iter().flatten().filter_map(|at| letters.get(at)).find(|letter| **letter != ' ');
                near.is_some_and(|letter| matches!(family(*letter), Script::Han | Script::Armenian))
            };
            odd[at] |= near([at.checked_sub(1), at.checked_sub(2)]) || near([Some(at + 1), Some(at + 2)]);
        }
    }
}
