//! Whether a name stands in what the owner typed.

use super::destination::folded;

/// Whether a whole name or address stands in a text, not only a part of a longer one. Case does not count.
pub fn names_whole(text: &str, name: &str) -> bool {
    let (text, name) = (folded(text), folded(name));
    !name.is_empty() && text.match_indices(&name).any(|(at, found)| is_whole(&text, at, at + found.len()))
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
        for name in ["example.com", "a@example.com", "ada@example.co", "13", "marais boutiqu", "", "eve", "bob\t"] {
            assert!(!names_whole(text, name), "{name}");
        }
        assert!(!names_whole("write to kate@example.com", "\u{212a}ate@example.com"), "another mailbox");
        assert!(!names_whole("see ada@example.com.evil.test", "ada@example.com"));
        assert!(!names_whole("not-bob, bobby and eve.bob", "bob"));
    }
}
