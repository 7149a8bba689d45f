//! A value as texts see it.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::inputs::{OutsideText, Quoted, TrustName};
use crate::scope::record::Record;

/// A value as texts see it, borrowed from the inputs wherever it stands there.
#[derive(Clone, Debug, PartialEq)]
pub enum View<'a> {
    /// Nothing.
    Absent,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Text that may stand in a prompt as it is.
    Text(Plain<'a>),
    /// Text that may only stand inside a boundary.
    Foreign(Foreign<'a>),
    /// Several values.
    List(Vec<View<'a>>),
    /// Something with fields.
    Record(Record<'a>),
}

/// Text that may stand in a prompt as it is: a word of Limpid's own, or a text of the owner's or of a file. It is made
/// with a label, or of a word that is known when the program is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain<'a> {
    text: Cow<'a, str>,
    /// Who wrote it; none for a word or a number of Limpid's own.
    trust: Option<TrustName>,
}

impl<'a> Plain<'a> {
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Who wrote it; what is Limpid's own is as good as a file of the owner's.
    pub(crate) fn trust(&self) -> TrustName {
        self.trust.unwrap_or(TrustName::File)
    }

    pub(crate) fn into_parts(self) -> (Cow<'a, str>, Option<TrustName>) {
        (self.text, self.trust)
    }
}

/// Text of a stranger. It cannot be displayed, compared or joined with other text outside this crate; inside it, only
/// the code that draws boundaries reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign<'a> {
    text: Cow<'a, str>,
    trust: TrustName,
}

impl<'a> Foreign<'a> {
    /// Who wrote it.
    pub fn trust(&self) -> TrustName {
        self.trust
    }

    /// Whether nothing but white space is there.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// The text, for whoever draws the boundary around it.
    pub(crate) fn raw(&self) -> &str {
        &self.text
    }
}

impl<'a> View<'a> {
    /// A word of Limpid's own, of which there are only so many.
    pub(crate) fn text(word: &'static str) -> Self {
        Self::Text(Plain { text: Cow::Borrowed(word), trust: None })
    }

    /// What stands in a file or a setting of the owner's, or in one that Limpid ships.
    pub(crate) fn file(text: impl Into<Cow<'a, str>>) -> Self {
        Self::labelled(text, TrustName::File)
    }

    /// The same, where there may be none.
    pub(crate) fn optional_file(text: Option<&'a str>) -> Self {
        Self::optional(text, TrustName::File)
    }

    /// A text with its label, where there may be none.
    pub(crate) fn optional(text: Option<&'a str>, trust: TrustName) -> Self {
        text.map_or(Self::Absent, |text| Self::labelled(text, trust))
    }

    pub(crate) fn quoted(text: Option<&'a Quoted>) -> Self {
        text.map_or(Self::Absent, |quoted| Self::labelled(&quoted.text, quoted.trust))
    }

    pub(crate) fn outside(text: &'a OutsideText) -> Self {
        Self::labelled(text.raw(), TrustName::Outside)
    }

    /// A text with its label: foreign when a guest or a stranger wrote it.
    pub(crate) fn labelled(text: impl Into<Cow<'a, str>>, trust: TrustName) -> Self {
        Self::by(text.into(), Some(trust))
    }

    fn by(text: Cow<'a, str>, trust: Option<TrustName>) -> Self {
        match trust {
            Some(trust) if trust.is_foreign() => Self::Foreign(Foreign { text, trust }),
            trust => Self::Text(Plain { text, trust }),
        }
    }

    pub(crate) fn int(number: impl TryInto<i64>) -> Self {
        Self::Int(number.try_into().unwrap_or(i64::MAX))
    }

    pub(crate) fn texts(texts: &'a [String], trust: TrustName) -> Self {
        Self::List(texts.iter().map(|text| Self::labelled(text, trust)).collect())
    }

    pub(crate) fn records(records: impl Iterator<Item = Record<'a>>) -> Self {
        Self::List(records.map(View::Record).collect())
    }

    /// Whether a gate takes the value for true: not absent, false, 0, an empty text or an empty list.
    pub fn is_true(&self) -> bool {
        match self {
            Self::Absent => false,
            Self::Bool(flag) => *flag,
            Self::Int(number) => *number != 0,
            Self::Text(plain) => !plain.text.is_empty(),
            Self::Foreign(foreign) => !foreign.text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Record(_) => true,
        }
    }

    /// Who wrote it; none for what is Limpid's own.
    pub(crate) fn trust(&self) -> Option<TrustName> {
        match self {
            Self::Text(plain) => plain.trust,
            Self::Foreign(foreign) => Some(foreign.trust),
            Self::Record(record) => Some(record.trust()),
            _ => None,
        }
    }

    /// The value as one text.
    pub(crate) fn flat(self) -> Self {
        match self {
            Self::Bool(flag) => Self::text(if flag { "true" } else { "false" }),
            Self::Int(number) => Self::by(number.to_string().into(), None),
            Self::List(items) => Self::joined(items, ", ", ""),
            Self::Record(_) => Self::Absent,
            other => other,
        }
    }

    /// Several values as one text, each behind `mark`; foreign when one of them is.
    pub(crate) fn joined(items: Vec<Self>, separator: &str, mark: &str) -> Self {
        let mut text = String::new();
        let mut trust: Option<TrustName> = None;
        let mut first = true;
        for item in items {
            let (piece, by) = match item.flat() {
                Self::Text(plain) => plain.into_parts(),
                Self::Foreign(foreign) => (foreign.text, Some(foreign.trust)),
                _ => continue,
            };
            trust = trust.into_iter().chain(by).reduce(TrustName::join);
            if !first {
                text.push_str(separator);
            }
            first = false;
            text.push_str(mark);
            text.push_str(&piece);
        }
        Self::by(text.into(), trust)
    }

    /// The value as a text that went through `change`; a foreign text stays foreign, an absent one absent.
    pub(crate) fn map_text(self, change: impl FnOnce(Cow<'a, str>) -> Cow<'a, str>) -> Self {
        match self.flat() {
            Self::Text(plain) => Self::by(change(plain.text), plain.trust),
            Self::Foreign(foreign) => Self::Foreign(Foreign { text: change(foreign.text), trust: foreign.trust }),
            other => other,
        }
    }

    /// Whether two values are the same; a foreign text equals a text of the same letters.
    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self.letters(), other.letters()) {
            (Some(left), Some(right)) => left == right,
            _ => self == other,
        }
    }

    /// Whether a list has the value, or a text contains it.
    pub(crate) fn holds(&self, needle: &Self) -> bool {
        match self {
            Self::List(items) => items.iter().any(|item| item.same(needle)),
            _ => false,
        }
    }

    /// The order in which `sort` puts values: numbers, texts by their letters, then all else as it stands.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }

    fn rank(&self) -> (u8, i64, &str) {
        match self {
            Self::Int(number) => (0, *number, ""),
            Self::Text(plain) => (1, 0, &plain.text),
            Self::Foreign(foreign) => (1, 0, &foreign.text),
            _ => (2, 0, ""),
        }
    }

    fn letters(&self) -> Option<&str> {
        match self {
            Self::Text(plain) => Some(&plain.text),
            Self::Foreign(foreign) => Some(&foreign.text),
            _ => None,
        }
    }
}
