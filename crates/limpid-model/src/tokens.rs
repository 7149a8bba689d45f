//! Exact token counts for OpenAI's families (PRO-024).
//!
//! An encoding takes some 50 MB and half a second when it is first used, so turns count by estimate and only what shows
//! or checks prompts counts exactly.

use limpid_prompt::TokenCounter;
use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

/// Beginnings of the names of models, with any date or size behind, and their encoding; the first that fits holds.
const FAMILIES: [(&str, Encoding); 9] = [
    ("gpt-4o", Encoding::O200k),
    ("gpt-4.", Encoding::O200k),
    ("gpt-4", Encoding::Cl100k),
    ("gpt-3.5", Encoding::Cl100k),
    ("gpt-", Encoding::O200k),
    ("chatgpt-", Encoding::O200k),
    ("o1", Encoding::O200k),
    ("o3", Encoding::O200k),
    ("o4", Encoding::O200k),
];

/// Counts tokens exactly as a family of OpenAI's models does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExactCounter(Encoding);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Cl100k,
    O200k,
}

impl ExactCounter {
    /// The counter of the newest families, by which sizes are compared across models.
    pub const O200K: Self = Self(Encoding::O200k);

    /// The counter of a model by its name; none when its encoding is not known.
    ///
    /// ```
    /// use limpid_model::ExactCounter;
    /// use limpid_prompt::TokenCounter;
    /// assert_eq!(ExactCounter::of_model("gpt-5-mini").map(|counter| counter.count("hello world")), Some(2));
    /// assert_eq!(ExactCounter::of_model("claude-sonnet-4-5"), None);
    /// ```
    pub fn of_model(id: &str) -> Option<Self> {
        // Gateways put the maker's name in front.
        let name = id.rsplit('/').next().unwrap_or(id);
        FAMILIES.iter().find(|(start, _)| name.starts_with(start)).map(|(_, encoding)| Self(*encoding))
    }

    fn encoder(self) -> &'static CoreBPE {
        match self.0 {
            Encoding::Cl100k => cl100k_base_singleton(),
            Encoding::O200k => o200k_base_singleton(),
        }
    }
}

impl TokenCounter for ExactCounter {
    fn name(&self) -> &str {
        match self.0 {
            Encoding::Cl100k => "cl100k_base",
            Encoding::O200k => "o200k_base",
        }
    }

    fn count(&self, text: &str) -> usize {
        self.encoder().count_ordinary(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_have_their_encoding() {
        let names =
            ["gpt-5", "openai/gpt-4o-mini", "gpt-4.1", "gpt-4-turbo", "gpt-3.5-turbo", "o3-mini", "gpt-oss-20b"];
        let encodings: Vec<String> =
            names.iter().map(|name| ExactCounter::of_model(name).unwrap().name().to_owned()).collect();
        let (new, old) = ("o200k_base", "cl100k_base");
        assert_eq!(encodings, [new, new, new, old, old, new, new]);
        assert_eq!(ExactCounter::of_model("llama3.2"), None);
    }

    #[test]
    fn counts_are_the_encodings_own() {
        let text = "Tokens, naïvely: 東京 <|endoftext|> 🦀\n\n\n    indented";
        assert_eq!(ExactCounter::O200K.count(text), o200k_base_singleton().encode_ordinary(text).len());
        assert_eq!(ExactCounter::O200K.count(""), 0);
        // A text that spells a special token is text, not the token.
        assert!(ExactCounter::O200K.count("<|endoftext|>") > 1);
        assert_eq!(ExactCounter::of_model("gpt-4").map(|counter| counter.count("hello world")), Some(2));
    }
}
