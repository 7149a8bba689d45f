//! Passwords and tokens.

use std::fmt;

/// A password or a token. Printing it shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes it; a line break at its end belongs to the file that it was read from.
    pub fn new(text: impl Into<String>) -> Self {
        let text: String = text.into();
        Self(text.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-032
    #[test]
    fn a_secret_is_not_printed() {
        let secret = Secret::new("hunter2 \n");
        assert_eq!(secret.reveal(), "hunter2 ");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }
}
