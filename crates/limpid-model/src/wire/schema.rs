//! Schemas of tools in the words that a provider takes.
//!
//! The map is pure, so a tool has the same bytes in every request. A schema that fits is sent as it came. Another one is
//! written again so that it allows at least what it allowed before: references are replaced by what they point to, words
//! that are refused are left out, and variants of the whole become one object.

mod byte_budget;
mod merge;
mod strict;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::json::to_raw;
use crate::wire::names::{is_plain_start, with_hash};

use byte_budget::ByteBudget;
pub(crate) use merge::NotAnObject;
pub(crate) use strict::{strict, without_nulls};

/// Schemas inside each other.
const MAX_DEPTH: usize = 48;

/// Words about the document, or of older versions of JSON Schema, that some providers refuse and none needs.
const ABOUT: [&str; 14] = [
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$comment",
    "$defs",
    "definitions",
    "$ref",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "$recursiveAnchor",
    "$vocabulary",
    "dependencies",
];

/// Words that hold one schema and that not every server takes.
const RARE: [&str; 9] = [
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];

/// Words that hold schemas by name and that not every server takes.
const RARE_MAPS: [&str; 2] = ["patternProperties", "dependentSchemas"];

/// Other words that not every server takes.
const RARE_WORDS: [&str; 5] =
    ["dependentRequired", "minContains", "maxContains", "contentEncoding", "contentMediaType"];

/// What Gemini documents, beside the words that are handled one by one.
const GEMINI: [&str; 7] = ["title", "description", "format", "minItems", "maxItems", "minimum", "maximum"];

const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "string", "integer"];

/// How a provider takes the schemas of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SchemaRules {
    /// The words that it knows.
    pub(crate) words: Words,
    /// Whether names of arguments are at most 64 letters, digits, `_`, `-` and `.`, not beginning with a digit.
    pub(crate) plain_names: bool,
}

/// Which words of JSON Schema are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// Those of JSON Schema 2020-12.
    All,
    /// Those without which every server gets along.
    Common,
    /// Those that Gemini documents.
    Gemini,
}

/// A schema that a provider takes.
#[derive(Clone, Debug)]
pub(crate) struct Fitted<'a> {
    pub(crate) schema: Cow<'a, RawValue>,
    /// Names of arguments that were changed: the provider's by the tool's.
    pub(crate) renamed: BTreeMap<String, String>,
}

impl SchemaRules {
    /// For models that read a schema as text, or that this program itself holds to it.
    pub(crate) const LOCAL: Self = Self { words: Words::Common, plain_names: false };

    /// A tool's schema as the provider takes it.
    ///
    /// # Errors
    /// When no object is described, so that it cannot be made acceptable.
    pub(crate) fn fit(self, text: &str) -> Result<Fitted<'_>, NotAnObject> {
        let (Ok(given), Ok(root)) = (serde_json::from_str::<&RawValue>(text), serde_json::from_str::<Value>(text))
        else {
            return Err(NotAnObject);
        };
        let budget = ByteBudget::of(text);
        let mut fitter = Fitter { rules: self, root: &root, open: vec![&root], budget, renamed: BTreeMap::new() };
        if !root.is_object() {
            return Err(NotAnObject);
        }
        let schema = merge::one_object(fitter.schema(&root, 0))?;
        let schema = if schema == root { Cow::Borrowed(given) } else { Cow::Owned(to_raw(&schema)) };
        Ok(Fitted { schema, renamed: fitter.renamed })
    }
}

/// A schema that is being written again.
struct Fitter<'r> {
    rules: SchemaRules,
    root: &'r Value,
    /// The schemas that stand around the one which is written now, as targets of references.
    open: Vec<&'r Value>,
    /// What more may be written.
    budget: ByteBudget,
    renamed: BTreeMap<String, String>,
}

impl<'r> Fitter<'r> {
    fn schema(&mut self, value: &'r Value, depth: usize) -> Value {
        // `true` allows everything; so does what is no schema.
        let Value::Object(fields) = value else { return json!({}) };
        if depth == MAX_DEPTH || !self.budget.spend_schema(fields) {
            return json!({});
        }
        let mut fitted = match fields.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.target(reference, depth),
            None => Map::new(),
        };
        for (name, value) in fields {
            if let Some((name, value)) = self.field(name, value, depth + 1) {
                fitted.insert(name.to_owned(), value);
            }
        }
        if fields.get("nullable") == Some(&Value::Bool(true))
            && let Some(Value::String(only)) = fitted.get("type")
        {
            fitted.insert("type".to_owned(), json!([only, "null"]));
        }
        self.close(fitted)
    }

    /// What a reference points to. Inside itself only the kind of value is said; one that leads out of the document says
    /// nothing.
    fn target(&mut self, reference: &'r str, depth: usize) -> Map<String, Value> {
        let Some(found) = reference.strip_prefix('#').and_then(|path| self.root.pointer(&decoded(path))) else {
            return Map::new();
        };
        if self.open.iter().any(|open| std::ptr::eq(*open, found)) {
            let kind = found.get("type").and_then(types).map(|types| ("type", types));
            let about =
                found.get("description").filter(|about| about.is_string()).map(|about| ("description", about.clone()));
            let said = [kind, about].into_iter().flatten().filter(|(_, value)| self.budget.spend(value));
            return said.map(|(name, value)| (name.to_owned(), value)).collect();
        }
        self.open.push(found);
        let fitted = self.schema(found, depth + 1);
        self.open.pop();
        if let Value::Object(fields) = fitted { fields } else { Map::new() }
    }

    /// A word with its value; none when it is to be left out.
    fn field(&mut self, name: &'r str, value: &'r Value, depth: usize) -> Option<(&'r str, Value)> {
        let all = self.rules.words == Words::All;
        let gemini = self.rules.words == Words::Gemini;
        let fitted = match name {
            _ if ABOUT.contains(&name) => return None,
            "nullable" => return None,
            "type" => types(value)?,
            "properties" => self.properties(value.as_object()?, depth),
            "required" => {
                let names = value.as_array()?.iter().filter_map(Value::as_str);
                names.map(|name| self.name(name)).collect::<Vec<_>>().into()
            }
            // A list is how older versions write what each place holds.
            "items" if value.is_array() => return Some(("prefixItems", self.list(value, depth)?)),
            "items" => self.schema(value, depth),
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => self.list(value, depth)?,
            "additionalProperties" if value.is_boolean() => value.clone(),
            "additionalProperties" => self.schema(Some(value).filter(|value| value.is_object())?, depth),
            "enum" => {
                let values = value.as_array()?.iter().filter(|value| !gemini || value.is_string() || value.is_number());
                Some(values.cloned().collect::<Vec<_>>()).filter(|values| !values.is_empty())?.into()
            }
            "const" if gemini => {
                return (value.is_string() || value.is_number()).then(|| ("enum", json!([value])));
            }
            _ if RARE.contains(&name) && all && value.is_boolean() => value.clone(),
            _ if RARE.contains(&name) && all => self.schema(value, depth),
            _ if RARE_MAPS.contains(&name) && all => {
                let schemas = value.as_object()?.iter().map(|(name, value)| (name.clone(), self.schema(value, depth)));
                Value::Object(schemas.collect())
            }
            _ if RARE.contains(&name) || RARE_MAPS.contains(&name) => return None,
            _ if RARE_WORDS.contains(&name) && !all => return None,
            // Before 2019 these were said of the limit beside them.
            "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => return None,
            _ if gemini && !GEMINI.contains(&name) => return None,
            _ => value.clone(),
        };
        Some((name, fitted))
    }

    fn properties(&mut self, properties: &'r Map<String, Value>, depth: usize) -> Value {
        let mut fitted = Map::new();
        // `false` allows no value at all.
        for (name, value) in properties.iter().filter(|(_, value)| **value != Value::Bool(false)) {
            fitted.insert(self.name(name), self.schema(value, depth));
        }
        Value::Object(fitted)
    }

    fn list(&mut self, value: &'r Value, depth: usize) -> Option<Value> {
        let schemas: Vec<Value> = value.as_array()?.iter().map(|one| self.schema(one, depth)).collect();
        (!schemas.is_empty()).then(|| schemas.into())
    }

    /// The name of an argument as the provider takes it.
    fn name(&mut self, name: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if !self.rules.plain_names || (is_plain_start(name) && name.len() <= 64 && name.chars().all(is_plain)) {
            return name.to_owned();
        }
        let taken = with_hash(if is_plain_start(name) { "" } else { "_" }, name);
        self.renamed.insert(name.to_owned(), taken.clone());
        taken
    }

    /// What a schema needs as a whole.
    fn close(&self, mut fitted: Map<String, Value>) -> Value {
        let is_array = match fitted.get("type") {
            Some(Value::Array(types)) => types.iter().any(|one| one == "array"),
            one => one.is_some_and(|one| one == "array"),
        };
        if is_array && !fitted.contains_key("items") {
            fitted.insert("items".to_owned(), json!({}));
        }
        if self.rules.words == Words::Gemini {
            merge::all_of(&mut fitted);
        }
        merge::only_known_required(&mut fitted);
        Value::Object(fitted)
    }
}

/// A type, or several; none when it is no type of JSON.
fn types(value: &Value) -> Option<Value> {
    match value {
        Value::String(one) => TYPES.contains(&one.as_str()).then(|| value.clone()),
        Value::Array(some) => {
            let known = some.iter().filter(|one| one.as_str().is_some_and(|one| TYPES.contains(&one)));
            Some(known.cloned().collect::<Vec<_>>()).filter(|known| !known.is_empty()).map(Into::into)
        }
        _ => None,
    }
}

/// The path of a reference, in which a URL's escapes may stand.
fn decoded(path: &str) -> Cow<'_, str> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten();
        let byte = escaped.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(path), Cow::Owned)
}

#[cfg(test)]
mod tests;
