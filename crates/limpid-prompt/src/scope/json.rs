//! JSON as texts see it: payloads, and schemas of tools.

use serde_json::Value;

use crate::scope::record::Record;
use crate::scope::view::View;

/// A JSON value as texts see it.
pub(super) fn json(value: &Value) -> View<'_> {
    match value {
        Value::Null => View::Absent,
        Value::Bool(flag) => View::Bool(*flag),
        Value::Number(number) => number.as_i64().map_or_else(|| View::file(number.to_string()), View::Int),
        Value::String(text) => View::file(text),
        Value::Array(items) => View::List(items.iter().map(json).collect()),
        Value::Object(object) => View::Record(Record::Json(object)),
    }
}
