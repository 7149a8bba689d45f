//! The names that texts may use, with what kind of thing each is.
//!
//! The fields come from the JSON schema of the inputs, so that an input that is added can be named at once; what is
//! derived from them is added by hand. A test proves that [`Scope::lookup`](crate::scope::Scope::lookup) knows them all.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::inputs;
use crate::problem::nearest;

/// What kind of thing a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Flag,
    Number,
    Text,
    List(Arc<Kind>),
    Record(Arc<Fields>),
    /// Data in a form that the schema does not know; any field may be there.
    Any,
}

pub(crate) type Fields = BTreeMap<String, Kind>;

impl Kind {
    fn list(kind: Self) -> Self {
        Self::List(Arc::new(kind))
    }

    fn record<const N: usize>(fields: [(&str, Self); N]) -> Self {
        Self::Record(Arc::new(fields.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect()))
    }
}

/// Every name that any text may use.
#[derive(Clone, Debug)]
pub(crate) struct Names(Fields);

impl Names {
    /// The names of the inputs and what is derived from them.
    pub(crate) fn new() -> Self {
        let schema = inputs::schema();
        let Kind::Record(fields) = kind(&schema, &schema) else { return Self(Fields::new()) };
        let mut fields = (*fields).clone();
        derive(&mut fields);
        Self(fields)
    }

    /// What a name stands for, or why it stands for nothing.
    pub(crate) fn find(&self, path: &[String]) -> Result<Kind, String> {
        find(&self.0, path)
    }

    /// Whether a name is known at all.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Every name, for tests that walk over them.
    #[cfg(test)]
    pub(crate) fn fields(&self) -> &Fields {
        &self.0
    }
}

/// What a path of fields stands for, or what to do about it.
pub(crate) fn find(fields: &Fields, path: &[String]) -> Result<Kind, String> {
    let Some((first, rest)) = path.split_first() else { return Ok(Kind::Any) };
    let Some(kind) = fields.get(first) else {
        let known = fields.keys().map(String::as_str);
        return Err(match nearest(first, known) {
            Some(close) => format!("did you mean `{close}`?"),
            None => "use one of the names of `limpid prompt schema` or docs/profiles.md".to_owned(),
        });
    };
    match kind {
        kind if rest.is_empty() => Ok(kind.clone()),
        Kind::Any => Ok(Kind::Any),
        Kind::Record(fields) => find(fields, rest).map_err(|fix| match fields.get(&rest[0]) {
            Some(_) => fix,
            None => match nearest(&rest[0], fields.keys().map(String::as_str)) {
                Some(close) => format!("did you mean `{first}.{close}`?"),
                None => format!("`{first}` has the fields {}", list(fields)),
            },
        }),
        Kind::List(_) => Err(format!("`{first}` is a list; print it through `entries` or `lists` of the front matter")),
        Kind::Flag | Kind::Number | Kind::Text => Err(format!("`{first}` has no fields")),
    }
}

/// The names of fields, for people.
pub(crate) fn list(fields: &Fields) -> String {
    let names: Vec<String> = fields.keys().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The kind that a schema describes; references are followed in `root`.
fn kind(schema: &Value, root: &Value) -> Kind {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return target.map_or(Kind::Any, |target| kind(target, root));
    }
    if let Some(choices) = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array) {
        let some = choices.iter().find(|choice| choice.get("type").and_then(Value::as_str) != Some("null"));
        return some.map_or(Kind::Any, |some| kind(some, root));
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        // What is a provider's own is no text of a prompt.
        let shown = properties.iter().filter(|(_, property)| property.get("x-opaque").is_none());
        let fields = shown.map(|(name, property)| (name.clone(), kind(property, root)));
        return Kind::Record(Arc::new(fields.collect()));
    }
    match type_of(schema) {
        Some("boolean") => Kind::Flag,
        Some("integer") => Kind::Number,
        Some("string") => Kind::Text,
        Some("array") => Kind::list(schema.get("items").map_or(Kind::Any, |items| kind(items, root))),
        _ => Kind::Any,
    }
}

/// The type of a schema; of `string or null`, the first.
fn type_of(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => None,
    }
}

/// Adds what is no field of the inputs (docs/profiles.md lists it).
fn derive(fields: &mut Fields) {
    let items = |fields: &Fields, path: [&str; 2]| find(fields, &path.map(str::to_owned)).unwrap_or(Kind::Any);
    let skill = with_field(items(fields, ["skills", "index"]), "skill_title", Kind::Text);
    let active = with_field(items(fields, ["skills", "active"]), "skill_title", Kind::Text);
    let delegated = with_field(items(fields, ["delegate", "skill"]), "skill_title", Kind::Text);
    let tasks = items(fields, ["scheduling", "tasks"]);
    let news = items(fields, ["notifications", "new"]);
    let files = items(fields, ["workspace", "files"]);
    let notes = items(fields, ["workspace", "daily_notes"]);
    let line = Kind::list(Kind::record([("text", Kind::Text)]));
    let card = Kind::record([
        ("name", Kind::Text),
        ("splinter", Kind::Text),
        ("mana", Kind::Number),
        ("type", Kind::Text),
        ("abilities", Kind::list(Kind::Text)),
    ]);
    let group = Kind::record([("title", Kind::Text), ("names", Kind::list(Kind::Text))]);

    for part in ["date", "minute", "second", "offset", "weekday"] {
        add(fields, "time", part, Kind::Text);
    }
    add(fields, "skills", "index", skill.clone());
    add(fields, "skills", "by_source", skill);
    for part in ["active", "standing", "called"] {
        add(fields, "skills", part, active.clone());
    }
    add(fields, "delegate", "skill", delegated);
    add(fields, "scheduling", "timed", tasks.clone());
    add(fields, "scheduling", "additions", tasks);
    add(fields, "notifications", "newest", news);
    add(fields, "workspace", "prompt_files", files);
    add(fields, "workspace", "long_term_lines", line.clone());
    add(fields, "workspace", "notes", notes);
    let tools = fields.remove("tools").unwrap_or(Kind::Any);
    fields.insert("tools".to_owned(), with_field(tools, "arguments", Kind::Text));
    fields.insert("tool".to_owned(), Kind::Any);
    fields.insert("groups".to_owned(), Kind::list(group));
    let goal = fields.get("goal").cloned().unwrap_or(Kind::Any);
    fields.insert("stored_goal".to_owned(), goal);
    fields.insert("tier".to_owned(), Kind::Number);
    // Only a digest has an id; the one summary has a text alone.
    fields.insert("digests_or_summary".to_owned(), line);
    let pick = [
        ("mana_cap", Kind::Number),
        ("max_monsters", Kind::Number),
        ("summoners", Kind::list(card.clone())),
        ("monsters", Kind::list(card)),
        ("gladiators", Kind::list(Kind::Text)),
    ];
    fields.insert("pick".to_owned(), Kind::record(pick));
}

fn add(fields: &mut Fields, record: &str, name: &str, kind: Kind) {
    if let Some(whole) = fields.remove(record) {
        fields.insert(record.to_owned(), with_field(whole, name, kind));
    }
}

/// A record, or a list of records, with one field more.
fn with_field(kind: Kind, name: &str, field: Kind) -> Kind {
    match kind {
        Kind::Record(fields) => {
            let mut fields = (*fields).clone();
            fields.insert(name.to_owned(), field);
            Kind::Record(Arc::new(fields))
        }
        Kind::List(item) => Kind::list(with_field((*item).clone(), name, field)),
        other => other,
    }
}
