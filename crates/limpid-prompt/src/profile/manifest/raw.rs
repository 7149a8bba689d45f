//! The keys of `profile.toml`.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, SeqAccess, Visitor};
use toml::Spanned;

use crate::profile::budget::PerTier;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    pub(super) title: Option<String>,
    pub(super) about: Option<String>,
    pub(super) base: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) budget: BTreeMap<String, Spanned<RawGroup>>,
    #[serde(default)]
    pub(super) words: BTreeMap<String, Vec<String>>,
    /// Read by itself, with the place of every value.
    #[serde(default)]
    #[expect(dead_code, reason = "the key is known, and its value is read elsewhere")]
    pub(super) behaviour: IgnoredAny,
    pub(super) groups: Option<BTreeMap<String, Spanned<Vec<String>>>>,
    #[serde(default)]
    pub(super) order: RawOrder,
    #[serde(default)]
    pub(super) tools: RawTools,
    #[serde(default)]
    pub(super) path: BTreeMap<String, Spanned<RawPath>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawOrder {
    pub(super) tools: Option<Vec<String>>,
    pub(super) files: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTools {
    pub(super) without: Option<Vec<String>>,
    pub(super) only: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawGroup {
    pub(super) limit: Spanned<RawLimit>,
    pub(super) overflow: RawOverflow,
    pub(super) paths: Option<Vec<Spanned<String>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RawOverflow {
    StopAll,
    Stop,
    Skip,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLimit {
    pub(super) tokens: Option<Amount>,
    pub(super) chars: Option<Amount>,
    pub(super) bytes: Option<Amount>,
    pub(super) window_percent: Option<u8>,
    #[serde(default)]
    pub(super) except: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPath {
    pub(super) title: Option<String>,
    pub(super) about: Option<String>,
    pub(super) tier: Option<Spanned<u8>>,
    #[serde(default)]
    pub(super) public: bool,
    pub(super) budget: Option<Spanned<RawLimit>>,
    pub(super) local_tools: Option<Vec<String>>,
    #[serde(default)]
    pub(super) messages: Vec<Spanned<RawMessage>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMessage {
    pub(super) when: Option<Spanned<String>>,
    pub(super) tools: Option<Vec<String>>,
    pub(super) role: Option<Spanned<String>>,
    pub(super) join: Option<String>,
    pub(super) end: Option<String>,
    pub(super) sections: Option<Vec<Spanned<String>>>,
    pub(super) budget: Option<Spanned<RawLimit>>,
    pub(super) splice: Option<Spanned<String>>,
    pub(super) only: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) except: Vec<Spanned<String>>,
}

/// A number, or a list with one number a tier.
pub(super) struct Amount(pub(super) PerTier);

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Numbers;

        impl<'de> Visitor<'de> for Numbers {
            type Value = Amount;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or a list of five: one a tier")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Amount, E> {
                let number = usize::try_from(number).map_err(|_| E::custom("a limit is not negative"))?;
                Ok(Amount(PerTier([number; 5])))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Amount, A::Error> {
                let mut numbers = Vec::new();
                while let Some(number) = seq.next_element::<usize>()? {
                    numbers.push(number);
                }
                let count = numbers.len();
                let numbers = <[usize; 5]>::try_from(numbers);
                numbers
                    .map(|numbers| Amount(PerTier(numbers)))
                    .map_err(|_| de::Error::custom(format!("a limit by tier has five numbers, not {count}")))
            }
        }

        deserializer.deserialize_any(Numbers)
    }
}
