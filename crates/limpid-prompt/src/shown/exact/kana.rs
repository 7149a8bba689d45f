//! Japanese: Kana and Han that are drawn the same are told apart by what stands around them.

use unicode_script::{Script, UnicodeScript as _};

/// Katakana, and the Han that is drawn the same.
const ALIKE: [(char, char); 7] =
    [('ニ', '二'), ('ハ', '八'), ('カ', '力'), ('ロ', '口'), ('タ', '夕'), ('エ', '工'), ('ー', '一')];

/// Han that is drawn as Katakana and that nobody writes by itself.
const RARE: &str = "丿乄亻匕厶囗彐礻卜";

/// Katakana, and the Hiragana that is drawn the same.
const AS_HIRAGANA: [(char, char); 3] = [('ヘ', 'へ'), ('ベ', 'べ'), ('ペ', 'ぺ')];

/// Marks the letters that would be taken for others of these scripts where they stand.
pub(super) fn mark(letters: &[char], odd: &mut [bool]) {
    for at in 0..letters.len() {
        odd[at] |= RARE.contains(letters[at]);
        // Katakana goes on behind these; a particle ends.
        let goes_on = letters.get(at + 1).is_some_and(|next| is_katakana(*next));
        odd[at] |=
            AS_HIRAGANA.iter().any(|(katakana, hiragana)| letters[at] == if goes_on { *hiragana } else { *katakana });
    }
    let mut at = 0;
    while at < letters.len() {
        let run = letters[at..].iter().take_while(|letter| is_katakana(**letter) || is_han(**letter)).count();
        let is_word = run > 1 || letters[at..at + run].iter().any(|letter| is_katakana(*letter) && !is_as_han(*letter));
        for place in at..at + run {
            odd[place] |= match letters[place] {
                'ー' if run == 1 => !is_drawl(letters, place),
                '一' if run == 1 => is_drawl(letters, place),
                letter if is_han(letter) => is_word,
                letter => is_as_han(letter) && !is_word,
            };
        }
        at += run.max(1);
    }
}

/// Whether a stroke makes the sound before it long: behind Hiragana, and before nothing that is counted.
fn is_drawl(letters: &[char], at: usize) -> bool {
    let is_behind = at > 0 && letters[at - 1].script() == Script::Hiragana;
    let is_counted = letters.get(at + 1).is_some_and(|next| *next == 'つ' || next.script() == Script::Han);
    is_behind && !is_counted
}

fn is_katakana(letter: char) -> bool {
    letter.script() == Script::Katakana || letter == 'ー'
}

fn is_as_han(letter: char) -> bool {
    ALIKE.iter().any(|(katakana, _)| *katakana == letter)
}

fn is_han(letter: char) -> bool {
    ALIKE.iter().any(|(_, han)| *han == letter)
}
