//! Secrets in a text that comes in pieces.

use super::{Redactor, Secret};

/// A text that is said and comes in pieces: a secret that nobody guesses is found also where they part it.
#[derive(Clone, Default)]
pub struct StreamRedactor {
    redactor: Redactor,
    /// The end of what came, while it may be the beginning of a secret.
    held: String,
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
        let drawn = || known.iter().filter(|secret| secret.is_drawn);
        while let Some(first) = rest.chars().next() {
            // The longest secret stands first, so one that may still become a longer one is waited for.
            let may_become = |secret: &Secret| secret.value.len() > rest.len() && secret.value.starts_with(rest);
            if !is_end && drawn().any(may_become) {
                break;
            }
            let mut here = drawn().filter_map(|secret| Some((secret, rest.strip_prefix(secret.value.as_str())?)));
            if let Some((secret, behind)) = here.next() {
                out.push_str(&secret.mark);
                rest = behind;
            } else {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        self.held = rest.to_owned();
        out
    }
}
