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
/// Tokens that a window may have. A larger one is a mistake, and a conversation would never be shortened.
const MOST_TOKENS: f64 = 100_000_000.0;
/// Dollars that a million tokens may cost. The dearest models of today cost some hundreds.
const MOST_DOLLARS: f64 = 100_000.0;

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

impl Table {
    /// A table of what a provider says itself; rows that make no sense are left out.
    pub(crate) fn reported(head: Head, rows: impl Iterator<Item = (String, Map<String, Value>)>) -> Self {
        Self::of(head, rows.filter(sound).take(MOST).collect())
    }
}

/// Whether what is said of a model can be believed.
fn sound((name, facts): &Row) -> bool {
    // Names are shown at a terminal, which obeys some characters.
    let plain = |text: &str| text.len() <= LONGEST && text.bytes().all(|byte| byte.is_ascii_graphic());
    let source = facts.get("source").and_then(Value::as_str).unwrap_or_default();
    let entry: Result<ModelEntry, _> = serde_json::from_value(Value::Object(facts.clone()));
    let believable = |entry: ModelEntry| {
        entry.check_facts(name).is_ok() && entry.price.amounts().all(|dollars| dollars <= MOST_DOLLARS)
    };
    plain(name) && plain(source) && entry.is_ok_and(believable)
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

/// The day of a date or a time: `2027-05-01T00:00:00Z`.
pub(crate) fn day(value: Option<&Value>) -> Option<&str> {
    value?.as_str()?.get(..10).filter(|day| is_day(day))
}

/// A count of tokens; lists write some of them as `4096.0`.
pub(crate) fn tokens(value: Option<&Value>) -> Option<u32> {
    let count = value?.as_f64().filter(|count| *count >= 1.0 && *count <= MOST_TOKENS)?;
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
