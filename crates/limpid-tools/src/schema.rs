//! Schemas of arguments, made from Rust types and made small: every byte of them is sent with every request.

use schemars::JsonSchema;
use serde_json::{Map, Value};

/// The schema of a type without what no model needs: titles, formats, bounds of integers, the draft's address.
/// What the arguments mean is said by the profile's `tools/*.md`.
pub fn schema_of<T: JsonSchema>() -> Map<String, Value> {
    let mut settings = schemars::generate::SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let Value::Object(mut schema) = settings.into_generator().into_root_schema_for::<T>().to_value() else {
        return Map::new();
    };
    schema.remove("$schema");
    shrink_object(&mut schema);
    schema
}

fn shrink(value: &mut Value) {
    match value {
        Value::Object(object) => shrink_object(object),
        Value::Array(items) => items.iter_mut().for_each(shrink),
        _ => {}
    }
}

fn shrink_object(object: &mut Map<String, Value>) {
    // Inside `properties` the keys are the owner's names, not the schema's words.
    for word in ["title", "description", "format", "minimum", "maximum", "default"] {
        object.remove(word);
    }
    optional(object);
    for (key, value) in object.iter_mut() {
        match value {
            Value::Object(properties) if key == "properties" => properties.values_mut().for_each(shrink),
            other => shrink(other),
        }
    }
}

/// `["string", "null"]` is `"string"`: what may be left out is said by `required`.
fn optional(object: &mut Map<String, Value>) {
    let Some(Value::Array(types)) = object.get_mut("type") else { return };
    types.retain(|kind| kind != "null");
    if let [only] = types.as_slice() {
        let only = only.clone();
        object.insert("type".to_owned(), only);
    }
}
