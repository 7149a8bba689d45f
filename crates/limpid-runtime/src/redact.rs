//! Known secrets are taken out of every text before it is stored or rendered, so that what is stored is what was sent
//! (PRO-052, SEC-032).

use crate::world::Environment;

/// Shorter values are words that a text may hold by chance.
const MIN_SECRET: usize = 8;

/// Endings of the names of variables that hold secrets.
const ENDINGS: [&str; 4] = ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD"];

/// The secrets that the program knows.
#[derive(Clone, Default)]
pub(crate) struct Redactor(Vec<(String, String)>);

impl Redactor {
    /// Takes the values of variables that hold keys: by their name, or because the configuration says so.
    pub(crate) fn new(environment: &Environment, named: &[&str]) -> Self {
        let is_secret = |name: &str| named.contains(&name) || ENDINGS.iter().any(|ending| name.ends_with(ending));
        let mut secrets: Vec<(String, String)> = environment
            .iter()
            .filter(|(name, value)| value.len() >= MIN_SECRET && is_secret(name))
            .map(|(name, value)| (value.to_owned(), format!("[secret {name}]")))
            .collect();
        // A secret may begin with another one.
        secrets.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        Self(secrets)
    }

    /// The text with the name of each secret in its place.
    pub(crate) fn clean(&self, text: String) -> String {
        self.0.iter().fold(
            text,
            |text, (value, name)| {
                if text.contains(value) { text.replace(value, name) } else { text }
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
