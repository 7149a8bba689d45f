//! Several schemas as one object.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

/// Schemas that one argument may have to choose from; where variants say more of it, it takes anything.
const MOST_CHOICES: usize = 256;

/// A schema that describes no object, which is what the arguments of a call are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotAnObject;

/// A schema as one object with properties and without variants, which is what providers take at the top.
pub(super) fn one_object(schema: Value) -> Result<Value, NotAnObject> {
    let Value::Object(mut top) = schema else { return Err(NotAnObject) };
    for word in ["not", "enum", "const", "if", "then", "else"] {
        top.shift_remove(word);
    }
    for (word, every) in [("allOf", true), ("anyOf", false), ("oneOf", false)] {
        if let Some(Value::Array(variants)) = top.shift_remove(word) {
            take_in(&mut top, variants, every)?;
        }
    }
    let is_object = match top.get("type") {
        None => true,
        Some(Value::Array(types)) => types.iter().any(|one| one == "object"),
        Some(one) => one == "object",
    };
    if !is_object {
        return Err(NotAnObject);
    }
    top.insert("type".to_owned(), "object".into());
    if !top.get("properties").is_some_and(Value::is_object) {
        top.insert("properties".to_owned(), json!({}));
    }
    only_known_required(&mut top);
    Ok(Value::Object(top))
}

/// Replaces `allOf` by what it says; where two say different things, the first counts.
pub(super) fn all_of(fields: &mut Map<String, Value>) {
    let Some(Value::Array(parts)) = fields.shift_remove("allOf") else { return };
    for part in parts {
        let Value::Object(part) = part else { continue };
        if part.contains_key("properties") {
            add(fields, &part, true);
        }
        for (name, value) in part {
            fields.entry(name).or_insert(value);
        }
    }
}

/// Takes out of `required` what is no property.
pub(super) fn only_known_required(fields: &mut Map<String, Value>) {
    let Some(Value::Array(required)) = fields.get("required") else { return };
    let known = |name: &&Value| {
        let properties = fields.get("properties").and_then(Value::as_object);
        name.as_str().is_some_and(|name| properties.is_some_and(|known| known.contains_key(name)))
    };
    let kept: Vec<Value> = required.iter().filter(known).cloned().collect();
    if kept.len() == required.len() {
        return;
    }
    match kept.is_empty() {
        true => fields.shift_remove("required"),
        false => fields.insert("required".to_owned(), kept.into()),
    };
}

/// Takes the variants of an object into it: every one of them holds, or one of them does.
fn take_in(top: &mut Map<String, Value>, variants: Vec<Value>, every: bool) -> Result<(), NotAnObject> {
    let variants: Vec<Map<String, Value>> = variants
        .into_iter()
        .filter_map(|variant| one_object(variant).ok())
        .filter_map(|variant| if let Value::Object(fields) = variant { Some(fields) } else { None })
        .collect();
    let is_own = top.contains_key("properties") || top.get("type").is_some_and(|one| one == "object");
    if variants.is_empty() && !is_own {
        return Err(NotAnObject);
    }
    let names = |variant| required(variant).filter_map(Value::as_str);
    let mut common: Vec<&str> = variants.first().into_iter().flat_map(names).collect();
    for variant in &variants {
        let theirs: HashSet<&str> = names(variant).collect();
        common.retain(|name| theirs.contains(name));
    }
    for variant in &variants {
        add(top, variant, every);
    }
    if !every {
        require(top, common.into_iter());
    }
    Ok(())
}

/// Adds the properties of another object, and when both hold, what it requires.
fn add(fields: &mut Map<String, Value>, other: &Map<String, Value>, every: bool) {
    if let Some(Value::Object(more)) = other.get("properties") {
        let own = fields.entry("properties").or_insert_with(|| json!({}));
        let Value::Object(own) = own else { return };
        for (name, schema) in more {
            match own.get_mut(name) {
                None => drop(own.insert(name.clone(), schema.clone())),
                Some(known) if known == schema || every => {}
                Some(known) => either(known, schema),
            }
        }
    }
    if every {
        require(fields, required(other).filter_map(Value::as_str));
    }
}

fn required(fields: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    fields.get("required").and_then(Value::as_array).into_iter().flatten()
}

fn require<'n>(fields: &mut Map<String, Value>, names: impl Iterator<Item = &'n str>) {
    let mut known: HashSet<&str> = required(fields).filter_map(Value::as_str).collect();
    let new: Vec<Value> = names.filter(|name| known.insert(*name)).map(Value::from).collect();
    if new.is_empty() {
        return;
    }
    match fields.entry("required").or_insert_with(|| json!([])) {
        Value::Array(all) => all.extend(new),
        other => *other = new.into(),
    }
}

/// Makes a schema take what another one takes too.
fn either(schema: &mut Value, other: &Value) {
    if schema.as_object().is_some_and(Map::is_empty) {
        return;
    }
    let own = schema.as_object_mut().filter(|fields| fields.len() == 1).and_then(|fields| fields.get_mut("anyOf"));
    match own.and_then(Value::as_array_mut) {
        Some(choices) if choices.len() > MOST_CHOICES => *schema = json!({}),
        Some(choices) if choices.contains(other) => {}
        Some(choices) if choices.len() == MOST_CHOICES => *schema = json!({}),
        Some(choices) => choices.push(other.clone()),
        None => *schema = json!({ "anyOf": [schema.take(), other] }),
    }
}
