//! A value as texts see it.

use std::borrow::Cow;
use std::cmp::Ordering;

use limpid_core::Trust;

use crate::inputs::{OutsideText, TrustName};
use crate::template::{Name, Piece};

use super::{Record, Scope};

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
    Text(Cow<'a, str>),
    /// Text that may only stand inside a boundary.
    Foreign(Foreign<'a>),
    /// Several values.
    List(Vec<View<'a>>),
    /// Something with fields.
    Record(Record<'a>),
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
    pub(crate) fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    pub(crate) fn option(text: Option<&'a str>) -> Self {
        text.map_or(Self::Absent, Self::text)
    }

    pub(crate) fn outside(text: &'a OutsideText) -> Self {
        Self::labelled(text.raw(), TrustName::Outside)
    }

    /// A text with its label: foreign when a guest or a stranger wrote it.
    pub(crate) fn labelled(text: &'a str, trust: TrustName) -> Self {
        if Trust::from(trust).is_foreign() {
            Self::Foreign(Foreign { text: Cow::Borrowed(text), trust })
        } else {
            Self::text(text)
        }
    }

    pub(crate) fn int(number: impl TryInto<i64>) -> Self {
        Self::Int(number.try_into().unwrap_or(i64::MAX))
    }

    pub(crate) fn texts(texts: &'a [String]) -> Self {
        Self::List(texts.iter().map(|text| Self::text(text)).collect())
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
            Self::Text(text) => !text.is_empty(),
            Self::Foreign(foreign) => !foreign.text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Record(_) => true,
        }
    }

    /// Who wrote it.
    pub(crate) fn trust(&self) -> TrustName {
        match self {
            Self::Foreign(foreign) => foreign.trust,
            Self::Record(record) => record.trust(),
            _ => TrustName::Owner,
        }
    }

    /// The value of a field, or of a field of a field.
    pub(crate) fn at(self, path: &[String], scope: &Scope<'a>) -> Self {
        path.iter().fold(self, |value, name| match value {
            Self::Record(record) => record.field(name, scope),
            _ => Self::Absent,
        })
    }

    /// What printing the value writes; nothing for what is absent. A list without a filter is joined by commas.
    pub(crate) fn into_piece(self, name: Option<&'a Name>) -> Option<Piece<'a>> {
        match self.flat() {
            Self::Text(text) => (!text.is_empty()).then_some(Piece::Data(text, name)),
            Self::Foreign(foreign) => Some(Piece::Foreign(foreign, name)),
            _ => None,
        }
    }

    /// The value as one text.
    fn flat(self) -> Self {
        match self {
            Self::Bool(flag) => Self::text(if flag { "true" } else { "false" }),
            Self::Int(number) => Self::Text(number.to_string().into()),
            Self::List(items) => Self::joined(items, ", ", ""),
            Self::Record(_) => Self::Absent,
            other => other,
        }
    }

    /// Several values as one text, each behind `mark`; foreign when one of them is.
    pub(crate) fn joined(items: Vec<Self>, separator: &str, mark: &str) -> Self {
        let mut text = String::new();
        let mut trust = TrustName::Owner;
        let mut first = true;
        for item in items {
            let piece = match item.flat() {
                Self::Text(piece) => piece,
                Self::Foreign(foreign) => {
                    trust = Trust::from(trust).join(foreign.trust.into()).into();
                    foreign.text
                }
                _ => continue,
            };
            if !first {
                text.push_str(separator);
            }
            first = false;
            text.push_str(mark);
            text.push_str(&piece);
        }
        if Trust::from(trust).is_foreign() {
            Self::Foreign(Foreign { text: text.into(), trust })
        } else {
            Self::Text(text.into())
        }
    }

    /// The value as a text that went through `change`; a foreign text stays foreign, an absent one absent.
    pub(crate) fn map_text(self, change: impl FnOnce(Cow<'a, str>) -> Cow<'a, str>) -> Self {
        match self.flat() {
            Self::Text(text) => Self::Text(change(text)),
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
            Self::Text(text) => (1, 0, text),
            Self::Foreign(foreign) => (1, 0, &foreign.text),
            _ => (2, 0, ""),
        }
    }

    fn letters(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Foreign(foreign) => Some(&foreign.text),
            _ => None,
        }
    }
}
