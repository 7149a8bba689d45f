//! Exact token counts for OpenAI's families.
//!
//! An encoding takes some 50 MB and half a second when it is first used, so turns count by estimate and only what shows
//! or checks prompts counts exactly. `build.rs` packs the vocabularies.

use std::sync::OnceLock;

use limpid_prompt::{FixedCounter, TokenCounter};
use miniz_oxide::inflate::decompress_to_vec;
use rustc_hash::FxHashMap;
use tiktoken_rs::{CoreBPE, O200K_BASE_PAT_STR, Rank};

/// How `cl100k_base` cuts a text into the pieces that it looks up, as OpenAI's `tiktoken` defines it.
const CL100K_PIECES: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+",
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
);

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
        static CL100K: OnceLock<CoreBPE> = OnceLock::new();
        static O200K: OnceLock<CoreBPE> = OnceLock::new();
        match self.0 {
            Encoding::Cl100k => {
                CL100K.get_or_init(|| unpack(include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base")), CL100K_PIECES))
            }
            Encoding::O200k => O200K
                .get_or_init(|| unpack(include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base")), O200K_BASE_PAT_STR)),
        }
    }
}

/// An encoding for text, without special tokens. What is packed was built with the program and is whole.
#[expect(clippy::expect_used, reason = "the tests of this module unpack every vocabulary that there is")]
fn unpack(packed: &[u8], pieces: &str) -> CoreBPE {
    let words = decompress_to_vec(packed).expect("the vocabulary unpacks");
    let mut rest = words.as_slice();
    let tokens = std::iter::from_fn(|| {
        let (length, behind) = rest.split_first()?;
        let (token, behind) = behind.split_at_checked(usize::from(*length))?;
        rest = behind;
        Some(token.to_vec())
    });
    let ranks: FxHashMap<Vec<u8>, Rank> = tokens.zip(0..).collect();
    CoreBPE::new(ranks, FxHashMap::default(), pieces).expect("the pieces are a regular expression")
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

impl FixedCounter for ExactCounter {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tiktoken_rs::{cl100k_base_singleton, o200k_base_singleton};

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

    /// Both encodings know every token that their makers gave a rank, and no other.
    // PRO-024
    #[test]
    fn nothing_is_lost_by_packing() {
        for (counter, theirs) in [
            (ExactCounter(Encoding::Cl100k), cl100k_base_singleton()),
            (ExactCounter(Encoding::O200k), o200k_base_singleton()),
        ] {
            let ours = counter.encoder();
            let both = (0..200_000).map(|rank| (ours.decode_bytes(&[rank]).ok(), theirs.decode_bytes(&[rank]).ok()));
            // Special tokens come behind the first rank without a token.
            let known =
                both.take_while(|(_, theirs)| theirs.is_some()).inspect(|(ours, theirs)| assert_eq!(ours, theirs));
            let known = u32::try_from(known.count()).unwrap();
            assert!(known >= 100_256 && ours.decode_bytes(&[known]).is_err(), "{known}");
        }
    }

    proptest! {
        // PRO-024
        #[test]
        fn any_text_counts_as_it_does_there(text in r"(?s).{0,80}|([a-zA-Z']{1,9}[ \n\r\t]{0,4}|[0-9]{1,5}|\PC){0,30}") {
            for (counter, theirs) in [
                (ExactCounter(Encoding::Cl100k), cl100k_base_singleton()),
                (ExactCounter(Encoding::O200k), o200k_base_singleton()),
            ] {
                prop_assert_eq!(counter.encoder().encode_ordinary(&text), theirs.encode_ordinary(&text));
            }
        }
    }
}
