//! Whether a text stands in what the owner typed.

/// Marks around a text that is meant word for word.
const QUOTES: [(char, char); 6] = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('‘', '’'), ('«', '»')];

/// Whether a whole name or address stands in a text, not only a part of a longer one. Case does not count.
pub fn names_whole(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.trim().to_lowercase());
    !name.is_empty() && text.match_indices(&name).any(|(at, found)| is_whole(&text, at, at + found.len()))
}

/// Whether a text stands word for word in another one as something that is meant so: in quotes, or behind a colon to the
/// end of a line.
pub fn quotes_whole(text: &str, words: &str) -> bool {
    let words = words.trim();
    let is_quoted = |at: usize| {
        let (before, after) = (&text[..at], &text[at + words.len()..]);
        let in_quotes = QUOTES.iter().any(|(open, close)| before.ends_with(*open) && after.starts_with(*close));
        let ends_line = after.trim_start_matches([' ', '\t']).starts_with(['\n', '\r']) || after.trim().is_empty();
        in_quotes || (ends_line && before.trim_end().ends_with(':'))
    };
    !words.is_empty() && text.match_indices(words).any(|(at, _)| is_quoted(at))
}

/// Whether nothing of an address or a word goes on before and behind a place.
fn is_whole(text: &str, from: usize, to: usize) -> bool {
    let goes_on = |letter: char| letter.is_alphanumeric() || "_@-+/".contains(letter);
    let mut after = text[to..].chars();
    let (before, next) = (text[..from].chars().next_back(), after.next());
    let goes_on_behind = match next {
        // A full stop ends a sentence, or a part of a name.
        Some('.') => after.next().is_some_and(char::is_alphanumeric),
        next => next.is_some_and(goes_on),
    };
    !before.is_some_and(|letter| goes_on(letter) || letter == '.') && !goes_on_behind
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-070
    #[test]
    fn a_name_counts_when_it_stands_there_whole() {
        let text = "Write to Ada@example.com, then to 'Le Marais Boutique' and file 13-b. Ask bob.";
        for name in ["ada@example.com", "Le Marais Boutique", "bob", "13-b"] {
            assert!(names_whole(text, name), "{name}");
        }
        for name in ["example.com", "a@example.com", "ada@example.co", "13", "marais boutiqu", "", " ", "eve"] {
            assert!(!names_whole(text, name), "{name}");
        }
        assert!(!names_whole("see ada@example.com.evil.test", "ada@example.com"));
        assert!(!names_whole("not-bob, bobby and eve.bob", "bob"));
    }

    // SEC-070
    #[test]
    fn words_count_when_they_are_meant_word_for_word() {
        let text =
            "Tell Ada \"I am late\" and “see you”. Then post to general: Hi, i am a bot\nDo not tell Bob anything.";
        for words in ["I am late", "see you", "Hi, i am a bot"] {
            assert!(quotes_whole(text, words), "{words}");
        }
        for words in ["late", "am a bot", "Do not tell Bob anything", "anything", "", "general"] {
            assert!(!quotes_whole(text, words), "{words}");
        }
    }
}
