//! A table of models, made from a public list: one JSON object with a line for each model.
//!
//! It has hundreds of models and a start needs one or two, so its lines stand in the order of their names: few of them
//! are looked at, and only those that are needed are read.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::entry::ModelEntry;
use super::file::CatalogueError;
use super::pattern::dates;

/// The shipped table; `cargo xtask catalogue` writes it.
const SHIPPED: &str = include_str!("models.json");

/// The form that this program reads; a later one may mean other things.
const FORM: u64 = 1;

/// A table of models.
#[derive(Clone, Debug)]
pub struct Table {
    /// One line for the head, one for each model, one for the end.
    text: Cow<'static, str>,
    head: Head,
}

/// Where a table is from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The day on which its facts were right: `2026-11-23`.
    pub date: String,
    /// The list that it was made from.
    pub source: String,
}

/// A model of a table: its name, and what is said of it.
pub(super) type Row = (String, Map<String, Value>);

#[derive(Deserialize)]
struct Whole {
    form: u64,
    date: String,
    source: String,
    models: Map<String, Value>,
}

impl Table {
    /// The table that is shipped.
    pub fn shipped() -> Self {
        // A test reads it, so the empty one is never taken.
        Self::read("the shipped models.json", SHIPPED).unwrap_or_else(|_| Self::of(Head::default(), Vec::new()))
    }

    /// A table from its text; the name is for errors. Of a line that says what cannot be understood nothing is known.
    ///
    /// # Errors
    /// When it is no table, or one of a newer program.
    pub fn read(name: &str, text: impl Into<Cow<'static, str>>) -> Result<Self, CatalogueError> {
        let text = text.into();
        let error = |reason: String| CatalogueError { file: name.to_owned(), reason };
        // As this program writes it, the first line is the head. Elsewhere somebody has laid it out anew.
        let line = text.split_once('\n').map(|(line, _)| line).filter(|line| line.ends_with('{'));
        let as_written = line.filter(|_| text.ends_with(END)).map(|line| format!("{line}}}}}"));
        // The shipped one is in order, which a test proves.
        let as_written = as_written.filter(|_| matches!(text, Cow::Borrowed(_)) || is_in_order(&text));
        let whole: Whole =
            serde_json::from_str(as_written.as_deref().unwrap_or(&text)).map_err(|wrong| error(wrong.to_string()))?;
        if whole.form != FORM {
            return Err(error("it is not a table of models that this program can read".to_owned()));
        }
        let head = Head { date: whole.date, source: whole.source };
        if as_written.is_some() {
            return Ok(Self { text, head });
        }
        let rows = whole.models.into_iter().filter_map(|(name, facts)| match facts {
            Value::Object(facts) => Some((name, facts)),
            _ => None,
        });
        Ok(Self::of(head, rows.collect()))
    }

    /// Makes a table of rows. The first one of a name counts.
    pub(super) fn of(head: Head, mut rows: Vec<Row>) -> Self {
        rows.retain(|(name, _)| !name.contains(['"', '\\', '\n']));
        rows.sort_by(|one, other| order(&one.0, &other.0));
        rows.dedup_by(|later, earlier| later.0.eq_ignore_ascii_case(&earlier.0));
        let lines: Vec<String> =
            rows.into_iter().map(|(name, facts)| format!("\"{name}\":{}", Value::Object(facts))).collect();
        let (date, source) = (Value::from(head.date.as_str()), Value::from(head.source.as_str()));
        let lines = lines.join(",\n");
        let text = format!("{{\"form\":{FORM},\"date\":{date},\"source\":{source},\"models\":{{\n{lines}{END}");
        Self { head, text: Cow::Owned(text) }
    }

    /// Where it is from.
    pub const fn head(&self) -> &Head {
        &self.head
    }

    /// Its text, as [`Table::read`] takes it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The models of a provider that it names.
    pub fn models_of(&self, provider: &str) -> Vec<String> {
        let own = |(name, _): (&str, &str)| Some(name.strip_prefix(provider)?.strip_prefix('/')?.to_owned());
        self.lines().filter_map(own).collect()
    }

    /// Whether it has a row for a model.
    pub fn has_row(&self, name: &str) -> bool {
        self.names(name)
    }

    /// Every name, and what is said of it as JSON.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&str, &str)> {
        rows(&self.text).lines().filter_map(row)
    }

    /// Whether it says anything of a model.
    pub(super) fn names(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// What is said of a model: capitals and small letters are the same, and a date behind a name may be absent here.
    pub(super) fn get(&self, name: &str) -> Option<ModelEntry> {
        let (key, facts) = self.find(name)?;
        let mut entry: ModelEntry = serde_json::from_str(facts).ok()?;
        entry.check_facts(key).ok()?;
        entry.price.as_of.get_or_insert_with(|| self.head.date.clone());
        entry.source.get_or_insert_with(|| self.head.source.clone());
        Some(entry)
    }

    fn find(&self, name: &str) -> Option<(&str, &str)> {
        let dashes = name.rmatch_indices(['-', '@']).map(|(at, _)| &name[..at]);
        let dated = dashes.filter(|base| dates(base, name));
        [name].into_iter().chain(dated).find_map(|name| self.row_of(name))
    }

    /// The row of exactly this name, but for capitals.
    fn row_of(&self, name: &str) -> Option<(&str, &str)> {
        let mut rest = rows(&self.text);
        while !rest.is_empty() {
            let middle = rest.len() / 2;
            let start = rest.as_bytes()[..middle].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let end = rest[start..].find('\n').map_or(rest.len(), |at| start + at);
            let (key, facts) = row(&rest[start..end])?;
            match order(key, name) {
                Ordering::Equal => return Some((key, facts)),
                Ordering::Less => rest = rest[end..].trim_start_matches('\n'),
                Ordering::Greater => rest = rest[..start].trim_end_matches('\n'),
            }
        }
        None
    }
}

/// What stands behind the last row.
const END: &str = "\n}}\n";

/// The lines of the models.
fn rows(text: &str) -> &str {
    let body = text.strip_suffix(END).and_then(|text| text.split_once('\n'));
    body.map_or("", |(_, rows)| rows)
}

/// The name and the facts of a line.
fn row(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix('"')?.trim_end_matches(',').split_once("\":")
}

/// The order of names: capitals and small letters are the same.
fn order(one: &str, other: &str) -> Ordering {
    one.bytes().map(|byte| byte.to_ascii_lowercase()).cmp(other.bytes().map(|byte| byte.to_ascii_lowercase()))
}

fn is_in_order(text: &str) -> bool {
    let names: Option<Vec<&str>> = rows(text).lines().map(|line| Some(row(line)?.0)).collect();
    names.is_some_and(|names| names.is_sorted_by(|one, other| order(one, other) == Ordering::Less))
}
