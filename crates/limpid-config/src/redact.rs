//! Known secrets are taken out of every text before it is stored or rendered, so that what is stored is what was sent.
//!
//! What is taken out of a guess confirms it: whoever wrote a list of passwords learns which one is right by the one that does not come
//! back, also where the owner repeats the list. So a secret that somebody could guess is taken out only where no guess stands: as the value of
//! a name in the owner's own files and what their programs print.

mod guessable;
mod stream;
mod value;

use std::sync::{Arc, PoisonError, RwLock};

use limpid_core::Trust;

use crate::environment::Environment;
use guessable::{is_guessable, looks_drawn};
pub use stream::StreamRedactor;
use value::is_value;

/// Shorter values are words that a text may hold by chance.
const MIN_SECRET: usize = 8;

/// Endings of the names of variables that hold secrets.
const ENDINGS: [&str; 4] = ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD"];

/// What a text is, which decides the secrets that are taken out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// What somebody typed or wrote, and what a model says or calls with. It may repeat a stranger's guesses.
    Said,
    /// What stands in a file of the owner's, or what a program of theirs printed.
    Owned,
    /// Why a service of the owner's failed, which it says itself and may quote the login in.
    Failure,
}

impl TextKind {
    /// The kind of a file, or of what a program printed, with this label.
    pub fn of_file(trust: Trust) -> Self {
        if trust.is_foreign() { Self::Said } else { Self::Owned }
    }
}

/// The secrets that the program knows. Clones share them, so one that is learned on the way is known everywhere.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Arc<RwLock<Arc<Known>>>,
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

    /// Whether it is taken out of a text of this kind, where it stands between these.
    fn is_taken_out(&self, kind: TextKind, before: &str, behind: &str) -> bool {
        self.is_drawn
            || match kind {
                TextKind::Said => false,
                TextKind::Owned => is_value(before, behind),
                TextKind::Failure => true,
            }
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
        Self { known: Arc::new(RwLock::new(Arc::new(secrets))) }
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

    /// A text that is said, with the name in the place of each secret that nobody guesses.
    pub fn clean(&self, text: String) -> String {
        self.clean_as(TextKind::Said, text)
    }

    /// A text of this kind, with the name in the place of each secret that is taken out of such texts.
    pub fn clean_as(&self, kind: TextKind, text: String) -> String {
        let known = self.known();
        if !known.iter().any(|secret| text.contains(&secret.value)) {
            return text;
        }
        let mut clean = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            let strikes = |secret: &&Secret| {
                let behind = text[at..].strip_prefix(secret.value.as_str());
                behind.is_some_and(|behind| secret.is_taken_out(kind, &text[..at], behind))
            };
            // The longest stands first.
            if let Some(secret) = known.iter().find(strikes) {
                clean.push_str(&secret.mark);
                at += secret.value.len();
            } else {
                clean.push(first);
                at += first.len_utf8();
            }
        }
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
        let variables = [("OPENAI_API_KEY", "sk-9f3kX2mQ7vB4tL8w"), ("HOUSE_KEY", "sk-9f3kX2mQ7vB4tL8w-house")];
        Redactor::new(&Environment::new(variables.map(|(name, value)| (name.to_owned(), value.to_owned()))), &[])
    }

    // SEC-032
    #[test]
    fn a_secret_is_found_wherever_a_stream_parts_it() {
        let texts = [
            (
                "is it sk-9f3kX2mQ7vB4tL8w-house or sk-9f3kX2mQ7vB4tL8w, or é sk-9f3kX?",
                "is it [secret HOUSE_KEY] or [secret OPENAI_API_KEY], or é sk-9f3kX?",
            ),
            ("it is sk-9f3kX2mQ7vB4tL8w", "it is [secret OPENAI_API_KEY]"),
            ("sk-9f3kX2mQ7vB4tL8w-house", "[secret HOUSE_KEY]"),
            ("sk-9f3kX2mQ7vB4tL8w-hou", "[secret OPENAI_API_KEY]-hou"),
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

    fn house() -> Redactor {
        let secrets = [
            ("NAS_PASSWORD", "hunter2029"),
            ("HOUSE_TOKEN", "0b9c1d2e-77aa-4f10-9c3e-1a2b3c4d5e6f"),
            ("DOOR_TOKEN", "hunter2029:kT#9f@Lw2%qZ8"),
            ("DOG_PASSWORD", "my dog is rex"),
        ];
        Redactor::new(&Environment::new(secrets.map(|(name, value)| (name.to_owned(), value.to_owned()))), &[])
    }

    // SEC-032 SEC-100
    #[test]
    fn a_guess_stays_in_whatever_is_said_and_what_nobody_guesses_does_not() {
        let guesses = "NAMES: letmein22, hunter2029 NAS_PASSWORD=hunter2029 {\"key\":\"hunter2029\"} http:\\\\a\\hunter2029 http://a/?q=hunter2029 \
                       smb://ada:hunter2029@nas\npassword: hunter2029\n";
        assert_eq!(house().clean(guesses.to_owned()), guesses);
        let mut stream = StreamRedactor::new(&house());
        assert_eq!([stream.take(guesses), stream.rest()].concat(), guesses);
        let drawn = "it is 0b9c1d2e-77aa-4f10-9c3e-1a2b3c4d5e6f or http://a/hunter2029:kT#9f@Lw2%qZ8.";
        for kind in [TextKind::Said, TextKind::Owned, TextKind::Failure] {
            let clean = house().clean_as(kind, drawn.to_owned());
            let expected = "it is [secret HOUSE_TOKEN] or http://a/[secret DOOR_TOKEN].";
            assert_eq!(clean, expected, "{kind:?}");
        }
        assert_eq!(
            house().clean_as(TextKind::Failure, "the password hunter2029 is wrong".to_owned()),
            "the password [secret NAS_PASSWORD] is wrong"
        );
    }

    // SEC-032 SEC-100
    #[test]
    fn in_the_owners_files_a_guessable_secret_is_taken_out_as_the_value_of_a_name_alone() {
        let clean = |text: &str| house().clean_as(TextKind::of_file(Trust::Owner), text.to_owned());
        let values = [
            "NAS_PASSWORD=hunter2029",
            "export NAS_PASSWORD='hunter2029'\r\n",
            "NAS_PASSWORD=hunter2029 ./run",
            "docker run -e \"NAS_PASSWORD=hunter2029\" tea",
            "nas:\n  password: hunter2029\n  user: ada",
            "- password: \"hunter2029\" # of the shelf",
            "password = \"hunter2029\"",
            "password = hunter2029",
            "[{\"a\": 1, \"password\": \"hunter2029\"}]",
            "{\\\"password\\\":\\\"hunter2029\\\"}",
            "nas = { user = 'ada', password = 'hunter2029' }",
            "{password: hunter2029}",
            "home/.env:3:NAS_PASSWORD=hunter2029",
        ];
        for text in values {
            let expected = text.replace("hunter2029", "[secret NAS_PASSWORD]");
            assert_eq!(clean(text), expected);
            assert_eq!(house().clean_as(TextKind::of_file(Trust::Outside), text.to_owned()), text);
        }
        assert_eq!(clean("dog: my dog is rex\n"), "dog: [secret DOG_PASSWORD]\n");
        let running = [
            "hunter2029",
            "letmein22 hunter2029 qwertyui9",
            "Which of these: letmein22, hunter2029, qwertyui9",
            "Try this one: hunter2029 or another",
            "my dog is rex",
            "http://a/?q=hunter2029",
            "http://a/?x=1&q=hunter2029",
            "smb://ada:hunter2029@nas",
            "http://a/k:hunter2029",
            "\"hunter2029\", \"letmein22\"",
            "NAMES=hunter2029letmein22",
            "=hunter2029",
            ": hunter2029",
        ];
        for text in running {
            assert_eq!(clean(text), text);
        }
    }

    // SEC-032
    #[test]
    fn a_stream_strikes_out_what_the_whole_text_does_wherever_it_is_parted() {
        let text = "hunter2029 smb://ada:hunter2029@nas/x http://a.b/hunter2029:kT#9f@Lw2%qZ8 0b9c1d2e-77aa-4f10-9c3e-1a2b3c4d5e6f@ hunter2029:kT";
        let whole = house().clean(text.to_owned());
        for at in 0..=text.len() {
            let mut stream = StreamRedactor::new(&house());
            let parts = [stream.take(&text[..at]), stream.take(&text[at..]), stream.rest()];
            assert_eq!(parts.concat(), whole, "parted at {at}");
        }
    }

    // PRO-052 SEC-032
    #[test]
    fn keys_are_replaced_by_their_names_and_nothing_else_is() {
        let variables = [
            ("OPENAI_API_KEY", "sk-9f3kX2mQ7vB4tL8w"),
            ("HOUSE", "sk-9f3kX2mQ7vB4tL8w-house"),
            ("SHORT_KEY", "abc"),
            ("PATH", "/usr/bin:/bin"),
        ];
        let environment = Environment::new(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let redactor = Redactor::new(&environment, &["HOUSE"]);
        let text = "a sk-9f3kX2mQ7vB4tL8w-house b sk-9f3kX2mQ7vB4tL8w c abc d /usr/bin:/bin";
        assert_eq!(redactor.clean(text.to_owned()), "a [secret HOUSE] b [secret OPENAI_API_KEY] c abc d /usr/bin:/bin");
    }
}
