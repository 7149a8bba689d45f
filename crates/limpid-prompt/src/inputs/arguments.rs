//! The arguments of a tool in short, as texts list them.

use serde_json::{Map, Value};

/// A tool's arguments on one line: `key: string, hours?: integer`.
pub(crate) fn schema_in_short(schema: &Map<String, Value>) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|own| own.as_str() == Some(name)));
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let arguments: Vec<String> = properties
        .map(|(name, property)| {
            format!("{name}{}: {}", if is_required(name) { "" } else { "?" }, type_in_short(property))
        })
        .collect();
    arguments.join(", ")
}

fn type_in_short(property: &Value) -> String {
    let words = |values: &Vec<Value>| {
        let words: Vec<String> =
            values.iter().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect();
        words.join("|")
    };
    if let Some(choices) = property.get("enum").and_then(Value::as_array) {
        return words(choices);
    }
    match property.get("type") {
        Some(Value::String(name)) if name == "array" => match property.pointer("/items/type").and_then(Value::as_str) {
            Some(item) => format!("{item}[]"),
            None => "array".to_owned(),
        },
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => words(names),
        _ => "any".to_owned(),
    }
}
