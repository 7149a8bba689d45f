//! Whether a text holds the words of a search, and the place where it does.

/// Letters before the first word that was found.
const BEFORE: usize = 30;

/// Letters of a snippet.
const LONGEST: usize = 160;

/// Letters that a word of the text may lack at the end of the word that was searched for: "walks" is found by "walking".
const LACKING: usize = 3;

/// Letters of a word that must be there.
const SHORTEST: usize = 3;

/// A part of a snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it says.
    pub text: String,
    /// Whether it is a word that was searched for.
    pub is_found: bool,
}

/// The words of a search, in small letters.
pub fn search_words(query: &str) -> Vec<String> {
    let words = query.split_whitespace().map(str::to_lowercase);
    words.filter(|word| word.contains(char::is_alphanumeric)).collect()
}

/// Whether each of these words is in a text, perhaps with another ending.
pub fn holds(text: &str, words: &[String]) -> bool {
    let letters: Vec<char> = folded(text);
    words.iter().all(|word| first(&letters, word).is_some())
}

/// A line of the text around the first of these words, with all of them marked. Where none is found, its beginning.
pub fn snippet(text: &str, words: &[String]) -> Vec<Part> {
    let line: Vec<char> = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
    let small: Vec<char> = line.iter().map(|letter| small(*letter)).collect();
    let at = words.iter().filter_map(|word| first(&small, word)).map(|(at, _)| at).min().unwrap_or_default();
    let from = beginning(&line, at);
    let to = line.len().min(from + LONGEST);
    let mut is_found = vec![false; line.len()];
    for word in words {
        for (at, length) in all(&small, word) {
            is_found[at..at + length].fill(true);
        }
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut add = |letter: char, is_found: bool| match parts.last_mut() {
        Some(last) if last.is_found == is_found => last.text.push(letter),
        _ => parts.push(Part { text: letter.into(), is_found }),
    };
    if from > 0 {
        add('…', false);
    }
    (from..to).for_each(|at| add(line[at], is_found[at]));
    if to < line.len() {
        add('…', false);
    }
    parts
}

/// Where a snippet begins whose first word is at a place: at a word, and not long before.
fn beginning(line: &[char], at: usize) -> usize {
    let earliest = at.saturating_sub(BEFORE);
    if earliest == 0 {
        return 0;
    }
    (earliest..at).find(|at| line[at - 1] == ' ').unwrap_or(earliest)
}

fn folded(text: &str) -> Vec<char> {
    text.chars().map(small).collect()
}

/// A small letter, always one.
fn small(letter: char) -> char {
    let mut small = letter.to_lowercase();
    match (small.next(), small.next()) {
        (Some(small), None) => small,
        _ => letter,
    }
}

/// The first place of a word, and how many letters of it are there.
fn first(letters: &[char], word: &str) -> Option<(usize, usize)> {
    let word: Vec<char> = folded(word);
    let shortest = word.len().saturating_sub(LACKING).max(SHORTEST).min(word.len());
    (shortest..=word.len()).rev().find_map(|length| places(letters, &word[..length]).next().map(|at| (at, length)))
}

/// All places of a word, with as many letters of it as its first place has.
fn all(letters: &[char], word: &str) -> Vec<(usize, usize)> {
    let word: Vec<char> = folded(word);
    let Some((_, length)) = first(letters, &word.iter().collect::<String>()) else { return Vec::new() };
    places(letters, &word[..length]).map(|at| (at, length)).collect()
}

/// Where a word of the text begins with these letters. In scripts without spaces a word begins anywhere.
fn places<'a>(letters: &'a [char], word: &'a [char]) -> impl Iterator<Item = usize> + 'a {
    let begins = |at: usize| at == 0 || !letters[at].is_ascii_alphanumeric() || !letters[at - 1].is_alphanumeric();
    let most = (letters.len() + 1).saturating_sub(word.len().max(1));
    (0..most).filter(move |at| letters[*at..].starts_with(word) && begins(*at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, query: &str) -> String {
        let parts = snippet(text, &search_words(query));
        parts.iter().map(|part| if part.is_found { format!("[{}]", part.text) } else { part.text.clone() }).collect()
    }

    // SUR-020
    #[test]
    fn a_snippet_is_a_line_around_the_first_word_and_marks_all() {
        let table = [
            ("The train to Bern leaves at ten.", "BERN train", "The [train] to [Bern] leaves at ten."),
            ("a\n\n  b   tea\tc", "te", "a b [te]a c"),
            ("He walks.", "walking", "He [walk]s."),
            ("restrain the train", "train", "restrain the [train]"),
            ("nothing of it", "tea", "nothing of it"),
            ("我们明天去北京", "北京", "我们明天去[北京]"),
            ("", "tea", ""),
            ("İstanbul ist", "ist", "İstanbul [ist]"),
        ];
        for (text, query, expected) in table {
            assert_eq!(shown(text, query), expected, "{text} / {query}");
        }
        let long = format!("{} needle {}", "hay ".repeat(100), "straw ".repeat(100));
        let seen = shown(&long, "needle");
        assert!(seen.starts_with("…hay ") && seen.contains(" [needle] straw") && seen.ends_with('…'), "{seen}");
        assert!(seen.chars().count() <= LONGEST + 4, "{seen}");
    }

    // SUR-020
    #[test]
    fn a_text_holds_words_at_their_beginnings_whatever_their_endings() {
        let holds = |text: &str, query: &str| holds(text, &search_words(query));
        assert!(holds("Tea and milk", "milk TEA"));
        assert!(!holds("Tea and milk", "tea sugar"));
        assert!(!holds("steam", "tea"));
        assert!(holds("walked", "walking") && !holds("wall", "walking"));
        assert!(!holds("", "a") && holds("", "… —"));
    }
}
