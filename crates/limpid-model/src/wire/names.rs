//! Names of tools and of calls in the letters that a provider takes.
//!
//! The map is pure and always the same, so a call and its result stay a pair, and a conversation has the same bytes in every
//! request. A name that fits is left alone; one that does not keeps what it can and gets a hash of the whole behind it, so that
//! no two become one.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

/// Characters that a tool's name, or a call's, may have.
const MOST: usize = 64;

/// Which names a provider takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameRules {
    /// Names of calls.
    pub(crate) calls: CallNames,
    /// Whether a tool's name must begin with a letter.
    pub(crate) letter_first: bool,
}

/// Which names of calls a provider takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallNames {
    /// Any, or none are sent.
    Any,
    /// At most 64 characters.
    Short,
    /// Letters, digits, `_` and `-`.
    Plain,
    /// Nine letters or digits.
    Nine,
}

impl NameRules {
    /// A tool's name as the provider takes it: at most 64 letters, digits, `_` and `-`.
    pub(crate) fn tool(self, name: &str) -> Cow<'_, str> {
        let starts_well = !self.letter_first || name.starts_with(|first: char| first.is_ascii_alphabetic());
        if is_plain(name) && starts_well && name.len() <= MOST {
            return Cow::Borrowed(name);
        }
        let head = if starts_well { "" } else { "t_" };
        Cow::Owned(hashed(&format!("{head}{name}"), name))
    }

    /// A call's name as the provider takes it.
    pub(crate) fn call(self, id: &str) -> Cow<'_, str> {
        let fits = match self.calls {
            CallNames::Any => true,
            CallNames::Short => id.chars().count() <= MOST,
            CallNames::Plain => is_plain(id),
            CallNames::Nine => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        };
        match self.calls {
            _ if fits => Cow::Borrowed(id),
            CallNames::Nine => Cow::Owned(hash(id)[..9].to_owned()),
            CallNames::Any | CallNames::Short | CallNames::Plain => Cow::Owned(hashed(id, id)),
        }
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Whether a name begins with a letter or `_`.
pub(super) fn is_plain_start(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

/// A name in letters, digits, `_` and `-` behind these, which no other name becomes.
pub(super) fn with_hash(head: &str, name: &str) -> String {
    hashed(&format!("{head}{name}"), name)
}

/// The plain letters of a text, cut, with a hash of the whole name behind them.
fn hashed(text: &str, whole: &str) -> String {
    let plain = text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' });
    let head: String = plain.take(MOST - 9).collect();
    format!("{head}_{}", &hash(whole)[..8])
}

fn hash(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [CallNames; 4] = [CallNames::Any, CallNames::Short, CallNames::Plain, CallNames::Nine];

    // MOD-078 MOD-079
    #[test]
    fn a_name_that_fits_is_left_alone_and_another_keeps_what_it_can() {
        let rules = |calls| NameRules { calls, letter_first: false };
        let call = |id: &str| ALL.map(|calls| rules(calls).call(id).into_owned());
        let lines = [
            format!("{:?}", call("call_abc")),
            format!("{:?}", call("a1b2c3d4e")),
            format!("{:?}", call("fc:0/über")),
            rules(CallNames::Any).tool("mcp.server/read file").into_owned(),
            rules(CallNames::Any).tool("read_file").into_owned(),
            rules(CallNames::Any).tool("3d_print").into_owned(),
            NameRules { letter_first: true, ..rules(CallNames::Any) }.tool("3d_print").into_owned(),
            rules(CallNames::Any).tool(&"x".repeat(100)).into_owned(),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r#"
        ["call_abc", "call_abc", "call_abc", "ed01972d3"]
        ["a1b2c3d4e", "a1b2c3d4e", "a1b2c3d4e", "a1b2c3d4e"]
        ["fc:0/über", "fc:0/über", "fc_0__ber_880ca7f8", "880ca7f83"]
        mcp_server_read_file_95bac737
        read_file
        3d_print
        t_3d_print_2877fc6f
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_09ecb6eb
        "#);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        // MOD-078 MOD-079
        #[test]
        fn every_name_is_taken_and_no_two_become_one(
            one in "\\PC{0,90}",
            other in "[a-c._/ -]{0,4}",
            third in "[a-c._/ -]{0,4}",
            letter_first in any::<bool>(),
        ) {
            for calls in ALL {
                let rules = NameRules { calls, letter_first };
                for name in [&one, &other, &third] {
                    let tool = rules.tool(name);
                    prop_assert!(is_plain(&tool) && tool.len() <= MOST, "{tool}");
                    prop_assert!(!letter_first || tool.starts_with(|c: char| c.is_ascii_alphabetic()), "{tool}");
                    prop_assert_eq!(rules.tool(&tool), tool.clone(), "a name that was made fits");
                    let call = rules.call(name);
                    prop_assert_eq!(rules.call(&call), call.clone());
                    match calls {
                        CallNames::Any => prop_assert_eq!(&call, name),
                        CallNames::Short => prop_assert!(call.chars().count() <= MOST),
                        CallNames::Plain => prop_assert!(is_plain(&call), "{call}"),
                        CallNames::Nine => prop_assert!(call.len() == 9 && call.bytes().all(|b| b.is_ascii_alphanumeric())),
                    }
                }
                prop_assert_eq!(other == third, rules.tool(&other) == rules.tool(&third));
                prop_assert_eq!(other == third, rules.call(&other) == rules.call(&third));
            }
        }
    }
}
