//! Arguments of a call as plain values, and patterns that the owner writes for them.
//!
//! A pattern is compared with parsed arguments, value by value, never with a part of a text. One that lets something pass
//! is strict: what it does not name must not be there. One that holds something back is not: nothing that is added gets
//! around it.

use std::fmt;

use crate::stars::fits;

/// One argument, or all of them.
#[derive(Clone, PartialEq, Eq)]
pub enum Argument {
    /// A text, or a number or word as its text.
    Text(String),
    /// A list.
    List(Vec<Argument>),
    /// Named values.
    Fields(Vec<(String, Argument)>),
}

impl fmt::Debug for Argument {
    /// As it would be written in a rule: no two arguments look the same.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(out, "{text:?}"),
            Self::List(items) => out.debug_list().entries(items).finish(),
            Self::Fields(fields) => {
                let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name} = {value:?}")).collect();
                write!(out, "{{ {} }}", fields.join(", "))
            }
        }
    }
}

impl Argument {
    /// The bytes of all that can say something: its texts, the names of its fields, and one for each list and each field.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::List(items) => items.iter().map(|item| item.bytes() + 1).sum::<u64>() + 1,
            Self::Fields(fields) => fields.iter().map(|(name, value)| name.len() as u64 + value.bytes() + 1).sum(),
        }
    }
}

/// What an argument has to look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentPattern {
    /// Exactly this text; `*` is any one text. In a pattern that holds something back, a `*` within is any letters.
    Text(String),
    /// A list of exactly this many; a last `**` stands for any rest.
    List(Vec<ArgumentPattern>),
    /// Exactly these fields.
    Fields(Vec<(String, ArgumentPattern)>),
}

impl ArgumentPattern {
    /// The fields that have to be texts, with these.
    pub fn texts(&self) -> Vec<(String, String)> {
        let Self::Fields(fields) = self else { return Vec::new() };
        let text = |(name, pattern): &(String, Self)| match pattern {
            Self::Text(text) => Some((name.clone(), text.clone())),
            Self::List(_) | Self::Fields(_) => None,
        };
        fields.iter().filter_map(text).collect()
    }

    /// Whether an argument looks like this.
    ///
    /// ```
    /// use limpid_core::policy::{Argument, ArgumentPattern};
    /// let text = |text: &str| Argument::Text(text.to_owned());
    /// let pattern = |text: &str| ArgumentPattern::Text(text.to_owned());
    /// let rule = ArgumentPattern::List(vec![pattern("cargo"), pattern("test"), pattern("**")]);
    /// assert!(rule.matches(&Argument::List(vec![text("cargo"), text("test"), text("--lib")])));
    /// assert!(!rule.matches(&Argument::List(vec![text("cargo"), text("testament")])));
    /// ```
    pub fn matches(&self, argument: &Argument) -> bool {
        self.fits(argument, Unnamed::MustNotBe)
    }

    /// Whether an argument looks like this as far as the pattern says: fields that it does not name may be there too.
    ///
    /// ```
    /// use limpid_core::policy::{Argument, ArgumentPattern};
    /// let field = |name: &str| (name.to_owned(), Argument::Text("x".to_owned()));
    /// let rule = ArgumentPattern::Fields(vec![("path".to_owned(), ArgumentPattern::Text("*".to_owned()))]);
    /// let more = Argument::Fields(vec![field("path"), field("limit")]);
    /// assert!(rule.concerns(&more) && !rule.matches(&more));
    /// ```
    pub fn concerns(&self, argument: &Argument) -> bool {
        self.fits(argument, Unnamed::MayBe)
    }

    fn fits(&self, argument: &Argument, unnamed: Unnamed) -> bool {
        let all = |wanted: &[Self], items: &[Argument]| {
            wanted.iter().zip(items).all(|(wanted, item)| wanted.fits(item, unnamed))
        };
        match (self, argument) {
            (Self::Text(any), Argument::Text(_)) if any == "*" => true,
            (Self::Text(wanted), Argument::Text(text)) => {
                wanted == text || unnamed == Unnamed::MayBe && is_like(text, wanted)
            }
            // Whoever holds back one of several writes it alone.
            (Self::Text(_) | Self::Fields(_), Argument::List(items)) if unnamed == Unnamed::MayBe => {
                items.iter().any(|item| self.fits(item, unnamed))
            }
            (Self::List(wanted), Argument::List(items)) => match wanted.split_last() {
                Some((Self::Text(rest), first)) if rest == "**" => first.len() <= items.len() && all(first, items),
                _ => wanted.len() == items.len() && all(wanted, items),
            },
            (Self::Fields(wanted), Argument::Fields(fields)) => {
                let find = |name: &str| fields.iter().find(|(field, _)| field == name).map(|(_, value)| value);
                (unnamed == Unnamed::MayBe || wanted.len() == fields.len())
                    && wanted.iter().all(|(name, pattern)| find(name).is_some_and(|value| pattern.fits(value, unnamed)))
            }
            _ => false,
        }
    }
}

/// Whether a text is a pattern's with stars. Its capitals say nothing: a call is compared in small letters, too.
fn is_like(text: &str, pattern: &str) -> bool {
    pattern.contains('*') && (fits(pattern, text) || fits(&pattern.to_lowercase(), text))
}

/// What of fields that a pattern does not name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unnamed {
    MustNotBe,
    MayBe,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(words: &[&str]) -> Argument {
        let words = words.iter().map(|word| Argument::Text((*word).to_owned())).collect();
        Argument::Fields(vec![("command".to_owned(), Argument::List(words))])
    }

    fn rule(words: &[&str]) -> ArgumentPattern {
        let words = words.iter().map(|word| ArgumentPattern::Text((*word).to_owned())).collect();
        ArgumentPattern::Fields(vec![("command".to_owned(), ArgumentPattern::List(words))])
    }

    // SEC-071
    #[test]
    fn a_star_within_a_text_holds_back_and_lets_nothing_pass() {
        let text = |text: &str| Argument::Text(text.to_owned());
        let table = [
            ("*.md", "a.md", true),
            ("*.md", "docs/a.md", true),
            ("*.md", "a.txt", false),
            ("docs/*", "docs/a/b", true),
            ("docs/*", "doc", false),
            ("a*b*c", "a1b2b3c", true),
            ("a*b*c", "acb", false),
            ("ab*ba", "aba", false),
            ("a**", "a", true),
        ];
        for (pattern, value, expected) in table {
            let pattern = ArgumentPattern::Text(pattern.to_owned());
            assert_eq!(pattern.concerns(&text(value)), expected, "{pattern:?} {value}");
            assert!(!pattern.matches(&text(value)), "{pattern:?} {value}");
        }
    }

    // SEC-071
    #[test]
    fn one_of_several_is_held_back_and_lets_nothing_pass() {
        let path = |path: &str| Argument::Fields(vec![("path".to_owned(), Argument::Text(path.to_owned()))]);
        let private = || ArgumentPattern::Text("private".to_owned());
        let one = ArgumentPattern::Fields(vec![("path".to_owned(), private())]);
        let rule = ArgumentPattern::Fields(vec![("targets".to_owned(), one)]);
        for (targets, is_held) in [
            (vec![path("tea"), path("private")], true),
            (vec![Argument::List(vec![path("private")])], true),
            (vec![path("tea")], false),
            (vec![], false),
        ] {
            let call = Argument::Fields(vec![("targets".to_owned(), Argument::List(targets))]);
            assert_eq!(rule.concerns(&call), is_held, "{call:?}");
            assert!(!rule.matches(&call), "{call:?}");
        }
    }

    // SEC-070
    #[test]
    fn all_that_can_say_something_counts() {
        let text = |text: &str| Argument::Text(text.to_owned());
        let fields = |name: &str, value| Argument::Fields(vec![(name.to_owned(), value)]);
        assert_eq!(fields("note", text("four")).bytes(), 9, "a name says something where a server takes any");
        assert_eq!(fields("labels", fields("the PIN", text(""))).bytes(), 15);
        let bits = [1, 0, 1].map(|bit| Argument::List(vec![Argument::List(Vec::new()); bit]));
        assert!(fields("rows", Argument::List(bits.to_vec())).bytes() >= 5, "nor is nothing free");
    }

    // LES-136
    #[test]
    fn nothing_but_the_very_command_matches() {
        let allowed = rule(&["git", "log", "*"]);
        assert!(allowed.matches(&command(&["git", "log", "--oneline"])));
        let tricks: [&[&str]; 8] = [
            &["git", "log"],
            &["git", "log", "-1", "--output=/etc/passwd"],
            &["env", "git", "log", "-1"],
            &["sh", "-c", "git log -1"],
            &["git log", "-1", ""],
            &["git", "log; rm -rf /", "-1"],
            &["~/git", "log", "-1"],
            &["/tmp/git", "log", "-1"],
        ];
        for trick in tricks {
            assert!(!allowed.matches(&command(trick)), "{trick:?}");
        }
        let Argument::Fields(mut fields) = command(&["git", "log", "-1"]) else { return };
        fields.push(("folder".to_owned(), Argument::Text("/etc".to_owned())));
        let more = Argument::Fields(fields);
        assert!(!allowed.matches(&more), "an argument that the rule does not name");
        assert!(allowed.concerns(&more), "and what is held back is held back whatever is added");
        assert!(!allowed.concerns(&command(&["git", "log"])));
    }

    #[test]
    fn a_rest_may_be_empty_and_shapes_never_mix() {
        assert!(rule(&["ls", "**"]).matches(&command(&["ls"])));
        assert!(rule(&["ls", "**"]).matches(&command(&["ls", "-l", "/"])));
        assert!(!rule(&["ls", "**"]).matches(&command(&["jq", "env"])));
        assert!(!ArgumentPattern::Text("*".to_owned()).matches(&command(&["ls"])));
        assert!(!rule(&["ls"]).matches(&Argument::Text("ls".to_owned())));
    }
}
