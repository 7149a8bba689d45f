//! What the file says of a setting, and where.

use limpid_config::{Redactor, Setting, SettingKind, TextKind};
use toml_edit::{Document, DocumentMut, Item, Table, TableLike, Value};

/// Keys of tables whose values may be secrets.
const HIDDEN: [&str; 4] = ["headers", "env", "query", "extra"];

/// What stands in the place of what is not shown.
const COVER: &str = "not shown";

/// The file's text, read.
pub struct SettingsText {
    document: Document<String>,
    redactor: Redactor,
}

/// What the file says of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The line, from 1.
    pub line: usize,
    /// The value as one types it: a text without quotes, a line for each of a list, tables as the file has them.
    pub words: String,
}

impl SettingsText {
    pub(super) fn new(text: String, redactor: Redactor) -> Result<Self, String> {
        let document = Document::parse(text).map_err(|error| error.to_string())?;
        Ok(Self { document, redactor })
    }

    /// What it says of a setting; none: nothing.
    pub fn said(&self, setting: &Setting) -> Option<Said> {
        let path: Vec<&str> = setting.key.split('.').collect();
        let (start, item) = find(self.document.as_table(), &path)?;
        let line = self.document.raw().get(..start).unwrap_or_default().matches('\n').count() + 1;
        let words = match (&setting.kind, item) {
            (SettingKind::Tables(_), item) => self.tables(&path, item, setting.by_hand.is_some()),
            (_, Item::Value(Value::Array(array))) => array.iter().map(words_of).collect::<Vec<_>>().join("\n"),
            (_, Item::Value(value)) => words_of(value),
            (_, item) => item.to_string(),
        };
        Some(Said { line, words: self.redactor.clean_as(TextKind::Owned, words) })
    }

    /// Tables as the file has them.
    fn tables(&self, path: &[&str], item: &Item, is_covered: bool) -> String {
        let Some((name, above)) = path.split_last() else { return String::new() };
        let mut item = item.clone();
        if is_covered {
            cover(&mut item, false);
        }
        let mut document = DocumentMut::new();
        let mut place: &mut dyn TableLike = document.as_table_mut();
        for step in above {
            let mut table = Table::new();
            table.set_implicit(true);
            let Some(inner) = place.entry(step).or_insert(Item::Table(table)).as_table_like_mut() else {
                return String::new();
            };
            place = inner;
        }
        place.insert(name, item);
        document.to_string().trim().to_owned()
    }
}

/// Where a key begins, and what it has.
pub(super) fn find<'a>(table: &'a Table, path: &[&str]) -> Option<(usize, &'a Item)> {
    let (first, rest) = path.split_first()?;
    let mut found = table.get_key_value(first)?;
    for step in rest {
        found = match found.1 {
            Item::Table(table) => table.get_key_value(step)?,
            Item::Value(Value::InlineTable(table)) => table.get_key_value(step)?,
            _ => return None,
        };
    }
    let (key, item) = found;
    if item.is_none() {
        return None;
    }
    let start = key.span().or_else(|| item.span()).map_or(0, |span| span.start);
    Some((start, item))
}

/// A value as one types it.
fn words_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.value().clone(),
        other => {
            let mut bare = other.clone();
            bare.decor_mut().clear();
            bare.to_string()
        }
    }
}

/// Covers what may be a secret.
fn cover(item: &mut Item, is_hidden: bool) {
    if let Item::ArrayOfTables(tables) = item {
        for table in tables.iter_mut() {
            cover_table(table, is_hidden);
        }
    } else if let Some(table) = item.as_table_like_mut() {
        cover_table(table, is_hidden);
    } else if is_hidden && let Item::Value(value) = item {
        let decor = value.decor().clone();
        *value = Value::from(COVER);
        *value.decor_mut() = decor;
    }
}

fn cover_table(table: &mut dyn TableLike, is_hidden: bool) {
    for (key, item) in table.iter_mut() {
        let is_hidden = is_hidden || HIDDEN.contains(&key.get());
        cover(item, is_hidden);
    }
}
