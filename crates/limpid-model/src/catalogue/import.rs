//! Tables from public lists of models: litellm's price file and the catalogue of models.dev.

mod litellm;
mod models_dev;

use serde_json::{Map, Value};

use super::entry::{ModelEntry, is_day};
use super::file::CatalogueError;
use super::table::{Head, Row, Table};

/// Bytes that a list may have; those of today have three million.
pub const LARGEST_LIST: usize = 32 * 1024 * 1024;
/// Models that are taken from a list.
const MOST: usize = 20_000;
/// Characters of a name or an address.
const LONGEST: usize = 300;

impl Table {
    /// A table from a list that others publish. Models that Limpid cannot chat with, and those whose facts make no sense,
    /// are left out.
    ///
    /// # Errors
    /// When the text is too large, is broken, or is no list that is known.
    pub fn import(name: &str, text: &str, head: Head) -> Result<Self, CatalogueError> {
        let error = |reason: String| CatalogueError { file: name.to_owned(), reason };
        if text.len() > LARGEST_LIST {
            return Err(error(format!("it is larger than {} MB, so it is not a list of models", LARGEST_LIST >> 20)));
        }
        let list: Map<String, Value> = serde_json::from_str(text).map_err(|wrong| error(wrong.to_string()))?;
        let has = |key: &str| list.values().any(|value| value.get(key).is_some());
        let rows: Vec<Row> = if has("litellm_provider") {
            litellm::rows(&list, &head.date)
        } else if has("models") {
            models_dev::rows(&list, &head.date)
        } else {
            return Err(error("it is neither models.dev's api.json nor litellm's price file".to_owned()));
        };
        let rows: Vec<Row> = rows.into_iter().filter(sound).take(MOST).collect();
        if rows.is_empty() {
            return Err(error("it names no model that Limpid could use".to_owned()));
        }
        Ok(Self::of(head, rows))
    }
}

/// Whether what is said of a model can be believed.
fn sound((name, facts): &Row) -> bool {
    let plain = |text: &str| text.len() <= LONGEST && !text.chars().any(|c| c.is_control() || c.is_whitespace());
    let source = facts.get("source").and_then(Value::as_str).unwrap_or_default();
    let entry: Result<ModelEntry, _> = serde_json::from_value(Value::Object(facts.clone()));
    plain(name) && plain(source) && entry.is_ok_and(|entry| entry.check_facts(name).is_ok())
}

/// What is said of a model, while it is put together.
#[derive(Default)]
struct Facts(Map<String, Value>);

impl Facts {
    fn set(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.0.insert(key.to_owned(), value.into());
        }
    }

    fn day(&mut self, key: &str, day: Option<&Value>) {
        self.set(key, day.and_then(Value::as_str).filter(|day| is_day(day)));
    }
}

/// A count of tokens; lists write some of them as `4096.0`.
fn tokens(value: Option<&Value>) -> Option<u32> {
    let count = value?.as_f64().filter(|count| *count >= 1.0 && *count <= f64::from(u32::MAX))?;
    // Cannot be cut: it is within a u32.
    Some(count as u32)
}

/// Whether a model ended so long ago that nobody asks for it: a year before the day of the table.
fn is_long_gone(day: Option<&Value>, today: &str) -> bool {
    let year = |day: &str| day.get(..4).and_then(|year| year.parse::<i32>().ok());
    let Some((day, ends, now)) = day.and_then(Value::as_str).and_then(|day| Some((day, year(day)?, year(today)?)))
    else {
        return false;
    };
    ends + 1 < now || (ends + 1 == now && day.get(4..) < today.get(4..))
}
