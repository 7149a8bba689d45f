//! Known secrets are taken out of every text before it is stored or rendered, so that what is stored is what was sent.

use std::sync::{Arc, PoisonError, RwLock};

use crate::environment::Environment;

/// Shorter values are words that a text may hold by chance.
const MIN_SECRET: usize = 8;

/// Letters that a token which somebody else gave has at least.
const SHORTEST_GIVEN: usize = 16;

/// How often a letter and a digit stand side by side in one.
const FEWEST_TURNS: usize = 2;

/// Endings of the names of variables that hold secrets.
const ENDINGS: [&str; 4] = ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD"];

/// The secrets that the program knows. Clones share them, so one that is learned on the way is known everywhere.
#[derive(Clone, Default)]
pub struct Redactor(Arc<RwLock<Arc<Known>>>);

/// Secrets with what is shown in their place, the longest first.
type Known = Vec<(String, String)>;

impl Redactor {
    /// Takes the values of variables that hold keys: by their name, or because the configuration says so.
    pub fn new(environment: &Environment, named: &[&str]) -> Self {
        let is_secret = |name: &str| named.contains(&name) || ENDINGS.iter().any(|ending| name.ends_with(ending));
        let mut secrets: Vec<(String, String)> = environment
            .iter()
            .filter(|(name, value)| value.len() >= MIN_SECRET && is_secret(name))
            .map(|(name, value)| (value.to_owned(), format!("[secret {name}]")))
            .collect();
        longest_first(&mut secrets);
        Self(Arc::new(RwLock::new(Arc::new(secrets))))
    }

    /// One secret more, which no variable holds.
    pub fn with(self, name: &str, value: &str) -> Self {
        self.learn(name, value);
        self
    }

    /// One secret more, for this and every clone.
    pub fn learn(&self, name: &str, value: &str) {
        if value.len() < MIN_SECRET || self.known().iter().any(|(known, _)| known == value) {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let known = Arc::make_mut(&mut known);
        known.push((value.to_owned(), format!("[secret {name}]")));
        longest_first(known);
    }

    /// A token that somebody else gave, for this and every clone. One that does not look drawn by lot is none that texts have to be kept
    /// from, and whoever gave it may have chosen it to strike words of the owner's out.
    pub fn learn_given(&self, name: &str, token: &str) {
        if looks_drawn(token) {
            self.learn(name, token);
        }
    }

    fn known(&self) -> Arc<Known> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The text with the name of each secret in its place.
    pub fn clean(&self, text: String) -> String {
        self.known().iter().fold(
            text,
            |text, (value, name)| {
                if text.contains(value) { text.replace(value, name) } else { text }
            },
        )
    }
}

/// Whether a token is long, of the letters that RFC 6750 (section 2.1) has for one or that Microsoft's have beside them, and of letters and
/// digits in turns.
fn looks_drawn(token: &str) -> bool {
    let is_token = |letter: char| letter.is_ascii_alphanumeric() || "-._~+/=!*$".contains(letter);
    let kinds: Vec<char> = token.chars().collect();
    let turns = kinds.windows(2).filter(|pair| {
        let digits = pair.iter().filter(|letter| letter.is_ascii_digit()).count();
        digits == 1 && pair.iter().all(char::is_ascii_alphanumeric)
    });
    token.len() >= SHORTEST_GIVEN && token.chars().all(is_token) && turns.count() >= FEWEST_TURNS
}

/// A secret may begin with another one.
fn longest_first(secrets: &mut [(String, String)]) {
    secrets.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
}

/// A text that comes in pieces: a secret is found also where they part it.
#[derive(Clone, Default)]
pub struct StreamRedactor {
    redactor: Redactor,
    /// The end of what came, while it may be the beginning of a secret.
    held: String,
}

impl StreamRedactor {
    /// Nothing has come yet.
    pub fn new(redactor: &Redactor) -> Self {
        Self { redactor: redactor.clone(), held: String::new() }
    }

    /// Takes more text in and gives out what is sure to be no part of a secret, secrets replaced.
    pub fn take(&mut self, more: &str) -> String {
        self.held.push_str(more);
        let mut out = String::with_capacity(self.held.len());
        let mut rest = self.held.as_str();
        let known = self.redactor.known();
        while let Some(first) = rest.chars().next() {
            // The longest secret stands first, so one that may still become a longer one is waited for.
            if known.iter().any(|(value, _)| value.len() > rest.len() && value.starts_with(rest)) {
                break;
            }
            let secret = known.iter().find(|(value, _)| rest.starts_with(value.as_str()));
            let taken = secret.map_or(first.len_utf8(), |(value, _)| value.len());
            match secret {
                Some((_, name)) => out.push_str(name),
                None => out.push(first),
            }
            rest = &rest[taken..];
        }
        self.held = rest.to_owned();
        out
    }

    /// What is still held when nothing more comes. It may be a whole secret that a longer one begins with.
    pub fn rest(&mut self) -> String {
        self.redactor.clean(std::mem::take(&mut self.held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Redactor {
        let variables = [("OPENAI_API_KEY", "sk-1234567890"), ("HOUSE_KEY", "sk-1234567890-house")];
        Redactor::new(&Environment::new(variables.map(|(name, value)| (name.to_owned(), value.to_owned()))), &[])
    }

    // SEC-032
    #[test]
    fn a_secret_is_found_wherever_a_stream_parts_it() {
        let texts = [
            (
                "is it sk-1234567890-house or sk-1234567890, or é sk-12345?",
                "is it [secret HOUSE_KEY] or [secret OPENAI_API_KEY], or é sk-12345?",
            ),
            ("it is sk-1234567890", "it is [secret OPENAI_API_KEY]"),
            ("sk-1234567890-house", "[secret HOUSE_KEY]"),
            ("sk-1234567890-hou", "[secret OPENAI_API_KEY]-hou"),
        ];
        for (whole, clean) in texts {
            assert_eq!(two().clean(whole.to_owned()), clean);
            let borders: Vec<usize> = whole.char_indices().map(|(at, _)| at).collect();
            for first in &borders {
                for second in borders.iter().filter(|second| *second >= first) {
                    let mut stream = StreamRedactor::new(&two());
                    let pieces = [&whole[..*first], &whole[*first..*second], &whole[*second..]];
                    let mut text: String = pieces.iter().map(|piece| stream.take(piece)).collect();
                    text.push_str(&stream.rest());
                    assert_eq!(text, clean, "{pieces:?}");
                }
            }
        }
    }

    // SEC-032
    #[test]
    fn a_token_that_somebody_gave_strikes_no_words_out() {
        let redactor = Redactor::default();
        let words = [
            " do not ",
            "https://",
            "do-not-delete-any-of-them",
            "2026-11-27-meeting-notes.md",
            "\", \"path\": \"a1b2c3",
        ];
        for token in words {
            redactor.learn_given("mcp login", token);
            assert_eq!(redactor.clean(token.to_owned()), token);
        }
        for token in [
            "eyJhbGciOiJIUzI1NiJ9.e30.Xz_4",
            "0b9c1d2e-77aa-4f10-9c3e-1a2b3c4d5e6f",
            "ya29.a0AfH6SMBx1y2z3",
            "M.C5_BAY.-Cs!a1b2*c$$",
        ] {
            redactor.learn_given("mcp login", token);
            assert_eq!(redactor.clean(format!("it is {token}.")), "it is [secret mcp login].");
        }
    }

    // PRO-052 SEC-032
    #[test]
    fn keys_are_replaced_by_their_names_and_nothing_else_is() {
        let variables = [
            ("OPENAI_API_KEY", "sk-1234567890"),
            ("HOUSE", "sk-1234567890-house"),
            ("SHORT_KEY", "abc"),
            ("PATH", "/usr/bin:/bin"),
        ];
        let environment = Environment::new(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let redactor = Redactor::new(&environment, &["HOUSE"]);
        let text = "a sk-1234567890-house b sk-1234567890 c abc d /usr/bin:/bin";
        assert_eq!(redactor.clean(text.to_owned()), "a [secret HOUSE] b [secret OPENAI_API_KEY] c abc d /usr/bin:/bin");
    }
}
