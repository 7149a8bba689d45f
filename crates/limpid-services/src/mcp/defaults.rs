//! What a server takes for what a call leaves out, as the schema of its tool says.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::ptr;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// Objects that are filled inside each other.
const MOST_DEPTH: usize = 8;

/// Values that are looked at for one call: a schema may refer to itself in many places.
const MOST_VALUES: usize = 10_000;

/// Schemas that hold for one value.
const MOST_SCHEMAS: usize = 256;

/// Arguments with what a schema says for each field that they leave out or give as null; none when that adds nothing. Where it says
/// several things for one field, the field has the list of them. What any variant of the schema says counts.
pub(super) fn with_defaults(schema: &Map<String, Value>, arguments: &Value) -> Option<Value> {
    let root = Value::Object(schema.clone());
    let schemas = Schemas { root: &root, left: Cell::new(MOST_VALUES) };
    let mut held = Vec::new();
    schemas.hold(&root, &mut held);
    let written = Value::Object(schemas.fields(&held, arguments.as_object()?, 0));
    (written != *arguments).then_some(written)
}

struct Schemas<'s> {
    root: &'s Value,
    /// How many more values are looked at.
    left: Cell<usize>,
}

impl<'s> Schemas<'s> {
    /// Adds what holds for a value, or may: a schema, what it refers to, its variants.
    fn hold(&self, schema: &'s Value, held: &mut Vec<&'s Map<String, Value>>) {
        let mut next = VecDeque::from([schema]);
        while let Some(schema) = next.pop_front() {
            let Value::Object(words) = schema else { continue };
            if held.len() == MOST_SCHEMAS || held.iter().any(|known| ptr::eq(*known, words)) {
                continue;
            }
            held.push(words);
            let text = |word: &&str| words.get(*word).and_then(Value::as_str);
            let places = ["$ref", "$dynamicRef"].iter().filter_map(text).filter_map(|place| place.strip_prefix('#'));
            next.extend(places.filter_map(|place| self.root.pointer(&decoded(place))));
            let variants = ["allOf", "anyOf", "oneOf"].iter().filter_map(|word| words.get(*word)?.as_array());
            next.extend(variants.flatten());
            next.extend(["then", "else"].iter().filter_map(|word| words.get(*word)));
        }
    }

    /// The fields of an object, with those that it leaves out.
    fn fields(&self, held: &[&'s Map<String, Value>], given: &Map<String, Value>, depth: usize) -> Map<String, Value> {
        let mut written = given.clone();
        if depth >= MOST_DEPTH {
            return written;
        }
        let mut fields: BTreeMap<&str, Vec<&Map<String, Value>>> = BTreeMap::new();
        for words in held {
            for (name, field) in words.get("properties").and_then(Value::as_object).into_iter().flatten() {
                self.hold(field, fields.entry(name).or_default());
            }
            let others = words.get("additionalProperties").into_iter();
            let others = others
                .chain(words.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::values));
            for other in others {
                given.keys().for_each(|name| self.hold(other, fields.entry(name).or_default()));
            }
        }
        // What is said comes first, so that a schema of many fields leaves none of it out.
        let is_said = |(name, held): &(&str, Vec<&Map<String, Value>>)| {
            given.get(*name).is_some_and(|given| !given.is_null())
                || held.iter().any(|words| words.contains_key("default"))
        };
        let (said, others): (Vec<_>, Vec<_>) = fields.into_iter().partition(is_said);
        for (name, held) in said.into_iter().chain(others) {
            if let Some(value) = self.filled(&held, given.get(name), depth) {
                written.insert(name.to_owned(), value);
            }
        }
        written
    }

    /// A value with what it leaves out; none where it is left out itself and nothing is said of it.
    fn filled(&self, held: &[&'s Map<String, Value>], given: Option<&Value>, depth: usize) -> Option<Value> {
        let left = self.left.get();
        if left == 0 || depth > MOST_DEPTH {
            return given.cloned();
        }
        self.left.set(left - 1);
        match given {
            Some(Value::Object(given)) => Some(Value::Object(self.fields(held, given, depth + 1))),
            Some(Value::Array(items)) => {
                let mut of_items = Vec::new();
                let lists =
                    held.iter().filter_map(|words| words.get("prefixItems").and_then(Value::as_array)).flatten();
                let all = held.iter().filter_map(|words| words.get("items")).chain(lists);
                all.for_each(|one| self.hold(one, &mut of_items));
                Some(items.iter().map(|item| self.filled(&of_items, Some(item), depth).unwrap_or_default()).collect())
            }
            None | Some(Value::Null) => self.left_out(held, depth).or_else(|| given.cloned()),
            Some(other) => Some(other.clone()),
        }
    }

    /// What is taken for a value that is left out.
    fn left_out(&self, held: &[&'s Map<String, Value>], depth: usize) -> Option<Value> {
        let defaults: Vec<&Value> = held.iter().filter_map(|words| words.get("default")).collect();
        let mut found: Vec<Value> = Vec::new();
        for default in defaults.iter().filter(|default| !default.is_null()) {
            let value = self.filled(held, Some(default), depth + 1)?;
            if !found.contains(&value) {
                found.push(value);
            }
        }
        if defaults.is_empty() {
            // Some servers make an object from the defaults of its fields; one within another, at most.
            let made = self.fields(held, &Map::new(), depth + MOST_DEPTH / 2);
            found.extend((!made.is_empty()).then_some(Value::Object(made)));
        }
        if found.len() > 1 { Some(Value::Array(found)) } else { found.pop() }
    }
}

/// A place in a document as a reference writes it, with its `%` codes read.
fn decoded(place: &str) -> Cow<'_, str> {
    percent_decode_str(place).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn written(schema: &Value, arguments: &Value) -> Option<Value> {
        with_defaults(schema.as_object().unwrap(), arguments)
    }

    // SEC-071
    #[test]
    fn a_field_that_is_left_out_or_null_counts_as_its_default() {
        let schema =
            json!({ "properties": { "to": { "type": "string", "default": "all" }, "text": { "type": "string" } } });
        for (arguments, expected) in [
            (json!({ "text": "tea" }), Some(json!({ "text": "tea", "to": "all" }))),
            (json!({ "to": null }), Some(json!({ "to": "all" }))),
            (json!({ "to": "Ann" }), None),
            (json!({ "to": "all" }), None),
            (json!("all"), None),
        ] {
            assert_eq!(written(&schema, &arguments), expected, "{arguments}");
        }
        assert_eq!(written(&json!({}), &json!({})), None);
        let nothing = json!({ "properties": { "to": { "type": ["string", "null"], "default": null } } });
        assert_eq!(written(&nothing, &json!({})), None, "nothing is taken for it");
    }

    // SEC-071
    #[test]
    fn a_default_is_found_wherever_its_schema_stands() {
        let folder = json!({ "type": "string", "default": "private" });
        let target = json!({ "type": "object", "properties": { "folder": folder } });
        let within = |target: Value| json!({ "properties": { "target": target } });
        let private = json!({ "target": { "folder": "private" } });
        for schema in [
            within(target.clone()),
            json!({ "$defs": { "a target": target }, "properties": { "target": { "$ref": "#/$defs/a%20target" } } }),
            json!({ "allOf": [within(target.clone())] }),
            json!({ "then": within(target.clone()) }),
            within(json!({ "anyOf": [target, { "type": "null" }] })),
            within(json!({ "oneOf": [{ "type": "string" }, target] })),
            within(json!({ "type": "object", "default": { "folder": "private" } })),
            within(json!({ "default": {}, "properties": { "folder": folder } })),
        ] {
            for arguments in [json!({}), json!({ "target": null })] {
                assert_eq!(written(&schema, &arguments), Some(private.clone()), "{schema}");
            }
        }
        let schema = within(target.clone());
        assert_eq!(written(&schema, &json!({ "target": {} })), Some(private));
        let sorted = json!({ "target": { "sort": "name", "folder": "private" } });
        assert_eq!(written(&schema, &json!({ "target": { "sort": "name" } })), Some(sorted));
        let list = json!({ "properties": { "targets": { "type": "array", "items": target } } });
        let filled = json!({ "targets": [{ "folder": "private" }, { "folder": "tea" }] });
        assert_eq!(written(&list, &json!({ "targets": [{}, { "folder": "tea" }] })), Some(filled));
        let by_name = json!({ "additionalProperties": target });
        assert_eq!(written(&by_name, &json!({ "any": {} })), Some(json!({ "any": { "folder": "private" } })));
        let twice = json!({ "properties": { "from": folder, "to": { "$ref": "#/properties/from" } } });
        assert_eq!(written(&twice, &json!({})), Some(json!({ "from": "private", "to": "private" })));
        let either = json!({ "properties": { "to": { "anyOf": [{ "default": "a" }, { "default": "b" }] } } });
        assert_eq!(written(&either, &json!({})), Some(json!({ "to": ["a", "b"] })));
    }

    // SEC-071
    #[test]
    fn an_object_that_may_be_nothing_is_not_made() {
        let target = json!({ "properties": { "folder": { "default": "private" } } });
        let schema = json!({ "properties": { "target": { "anyOf": [target, { "type": "null" }], "default": null } } });
        assert_eq!(written(&schema, &json!({})), None);
        assert_eq!(written(&schema, &json!({ "target": {} })), Some(json!({ "target": { "folder": "private" } })));
    }

    // SEC-102
    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let again: Map<String, Value> = (0..300).map(|at| (format!("f{at}"), json!({ "$ref": "#" }))).collect();
        let mut properties = again;
        properties.insert("folder".to_owned(), json!({ "default": "private" }));
        let filled = written(&json!({ "allOf": [{ "$ref": "#" }], "properties": properties }), &json!({})).unwrap();
        assert_eq!(filled["folder"], "private");
        assert!(filled.to_string().len() < 1_000_000);
        let nested = json!({ "default": [null], "items": { "$ref": "#/properties/list" } });
        assert!(written(&json!({ "properties": { "list": nested } }), &json!({})).is_some());
        let chain = |at: usize| (format!("l{at}"), json!({ "$ref": format!("#/$defs/l{}", at + 1) }));
        let chain: Map<String, Value> = (0..100_000).map(chain).collect();
        assert_eq!(written(&json!({ "$defs": chain, "$ref": "#/$defs/l0" }), &json!({})), None);
    }

    proptest! {
        // SEC-071
        #[test]
        fn what_a_call_says_stays(name in "[a-c]", said in "[x-z]{1,3}", default in "[x-z]{1,3}") {
            let schema = json!({ "properties": { "a": { "default": default }, "b": { "$ref": "#/properties/a" } } });
            let given = json!({ name.clone(): said });
            let written = written(&schema, &given).unwrap_or_else(|| given.clone());
            prop_assert_eq!(&written[&name], &given[&name]);
        }
    }
}
