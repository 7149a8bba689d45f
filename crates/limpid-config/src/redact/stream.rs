//! Secrets in a text that comes in pieces.

use super::{Redactor, Secret};

/// Letters behind a secret that are looked at to find out whether an address begins there: of a long word nobody waits for the end.
const LONGEST: usize = 2048;

/// A text that comes in pieces: a secret is found also where they part it.
#[derive(Clone, Default)]
pub struct StreamRedactor {
    redactor: Redactor,
    /// The end of what came, while it may be the beginning of a secret.
    held: String,
    word: Word,
}

impl StreamRedactor {
    /// Nothing has come yet.
    pub fn new(redactor: &Redactor) -> Self {
        Self { redactor: redactor.clone(), ..Self::default() }
    }

    /// Takes more text in and gives out what is sure to be no part of a secret, secrets replaced.
    pub fn take(&mut self, more: &str) -> String {
        self.held.push_str(more);
        self.given_out(false)
    }

    /// What is still held when nothing more comes. It may be a whole secret that a longer one begins with.
    pub fn rest(&mut self) -> String {
        self.given_out(true)
    }

    fn given_out(&mut self, is_end: bool) -> String {
        let held = std::mem::take(&mut self.held);
        let mut out = String::with_capacity(held.len());
        let mut rest = held.as_str();
        let known = self.redactor.known();
        while let Some(first) = rest.chars().next() {
            // The longest secret stands first, so one that may still become a longer one is waited for.
            let may_become = |secret: &Secret| secret.value.len() > rest.len() && secret.value.starts_with(rest);
            if !is_end && known.iter().any(may_become) {
                break;
            }
            let here = known.iter().filter_map(|secret| Some((secret, rest.strip_prefix(secret.value.as_str())?)));
            let mut judged = here.map(|(secret, behind)| (secret, behind, self.strikes(secret, behind, is_end)));
            match judged.find(|(.., strikes)| *strikes != Some(false)) {
                Some((.., None)) => break,
                Some((secret, behind, Some(_))) => {
                    out.push_str(&secret.mark);
                    self.word.last = secret.value.chars().last();
                    rest = behind;
                }
                None => {
                    out.push(first);
                    self.word.take(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        self.held = rest.to_owned();
        out
    }

    /// Whether a secret is taken out here, where this follows it; none while too little has come to say so. As the password of an address
    /// it is: such an address is never opened.
    fn strikes(&self, secret: &Secret, behind: &str, is_end: bool) -> Option<bool> {
        if secret.is_drawn {
            return Some(true);
        }
        if self.redactor.for_strangers {
            return Some(false);
        }
        if self.word.is_host && (behind.starts_with('@') || behind.is_empty() && !is_end) {
            return behind.starts_with('@').then_some(true);
        }
        if self.word.is_address {
            return Some(false);
        }
        let mut word = Word { last: secret.value.chars().last(), ..self.word.clone() };
        for (number, letter) in behind.chars().enumerate() {
            if word.is_address || number == LONGEST || word.ends_before(letter) {
                return Some(!word.is_address);
            }
            word.take(letter);
        }
        if word.is_address { Some(false) } else { is_end.then_some(true) }
    }
}

/// What is known of the word that a text ends with so far.
#[derive(Clone, Default)]
struct Word {
    last: Option<char>,
    /// How much of `://` it ends with.
    signs: usize,
    /// Whether it may be an address, however that is written: with a scheme or without one, escaped, or with the wrong strokes.
    is_address: bool,
    /// Whether it has come no further than the host of an address with a scheme, or what stands before that.
    is_host: bool,
}

impl Word {
    /// Whether another word begins at a letter. In JSON the end of a line is written out.
    fn ends_before(&self, letter: char) -> bool {
        letter.is_whitespace() || "\"<>`".contains(letter) || self.last == Some('\\') && "nrt".contains(letter)
    }

    fn take(&mut self, letter: char) {
        if self.ends_before(letter) {
            *self = Self::default();
            return;
        }
        let is_within = match self.last {
            Some('.') => letter.is_alphanumeric(),
            Some('\\') => true,
            _ => "/?%".contains(letter),
        };
        (self.is_host, self.signs) = match (letter, self.signs) {
            ('/', 2) => (true, 0),
            (':', _) => (self.is_host, 1),
            ('/', 1) => (false, 2),
            ('/' | '?' | '#', _) => (false, 0),
            _ => (self.is_host, 0),
        };
        self.is_address |= is_within;
        self.last = Some(letter);
    }
}
