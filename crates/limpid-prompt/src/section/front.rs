//! Front matter: where it ends, and what it may say.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_saphyr::Spanned;

use super::stability::Stability;
use crate::problem::Fault;

/// The two halves of a Markdown file.
#[derive(Debug, PartialEq)]
pub(crate) struct Halves {
    /// The front matter, without its fences; none when the file has none.
    pub(crate) front: Option<Range<usize>>,
    /// The body, without line breaks at its ends.
    pub(crate) body: Range<usize>,
}

/// Finds the front matter of a file. A file whose front matter does not end is only half there.
pub(crate) fn split(text: &str) -> Result<Halves, Fault> {
    let mut lines = text.split_inclusive('\n');
    let opening = lines.next().unwrap_or_default();
    if opening.trim_end() != FENCE {
        return Ok(Halves { front: None, body: inner(text, 0) });
    }
    let mut at = opening.len();
    for line in lines {
        if line.trim_end() == FENCE {
            return Ok(Halves { front: Some(opening.len()..at), body: inner(text, at + line.len()) });
        }
        at += line.len();
    }
    Err(Fault::new(0..FENCE.len(), "the front matter does not end", "close it with a line `---`"))
}

const FENCE: &str = "---";

/// What is left of a text from `start` on when the line breaks at its ends are gone.
fn inner(text: &str, start: usize) -> Range<usize> {
    let body = text[start..].trim_end_matches('\n');
    let first = start + (body.len() - body.trim_start_matches('\n').len());
    first..first.max(start + body.len())
}

/// What the front matter of a section may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Front {
    pub(crate) title: Option<String>,
    pub(crate) why: Option<String>,
    pub(crate) when: Option<Spanned<String>>,
    pub(crate) stability: Stability,
    pub(crate) entries: Option<Spanned<String>>,
    pub(crate) entry: Option<Spanned<String>>,
    pub(crate) join: Option<String>,
    pub(crate) first: Option<Spanned<usize>>,
    pub(crate) last: Option<Spanned<usize>>,
    pub(crate) lists: Option<Spanned<Ordered<List>>>,
    pub(crate) budget: Option<Spanned<String>>,
    pub(crate) drop: Option<Spanned<Drop>>,
    pub(crate) trim: Option<Spanned<Trim>>,
    pub(crate) keep: Option<Spanned<usize>>,
    pub(crate) from: Option<Spanned<String>>,
    /// Read by [`says_public`](crate::front_matter::says_public).
    #[serde(rename = "public")]
    _public: bool,
}

/// One of several lists.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    pub(crate) of: Spanned<String>,
    pub(crate) entry: Spanned<String>,
    pub(crate) join: Option<String>,
    pub(crate) first: Option<Spanned<usize>>,
    pub(crate) last: Option<Spanned<usize>>,
}

/// `never`, or a number.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Drop {
    At(u8),
    Word(Never),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Never {
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Trim {
    Entries,
    Paragraphs,
}

/// What the front matter of a tool may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ToolFront {
    pub(crate) parameters: Ordered<String>,
    pub(crate) words: Vec<String>,
    pub(crate) with: Vec<String>,
    /// Read by [`says_public`](crate::front_matter::says_public).
    #[serde(rename = "public")]
    _public: bool,
}

/// A map in the order of its file.
#[derive(Debug)]
pub(crate) struct Ordered<T>(pub(crate) Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Rows<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Rows<T> {
            type Value = Ordered<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut rows = Vec::new();
                while let Some(row) = map.next_entry()? {
                    rows.push(row);
                }
                Ok(Ordered(rows))
            }
        }

        deserializer.deserialize_map(Rows(PhantomData))
    }
}

/// Reads front matter that stands at `range` of a file.
pub(crate) fn read<'de, T: Deserialize<'de> + Default>(text: &'de str, range: Range<usize>) -> Result<T, Fault> {
    let yaml = &text[range.clone()];
    if yaml.trim().is_empty() {
        return Ok(T::default());
    }
    crate::front_matter::yaml(yaml).map_err(|error| {
        let error = error.without_snippet();
        let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
        let start = range.start + offset(yaml, line as usize, column as usize);
        let message = error.to_string();
        let message = message.lines().next().unwrap_or_default();
        let message = message.split(" at line ").next().unwrap_or_default();
        // What follows is advice to programmers.
        let message = message.split(", set ").next().unwrap_or_default();
        let word = yaml[start - range.start..].split([':', '\n']).next().unwrap_or_default();
        Fault::new(start..start + word.len(), format!("front matter: {message}"), FRONT_FIX)
    })
}

const FRONT_FIX: &str = "docs/profiles.md lists the keys; put texts with `: `, `#` or braces into quotes";

/// The byte at which a value of the front matter stands, from its line and column (both from 1).
pub(crate) fn offset(yaml: &str, line: usize, column: usize) -> usize {
    let start: usize = yaml.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = yaml[start..].split('\n').next().unwrap_or_default();
    start + rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at)
}
