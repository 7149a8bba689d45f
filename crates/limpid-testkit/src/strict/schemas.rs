//! What providers refuse in the schemas of tools, each with its own words.

use serde_json::{Map, Value};

use super::fields::FieldRule;
use super::parts::list;

/// OpenAI, Chat Completions and Responses.
pub const OPENAI_SCHEMA: FieldRule = |body| {
    list(body, "tools").iter().find_map(|tool| {
        let function = if tool["function"].is_object() { &tool["function"] } else { tool };
        let (name, schema) = (function["name"].as_str().unwrap_or_default(), &function["parameters"]);
        openai(name, schema, function["strict"] == true)
    })
};

/// Anthropic.
pub const ANTHROPIC_SCHEMA: FieldRule = |body| {
    list(body, "tools").iter().enumerate().find_map(|(at, tool)| {
        let schema = &tool["input_schema"];
        let place = format!("tools.{at}.custom.input_schema");
        if schema["type"].is_null() {
            return Some(format!("{place}.type: Field required"));
        }
        if schema["type"] != "object" {
            return Some(format!("{place}.type: Input should be 'object'"));
        }
        if ["oneOf", "allOf", "anyOf"].iter().any(|word| schema.get(word).is_some()) {
            return Some(format!("{place}: input_schema does not support oneOf, allOf, or anyOf at the top level"));
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        let names = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name);
        if names.into_iter().any(|name| name.is_empty() || name.len() > 64 || !name.chars().all(is_plain)) {
            return Some(format!("{place}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'"));
        }
        let invalid = "JSON schema is invalid. It must match JSON Schema draft 2020-12";
        (!is_draft_2020(schema, schema)).then(|| format!("{place}: {invalid}"))
    })
};

/// Gemini; the words are those of its older field for schemas, which knows no others.
pub const GEMINI_SCHEMA: FieldRule = |body| {
    let declared = list(body, "tools").iter().flat_map(|tools| list(tools, "functionDeclarations"));
    declared.enumerate().find_map(|(at, tool)| {
        let place = format!("tools[0].function_declarations[{at}].parameters");
        let schema = &tool["parametersJsonSchema"];
        if schema["type"] != "object" || !schema["properties"].is_object() {
            return Some(format!("* GenerateContentRequest.{place}: schema should be of OBJECT type"));
        }
        gemini(&place, schema)
    })
};

fn openai(name: &str, schema: &Value, strict: bool) -> Option<String> {
    let invalid = |why: &str| Some(format!("Invalid schema for function '{name}': {why}"));
    let fields = schema.as_object()?;
    if ["oneOf", "anyOf", "allOf", "enum", "not"].iter().any(|word| fields.contains_key(*word)) {
        return invalid(
            "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
        );
    }
    if schema["type"] != "object" {
        return invalid(&format!(
            "schema must be a JSON Schema of 'type: \"object\"', got 'type: {}'.",
            schema["type"]
        ));
    }
    if !schema["properties"].is_object() {
        return invalid("In context=(), object schema missing properties.");
    }
    let mut wrong = None;
    each(schema, &mut |path, fields| {
        let why = openai_fields(fields, strict);
        wrong = wrong.take().or_else(|| why.map(|why| format!("In context=({path}), {why}")));
    });
    wrong.and_then(|why| invalid(&why))
}

fn openai_fields(fields: &Map<String, Value>, strict: bool) -> Option<String> {
    let has_type = |wanted: &str| fields.get("type").is_some_and(|one| one == wanted || list_has(one, wanted));
    if has_type("array") && !fields.contains_key("items") {
        return Some("array schema missing items.".to_owned());
    }
    if !strict {
        return None;
    }
    if ["type", "anyOf", "enum", "const"].iter().all(|word| !fields.contains_key(*word)) {
        return Some("schema must have a 'type' key.".to_owned());
    }
    let refused = ["oneOf", "allOf", "not", "default", "minLength", "maxLength", "patternProperties", "propertyNames"];
    if let Some(word) = refused.iter().find(|word| fields.contains_key(**word)) {
        return Some(format!("'{word}' is not permitted."));
    }
    if !has_type("object") {
        return None;
    }
    if fields.get("additionalProperties") != Some(&Value::Bool(false)) {
        return Some("'additionalProperties' is required to be supplied and to be false.".to_owned());
    }
    let properties = fields.get("properties")?.as_object()?;
    let missing = properties.keys().find(|name| !fields.get("required").is_some_and(|all| list_has(all, name)))?;
    Some(format!(
        "'required' is required to be supplied and to be an array including every key in properties. Missing '{missing}'."
    ))
}

/// Whether every word has the form that it has since 2020, and every reference leads somewhere.
fn is_draft_2020(root: &Value, schema: &Value) -> bool {
    let mut valid = true;
    each(schema, &mut |_, fields| {
        let wrong = |name: &str, right: fn(&Value) -> bool| fields.get(name).is_some_and(|value| !right(value));
        let is_schema = |value: &Value| value.is_object() || value.is_boolean();
        let types = ["null", "boolean", "object", "array", "number", "string", "integer"];
        let known = |one: &Value| one.as_str().is_some_and(|one| types.contains(&one));
        let is_type = fields
            .get("type")
            .is_none_or(|one| known(one) || one.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(known)));
        let reference = fields.get("$ref").and_then(Value::as_str);
        let leads =
            reference.is_none_or(|path| path.strip_prefix('#').is_some_and(|path| root.pointer(path).is_some()));
        valid &= is_type
            && leads
            && !wrong("items", |value| value.is_object() || value.is_boolean())
            && !wrong("required", Value::is_array)
            && !wrong("properties", Value::is_object)
            && !wrong("enum", Value::is_array)
            && !wrong("exclusiveMinimum", Value::is_number)
            && !wrong("exclusiveMaximum", Value::is_number)
            && fields.get("$schema").is_none_or(|version| version.to_string().contains("2020-12"))
            && ["anyOf", "oneOf", "allOf"].iter().all(|word| !wrong(word, |list| !empty(list)))
            && fields.get("additionalProperties").is_none_or(is_schema);
    });
    valid
}

fn empty(list: &Value) -> bool {
    list.as_array().is_none_or(Vec::is_empty)
}

fn gemini(place: &str, schema: &Value) -> Option<String> {
    let known = [
        "type",
        "format",
        "title",
        "description",
        "enum",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "anyOf",
        "oneOf",
        "properties",
        "additionalProperties",
        "required",
    ];
    let mut wrong = None;
    each(schema, &mut |path, fields| {
        let unknown = fields.keys().find(|name| !known.contains(&name.as_str())).map(|name| {
            format!("Invalid JSON payload received. Unknown name \"{name}\" at '{place}.{path}': Cannot find field.")
        });
        let is_array = fields.get("type").is_some_and(|one| one == "array" || list_has(one, "array"));
        let items = (is_array && !fields.contains_key("items"))
            .then(|| format!("* GenerateContentRequest.{place}.{path}.items: missing field."));
        let properties = fields.get("properties").and_then(Value::as_object);
        let required = fields.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let undefined = required.into_iter().find(|name| !properties.is_some_and(|all| all.contains_key(*name)));
        let undefined =
            undefined.map(|_| format!("* GenerateContentRequest.{place}.{path}.required[0]: property is not defined"));
        let odd = properties.into_iter().flatten().map(|(name, _)| name).find(|name| {
            !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || name.contains(['$', '[', ']', ' ', '@'])
        });
        let odd =
            odd.map(|name| format!("* GenerateContentRequest.{place}.properties[{name}]: Invalid property name."));
        let enums = fields.get("enum").and_then(Value::as_array).into_iter().flatten();
        let values = enums.into_iter().any(|value| !value.is_string() && !value.is_number());
        let values = values.then(|| format!("Invalid value at '{place}.{path}.enum' (TYPE_STRING)"));
        wrong = wrong.take().or(unknown).or(items).or(undefined).or(odd).or(values);
    });
    wrong
}

fn list_has(list: &Value, wanted: &str) -> bool {
    list.as_array().is_some_and(|all| all.iter().any(|one| one == wanted))
}

/// Visits a schema and every one inside it.
fn each(schema: &Value, visit: &mut dyn FnMut(&str, &Map<String, Value>)) {
    walk("", schema, visit);
}

fn walk(path: &str, schema: &Value, visit: &mut dyn FnMut(&str, &Map<String, Value>)) {
    let Some(fields) = schema.as_object() else { return };
    visit(path, fields);
    for (word, value) in fields {
        match word.as_str() {
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    walk(&format!("{path}/{word}/{name}"), inner, visit);
                }
            }
            "items" | "not" | "if" | "then" | "else" | "contains" | "propertyNames" | "additionalProperties" => {
                walk(&format!("{path}/{word}"), value, visit);
            }
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                for (at, inner) in value.as_array().into_iter().flatten().enumerate() {
                    walk(&format!("{path}/{word}/{at}"), inner, visit);
                }
            }
            _ => {}
        }
    }
}
