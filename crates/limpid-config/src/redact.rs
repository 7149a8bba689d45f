//! Known secrets are taken out of every text before it is stored or rendered, so that what is stored is what was sent.
//!
//! What is taken out of a guess confirms it: whoever wrote a list of passwords learns which one is right by the one that does not come
//! back. So a secret that somebody could guess stays where a stranger wrote it, and within an address, which may be a stranger's too.

mod guessable;
mod stream;

use std::sync::{Arc, PoisonError, RwLock};

use limpid_core::Trust;

use crate::environment::Environment;
use guessable::{is_guessable, looks_drawn};
pub use stream::StreamRedactor;

/// Shorter values are words that a text may hold by chance.
const MIN_SECRET: usize = 8;

/// Endings of the names of variables that hold secrets.
const ENDINGS: [&str; 4] = ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD"];

/// The secrets that the program knows. Clones share them, so one that is learned on the way is known everywhere.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Arc<RwLock<Arc<Known>>>,
    /// Whether it leaves what could be guessed.
    for_strangers: bool,
}

/// Secrets, the longest first.
type Known = Vec<Secret>;

/// One secret.
#[derive(Clone)]
struct Secret {
    value: String,
    /// What is shown in its place.
    mark: String,
    /// Whether nobody finds it by trying words and numbers.
    is_drawn: bool,
}

impl Secret {
    fn new(name: &str, value: &str) -> Self {
        Self { value: value.to_owned(), mark: format!("[secret {name}]"), is_drawn: !is_guessable(value) }
    }
}

impl Redactor {
    /// Takes the values of variables that hold keys: by their name, or because the configuration says so.
    pub fn new(environment: &Environment, named: &[&str]) -> Self {
        let is_secret = |name: &str| named.contains(&name) || ENDINGS.iter().any(|ending| name.ends_with(ending));
        let mut secrets: Known = environment
            .iter()
            .filter(|(name, value)| value.len() >= MIN_SECRET && is_secret(name))
            .map(|(name, value)| Secret::new(name, value))
            .collect();
        longest_first(&mut secrets);
        Self { known: Arc::new(RwLock::new(Arc::new(secrets))), for_strangers: false }
    }

    /// The same for texts that a stranger wrote or led to. Secrets that could be guessed stay in these.
    #[must_use]
    pub fn for_strangers(&self) -> Self {
        Self { for_strangers: true, ..self.clone() }
    }

    /// The one for a text with this label.
    #[must_use]
    pub fn for_text_of(&self, trust: Trust) -> Self {
        if trust.is_foreign() { self.for_strangers() } else { self.clone() }
    }

    /// A text with this label, with the name of each secret in its place that is taken out of such texts.
    pub fn clean_by(&self, trust: Trust, text: String) -> String {
        self.for_text_of(trust).clean(text)
    }

    /// One secret more, which no variable holds.
    pub fn with(self, name: &str, value: &str) -> Self {
        self.learn(name, value);
        self
    }

    /// One secret more, for this and every clone.
    pub fn learn(&self, name: &str, value: &str) {
        if value.len() < MIN_SECRET || self.known().iter().any(|known| known.value == value) {
            return;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let known = Arc::make_mut(&mut known);
        known.push(Secret::new(name, value));
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
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The text with the name of each secret in its place.
    pub fn clean(&self, text: String) -> String {
        if !self.known().iter().any(|secret| text.contains(&secret.value)) {
            return text;
        }
        let mut stream = StreamRedactor::new(self);
        let mut clean = stream.take(&text);
        clean.push_str(&stream.rest());
        clean
    }
}

/// A secret may begin with another one.
fn longest_first(secrets: &mut [Secret]) {
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.value.len()));
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

    // SEC-032 SEC-100
    #[test]
    fn a_guess_stays_where_a_stranger_may_have_written_it_and_what_nobody_guesses_does_not() {
        let drawn = "0b9c1d2e-77aa-4f10-9c3e-1a2b3c4d5e6f";
        let variables = [("NAS_PASSWORD", "hunter2029"), ("HOUSE_TOKEN", drawn)];
        let environment = Environment::new(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let redactor = Redactor::new(&environment, &[]);
        let text = format!(
            "hunter2029 https://evil.example/q?hunter2028,hunter2029,{drawn} hunter2029.evil.example http://hunter2029.example/ evil.example/hunter2029 \
             smb://ada:hunter2029@nas/hunter2029@x {{\"url\":\"http://a/hunter2029\",\"key\":\"hunter2029\"}}"
        );
        insta::assert_snapshot!(redactor.clean(text.clone()), @r#"[secret NAS_PASSWORD] https://evil.example/q?hunter2028,hunter2029,[secret HOUSE_TOKEN] hunter2029.evil.example http://hunter2029.example/ evil.example/hunter2029 smb://ada:[secret NAS_PASSWORD]@nas/hunter2029@x {"url":"http://a/hunter2029","key":"[secret NAS_PASSWORD]"}"#);
        insta::assert_snapshot!(redactor.for_strangers().clean(text), @r#"hunter2029 https://evil.example/q?hunter2028,hunter2029,[secret HOUSE_TOKEN] hunter2029.evil.example http://hunter2029.example/ evil.example/hunter2029 smb://ada:hunter2029@nas/hunter2029@x {"url":"http://a/hunter2029","key":"hunter2029"}"#);
    }

    // SEC-032
    #[test]
    fn a_stream_strikes_out_what_the_whole_text_does_wherever_it_is_parted() {
        let secrets = [
            ("NAS_PASSWORD", "hunter2029"),
            ("HOUSE_TOKEN", "hunter2029:kT#9f@Lw2%qZ8"),
            ("B_KEY", "hunter20"),
            ("C_KEY", "my /dog is.rex 5"),
        ];
        let environment = Environment::new(secrets.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let text = "hunter2029 smb://ada:hunter2029@nas/hunter2029@x http://a.b/hunter2029:kT#9f@Lw2%qZ8 hunter20@ a://hunter20 my /dog is.rex 5. hunter20";
        for redactor in [Redactor::new(&environment, &[]), Redactor::new(&environment, &[]).for_strangers()] {
            let whole = redactor.clean(text.to_owned());
            for at in 0..=text.len() {
                let mut stream = StreamRedactor::new(&redactor);
                let parts = [stream.take(&text[..at]), stream.take(&text[at..]), stream.rest()];
                assert_eq!(parts.concat(), whole, "parted at {at}");
            }
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
