//! Arguments against a tool's schema, before the tool runs.

use serde_json::{Map, Value};

/// Faults that an error names; a call may have a hundred thousand.
const NAMED: usize = 20;

/// Looks at the arguments of a call with the schema that the model was given.
///
/// It knows what [`schema_of`](crate::schema_of) leaves of a schema: types, fields, required fields, fixed values,
/// entries of lists and choices. A field without which a call works may also be null, which models like to write.
///
/// # Errors
/// What is wrong, each fault with the field's name and what may stand there; of very many the first ones.
///
/// ```
/// let schema = serde_json::json!({
///     "type": "object", "required": ["path"],
///     "properties": { "path": { "type": "string" }, "limit": { "type": "integer" } },
/// });
/// let schema = schema.as_object().unwrap();
/// let wrong = limpid_tools::check_arguments(schema, &serde_json::json!({ "limit": "ten" }));
/// assert_eq!(wrong.unwrap_err(), "`path` is missing (fields: path, limit?); `limit` must be an integer, not \"ten\"");
/// ```
pub fn check_arguments(schema: &Map<String, Value>, arguments: &Value) -> Result<(), String> {
    let mut wrong = Vec::new();
    object(schema, arguments, "", &mut wrong);
    match wrong.len() {
        0 => Ok(()),
        faults if faults < NAMED => Err(wrong.join("; ")),
        _ => Err(format!("{}; there may be more", wrong.join("; "))),
    }
}

fn value(schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
    let Value::Object(schema) = schema else { return };
    if let Some(choices) = choices(schema) {
        one_of(choices, value, at, wrong);
    } else if let Some(Value::Array(allowed)) = schema.get("enum") {
        if !allowed.contains(value) {
            wrong.push(format!("`{at}` is {}, but must be one of {}", short(value), listed(allowed)));
        }
    } else if let Some(constant) = schema.get("const") {
        if constant != value {
            wrong.push(format!("`{at}` is {}, but must be {constant}", short(value)));
        }
    } else if !types(schema).is_empty() && !types(schema).iter().any(|kind| is_of(kind, value)) {
        let kinds: Vec<&str> = types(schema).into_iter().map(spoken).collect();
        wrong.push(format!("`{at}` must be {}, not {}", kinds.join(" or "), short(value)));
    } else {
        entries(schema, value, at, wrong);
        if schema.contains_key("properties") {
            object(schema, value, at, wrong);
        }
    }
}

/// The fields of an object.
fn object(schema: &Map<String, Value>, arguments: &Value, at: &str, wrong: &mut Vec<String>) {
    let Value::Object(given) = arguments else {
        wrong.push(format!("the arguments must be an object, not {}", short(arguments)));
        return;
    };
    let none = Map::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required: Vec<&str> = match schema.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let name = |field: &str| if at.is_empty() { field.to_owned() } else { format!("{at}.{field}") };
    let fields = || {
        let field = |field: &String| format!("{field}{}", if required.contains(&field.as_str()) { "" } else { "?" });
        known.keys().map(field).collect::<Vec<_>>().join(", ")
    };
    for field in &required {
        if !given.contains_key(*field) {
            wrong.push(format!("`{}` is missing (fields: {})", name(field), fields()));
        }
    }
    let open = schema.get("additionalProperties").map_or(!schema.contains_key("properties"), is_open);
    for (field, content) in given {
        if wrong.len() >= NAMED {
            return;
        }
        match known.get(field) {
            Some(_) if content.is_null() && !required.contains(&field.as_str()) => {}
            Some(schema) => value(schema, content, &name(field), wrong),
            None if open => {}
            None => wrong.push(format!("`{}` is no field of it (fields: {})", name(&cut(field)), fields())),
        }
    }
}

fn entries(schema: &Map<String, Value>, given: &Value, at: &str, wrong: &mut Vec<String>) {
    if let (Some(schema), Value::Array(entries)) = (schema.get("items"), given) {
        for (n, entry) in entries.iter().enumerate() {
            if wrong.len() >= NAMED {
                return;
            }
            value(schema, entry, &format!("{at}[{n}]"), wrong);
        }
    }
}

/// One of several schemas must fit; when none does, the plain values among them are named.
fn one_of(choices: &[Value], given: &Value, at: &str, wrong: &mut Vec<String>) {
    let mut refused = Vec::new();
    for choice in choices {
        let mut found = Vec::new();
        value(choice, given, at, &mut found);
        if found.is_empty() {
            return;
        }
        refused.push(found.join("; "));
    }
    let constants: Vec<Value> = choices.iter().flat_map(plain_values).collect();
    if constants.is_empty() {
        wrong.push(refused.join(", or "));
    } else {
        wrong.push(format!("`{at}` is {}, but must be one of {}", short(given), listed(&constants)));
    }
}

fn plain_values(schema: &Value) -> Vec<Value> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(constant), _) => vec![constant.clone()],
        (None, Some(Value::Array(values))) => values.clone(),
        _ => Vec::new(),
    }
}

fn choices(schema: &Map<String, Value>) -> Option<&[Value]> {
    match schema.get("oneOf").or_else(|| schema.get("anyOf")) {
        Some(Value::Array(choices)) => Some(choices),
        _ => None,
    }
}

fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        // 3.0 is a whole number, however it is written.
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn is_open(additional: &Value) -> bool {
    !matches!(additional, Value::Bool(false))
}

fn spoken(kind: &str) -> &str {
    match kind {
        "string" => "a text",
        "integer" => "an integer",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        other => other,
    }
}

fn listed(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

/// A value as an error shows it: not longer than a line.
fn short(value: &Value) -> String {
    cut(&value.to_string())
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // PICO-080
    #[test]
    fn an_error_names_the_field_and_what_may_stand_there() {
        let schema = json!({
            "type": "object",
            "properties": {
                "action": { "enum": ["add", "list"] },
                "path": { "type": "string" },
                "limit": { "type": "integer" },
                "tags": { "type": "array", "items": { "type": "string" } },
                "when": { "type": "object", "properties": { "day": { "type": "integer" } }, "required": ["day"] },
                "kind": { "oneOf": [{ "const": "time" }, { "const": "cron" }] },
                "either": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
            },
            "required": ["action", "path"],
            "additionalProperties": false,
        });
        let schema = schema.as_object().unwrap();
        let told = [
            json!({ "action": "list", "path": "a", "limit": 3.0, "tags": ["x"], "when": { "day": 1 }, "kind": "time" }),
            json!({ "action": "list", "path": "a", "limit": null }),
            json!({ "action": "list" }),
            json!({ "action": "list", "path": null }),
            json!({ "action": "remove", "path": "a" }),
            json!({ "action": "list", "path": 7, "limit": "ten" }),
            json!({ "action": "list", "path": "a", "pth": "b" }),
            json!({ "action": "list", "path": "a", "limit": 1.5 }),
            json!({ "action": "list", "path": "a", "tags": ["x", 2] }),
            json!({ "action": "list", "path": "a", "when": { "month": 2 } }),
            json!({ "action": "list", "path": "a", "kind": "soon" }),
            json!({ "action": "list", "path": "a", "either": [] }),
            json!({ "action": "list", "path": ["a text that is much longer than what an error wants to show of it"] }),
            json!(["list"]),
        ]
        .map(|arguments| format!("{arguments}\n    {:?}", check_arguments(schema, &arguments)));
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn of_very_many_faults_the_first_are_named() {
        let schema =
            json!({ "type": "object", "properties": { "a": { "type": "array", "items": { "type": "string" } } } });
        let schema = schema.as_object().unwrap();
        let unknown: Map<String, Value> =
            (0..100_000).map(|number| (format!("{number}{}", "x".repeat(90)), Value::Null)).collect();
        for arguments in [json!({ "a": vec![1; 100_000] }), unknown.into()] {
            let told = check_arguments(schema, &arguments).unwrap_err();
            assert!(told.len() < 4_000 && told.ends_with("; there may be more"), "{told}");
        }
    }

    #[test]
    fn a_schema_without_fields_takes_anything() {
        assert_eq!(check_arguments(json!({ "type": "object" }).as_object().unwrap(), &json!({ "any": 1 })), Ok(()));
    }
}
