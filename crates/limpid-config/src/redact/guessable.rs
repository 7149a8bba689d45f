//! Which secrets somebody could find by trying.

/// Letters that a token which somebody else gave has at least.
const SHORTEST_GIVEN: usize = 16;

/// How often a letter and a digit stand side by side in one.
const FEWEST_TURNS: usize = 2;

/// Letters of a word that stands among others without a blank, at least.
const SHORTEST_WORD: usize = 3;

/// So many consonants stand in a row in no word.
const UNSAID: usize = 6;

/// Whether a token is long, of the letters that RFC 6750 (section 2.1) has for one or that Microsoft's have beside them, and of letters and
/// digits in turns.
pub(super) fn looks_drawn(token: &str) -> bool {
    let is_token = |letter: char| letter.is_ascii_alphanumeric() || "-._~+/=!*$".contains(letter);
    let kinds: Vec<char> = token.chars().collect();
    let turns = kinds.windows(2).filter(|pair| {
        let digits = pair.iter().filter(|letter| letter.is_ascii_digit()).count();
        digits == 1 && pair.iter().all(char::is_ascii_alphanumeric)
    });
    token.len() >= SHORTEST_GIVEN && token.chars().all(is_token) && turns.count() >= FEWEST_TURNS
}

/// Whether somebody could find a secret by trying words and numbers: it is short, or each part of it is a word, a number or both.
pub(super) fn is_guessable(secret: &str) -> bool {
    let mut parts = secret.split(|letter: char| !letter.is_alphanumeric());
    secret.chars().count() < SHORTEST_GIVEN || parts.all(are_words)
}

/// Whether letters and digits are words and numbers. One word may be short, such as the name of who gave a token.
fn are_words(part: &str) -> bool {
    let words: Vec<&str> = part.split(char::is_numeric).filter(|word| !word.is_empty()).collect();
    let is_long = |word: &&str| word.chars().count() >= SHORTEST_WORD;
    words.iter().all(|word| is_word(word)) && (words.len() <= 1 || words.iter().all(is_long))
}

/// Whether letters look like a word, or like words that begin with capitals.
fn is_word(part: &str) -> bool {
    let letters: Vec<char> = part.chars().collect();
    let of_one_case =
        letters.iter().all(|letter| !letter.is_uppercase()) || letters.iter().all(|letter| !letter.is_lowercase());
    let words = letters.chunk_by(|_, next| !next.is_uppercase());
    let begins_words = || words.clone().all(|word| word.len() >= SHORTEST_WORD);
    let is_consonant = |letter: &char| letter.is_ascii_alphabetic() && !"aeiouyAEIOUY".contains(*letter);
    let can_be_said = !letters.windows(UNSAID).any(|run| run.iter().all(is_consonant));
    letters.iter().all(|letter| letter.is_alphabetic()) && can_be_said && (of_one_case || begins_words())
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-032 SEC-100
    #[test]
    fn what_could_be_guessed_is_short_or_made_of_words_and_numbers() {
        let guessable = [
            "hunter2029",
            "sk-test-0123456789",
            "correct-horse-battery-staple",
            "CorrectHorseBattery1",
            "my dog is called Rex, 2019",
            "MÜNCHEN-1972-1972",
            "kT#9f@Lw2%qZ",
            "winter2025summer2026",
            "Hunter2-Summer2026",
        ];
        let drawn = [
            "0b9c1d2e-77aa-4f10-9c3e-1a2b3c4d5e6f",
            "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
            "glpat-xxZyQpTtabcdefgh",
            "kT#9f@Lw2%qZ8&vB4xN1",
            "qzkvbnwtfhjrmlpd",
            "postgres://ada:Xk29fj3Kd@db",
        ];
        assert_eq!(guessable.map(is_guessable), [true; 9]);
        assert_eq!(drawn.map(is_guessable), [false; 6]);
    }
}
