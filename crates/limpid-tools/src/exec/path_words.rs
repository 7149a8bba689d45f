//! What of the words of a command may be a path.

/// Parts of a word that are looked at. What is named beyond them, the kernel keeps from a program with the network.
const PARTS: usize = 200;

/// Bytes of the longest path.
const LONGEST: usize = 4096;

/// Behind these signs a path may begin within a word.
const SIGNS: [char; 4] = ['=', ':', ',', '@'];

/// The words of a word: a text for a shell has several, between blanks and signs.
pub(super) fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let signs = |letter: char| letter.is_whitespace() || "\"'`;|&<>()$={}".contains(letter);
    std::iter::once(word).chain(word.split(signs).filter(move |piece| *piece != word)).take(PARTS)
}

/// What of a word may be a path: the whole, what stands before or behind a sign, and what follows the letter of an option.
pub(super) fn parts(word: &str) -> impl Iterator<Item = &str> {
    let behind_signs = word.match_indices(SIGNS).filter_map(|(at, sign)| word.get(at + sign.len()..));
    let behind_letter = word.strip_prefix('-').and_then(|option| option.get(1..));
    let parts = std::iter::once(word).chain(behind_letter).chain(word.split(SIGNS)).chain(behind_signs);
    parts.filter(|part| !part.is_empty() && part.len() <= LONGEST).take(PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-075
    #[test]
    fn a_text_for_a_shell_has_words_in_a_word() {
        let found = |word: &str, path: &str| pieces(word).flat_map(parts).any(|part| part == path);
        let words = ["cat ../a", "x=../a;y", "python3 '../a'", "awk -f../a|sort", "../a"];
        assert_eq!(words.into_iter().filter(|word| !found(word, "../a")).collect::<Vec<_>>(), [""; 0]);
    }

    // SEC-058
    #[test]
    fn a_path_is_found_in_a_word_behind_signs_and_letters() {
        let found = |word: &str, path: &str| parts(word).any(|part| part == path);
        let words = ["../a", "-C../a", "--file=../a", "x:../a", "../a:x", "@../a", "-I=../a", "one,../a,two"];
        assert_eq!(words.into_iter().filter(|word| !found(word, "../a")).collect::<Vec<_>>(), [""; 0]);
        assert!(parts(&":".repeat(1 << 20)).count() <= PARTS);
    }
}
