//! Schemas that a provider can hold every argument to: each object names all that it may hold, and requires all of it.

use serde_json::{Map, Value, json};

/// Words that a strict schema may have, beside those that are handled one by one.
const TAKEN: [&str; 12] = [
    "description",
    "const",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "title",
];

/// Words that say nothing about which values are allowed, and that are refused.
const REMARKS: [&str; 6] = ["default", "examples", "example", "deprecated", "readOnly", "writeOnly"];

/// Formats of texts that are taken.
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// A schema in its strict form, in which what may be absent may be null; none when it has no such form.
pub(crate) fn strict(schema: &Value) -> Option<Value> {
    value(schema, false)
}

/// `inside_choice` is whether it is one of several: there nothing tells which one a null belongs to.
fn value(schema: &Value, inside_choice: bool) -> Option<Value> {
    let fields = schema.as_object()?;
    let mut strict = Map::new();
    let says_what = ["type", "enum", "const", "anyOf"].iter().any(|word| fields.contains_key(*word));
    if !says_what {
        return None;
    }
    for (name, given) in fields {
        let made = match name.as_str() {
            "type" | "enum" => given.clone(),
            "properties" | "required" | "additionalProperties" => continue,
            "items" => value(given, inside_choice)?,
            "anyOf" => given.as_array()?.iter().map(|one| value(one, true)).collect::<Option<Vec<_>>>()?.into(),
            "format" if !given.as_str().is_some_and(|format| FORMATS.contains(&format)) => return None,
            word if TAKEN.contains(&word) => given.clone(),
            word if REMARKS.contains(&word) => continue,
            _ => return None,
        };
        strict.insert(name.clone(), made);
    }
    if has_type(fields, "array") && !fields.contains_key("items") {
        return None;
    }
    if has_type(fields, "object") {
        object(fields, &mut strict, inside_choice)?;
    }
    Some(Value::Object(strict))
}

fn object(fields: &Map<String, Value>, strict: &mut Map<String, Value>, inside_choice: bool) -> Option<()> {
    if !matches!(fields.get("additionalProperties"), None | Some(Value::Bool(false))) {
        return None;
    }
    let known = fields.get("properties")?.as_object()?;
    let mut properties = Map::new();
    for (name, schema) in known {
        let made = value(schema, inside_choice)?;
        let made = match is_required(fields, name) {
            true => made,
            // What may be null by itself could not be told from what is absent.
            false if inside_choice || takes_null(schema) => return None,
            false => or_null(made)?,
        };
        properties.insert(name.clone(), made);
    }
    let names: Vec<&String> = known.keys().collect();
    strict.insert("required".to_owned(), json!(names));
    strict.insert("properties".to_owned(), Value::Object(properties));
    strict.insert("additionalProperties".to_owned(), false.into());
    Some(())
}

/// Takes out of arguments the nulls that stand for what is absent.
pub(crate) fn without_nulls(arguments: &mut Value, schema: &Value) {
    match arguments {
        Value::Object(given) => {
            let Some(fields) = schema.as_object() else { return };
            let Some(known) = fields.get("properties").and_then(Value::as_object) else { return };
            given.retain(|name, value| !value.is_null() || !known.contains_key(name) || is_required(fields, name));
            for (name, value) in given {
                if let Some(schema) = known.get(name) {
                    without_nulls(value, schema);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| without_nulls(item, &schema["items"])),
        _ => {}
    }
}

fn is_required(fields: &Map<String, Value>, name: &str) -> bool {
    fields.get("required").and_then(Value::as_array).is_some_and(|all| all.iter().any(|one| one == name))
}

fn has_type(fields: &Map<String, Value>, wanted: &str) -> bool {
    match fields.get("type") {
        Some(Value::Array(types)) => types.iter().any(|one| one == wanted),
        one => one.is_some_and(|one| one == wanted),
    }
}

fn takes_null(schema: &Value) -> bool {
    let fields = schema.as_object();
    let has = |word: &str| schema[word].as_array().is_some_and(|all| all.contains(&Value::Null));
    fields.is_some_and(|fields| has_type(fields, "null"))
        || has("enum")
        || fields.is_some_and(|fields| fields.get("const") == Some(&Value::Null))
        || schema["anyOf"].as_array().is_some_and(|all| all.iter().any(takes_null))
}

/// The same, or null.
fn or_null(schema: Value) -> Option<Value> {
    let Value::Object(mut fields) = schema else { return None };
    if fields.contains_key("const") {
        return Some(json!({ "anyOf": [fields, {"type": "null"}] }));
    }
    if let Some(Value::Array(choices)) = fields.get_mut("anyOf") {
        choices.push(json!({"type": "null"}));
        return Some(Value::Object(fields));
    }
    if let Some(Value::Array(values)) = fields.get_mut("enum") {
        values.push(Value::Null);
    }
    match fields.get_mut("type") {
        Some(Value::Array(types)) => types.push("null".into()),
        Some(one) => *one = json!([one.take(), "null"]),
        None => {}
    }
    Some(Value::Object(fields))
}
