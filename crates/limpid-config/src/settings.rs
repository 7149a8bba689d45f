//! Every setting that `limpid.toml` knows, as the types of [`Config`] have it: what it is called, what it does, what it can be,
//! and what it is when nothing is said. The reference and the page's settings are made from this list.

use std::fmt::Write as _;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::Config;

/// A place in the key for a name of the owner's.
const NAME: &str = "NAME";

/// A setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its key from the top of the file on: `limits.tool_seconds`.
    pub key: String,
    /// What it does.
    pub what: String,
    /// What it can be.
    pub kind: Kind,
    /// What it is when nothing is said; none where nothing is a value of its own.
    pub default: Option<Value>,
    /// Why it is changed in the file alone.
    pub by_hand: Option<String>,
}

/// What a setting can be.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// On or off.
    Switch,
    /// One of some words.
    Word(Vec<String>),
    /// A whole number between two, as far as these are known.
    Whole(Option<u64>, Option<u64>),
    /// A number.
    Number,
    /// A text.
    Text {
        /// Whether it usually has several lines.
        is_long: bool,
    },
    /// Texts.
    List,
    /// Tables, each with these settings, whose keys begin in it.
    Tables(Vec<Setting>),
}

impl Setting {
    /// The key of its section; that of one outside of any is empty.
    pub fn section(&self) -> &str {
        let is_section = !matches!(self.kind, Kind::Tables(_)) || self.key.contains('.');
        match self.key.split_once('.') {
            Some((section, _)) => section,
            None if is_section => "",
            None => &self.key,
        }
    }
}

impl Kind {
    /// In words.
    pub fn words(&self) -> String {
        match self {
            Self::Switch => "`true` or `false`".to_owned(),
            Self::Word(words) => words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", "),
            Self::Whole(..) => "a whole number".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Text { .. } => "a text".to_owned(),
            Self::List => "a list of texts".to_owned(),
            Self::Tables(_) => "tables".to_owned(),
        }
    }
}

impl Config {
    /// Every setting, section by section.
    pub fn settings() -> Vec<Setting> {
        let generator = SchemaSettings::default().with(|settings| settings.inline_subschemas = true).into_generator();
        let schema = generator.into_root_schema_for::<Self>();
        let mut found = Vec::new();
        walk("", schema.get("properties"), None, &mut found);
        found
    }

    /// What every section is for, by its key.
    pub fn sections() -> Vec<(String, String)> {
        let generator = SchemaSettings::default().with(|settings| settings.inline_subschemas = true).into_generator();
        let schema = generator.into_root_schema_for::<Self>();
        let properties = schema.get("properties").and_then(Value::as_object);
        let sections = properties.into_iter().flatten().filter(|(_, about)| is_object(about) || is_of_tables(about));
        sections.map(|(name, about)| (name.clone(), words_of(about))).collect()
    }
}

/// The reference of `limpid.toml`, in Markdown.
pub fn settings_page() -> String {
    let mut page = "# Settings\n\n".to_owned();
    page.push_str(
        "Everything that `limpid.toml` in Limpid's home can say. Every key may be absent. The page shows the same under Settings, \
         changes most of it there, and keeps your comments; what only the file changes is marked \"in the file alone\".\n\
         Changes act at once in programs that run (`limpid serve`, an open chat, an editor's session), but for `[local]`, `[page]` and `[telemetry]`, which need a restart.\n\n\
         [repositories.md](repositories.md) says how to work in a repository, with examples of `[files]`, `[exec]` and `[[policy.allow]]`. \
         What the agent writes after it read a stranger's text goes to `outside/` in the home; `limpid file list` shows what its tools wrote, and \
         `limpid file accept outside/plan.md` makes it yours, as `plan.md` in the workspace.\n",
    );
    let settings = Config::settings();
    let mut sections = vec![(String::new(), "At the top of the file.".to_owned())];
    sections.extend(Config::sections());
    for (section, what) in sections {
        let heading = if section.is_empty() { "Outside of sections".to_owned() } else { format!("`[{section}]`") };
        let _ =
            write!(page, "\n## {heading}\n{what}\n\n| key | what it does | values | default |\n|---|---|---|---|\n");
        for setting in settings.iter().filter(|setting| setting.section() == section) {
            row(setting, &mut page);
        }
    }
    page
}

fn row(setting: &Setting, page: &mut String) {
    let Setting { key, what, kind, default, by_hand } = setting;
    let default = default.as_ref().map_or_else(String::new, |value| format!("`{value}`"));
    let alone = by_hand.as_ref().map_or_else(String::new, |why| format!(" *In the file alone: {}*", lower(why)));
    let what = what.replace('|', "\\|");
    let _ = writeln!(page, "| `{key}` | {what}{alone} | {} | {default} |", kind.words());
    if let Kind::Tables(settings) = kind {
        settings.iter().for_each(|setting| row(&Setting { by_hand: None, ..setting.clone() }, page));
    }
}

fn lower(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn walk(prefix: &str, properties: Option<&Value>, by_hand: Option<&str>, found: &mut Vec<Setting>) {
    for (name, about) in properties.and_then(Value::as_object).into_iter().flatten() {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let own = about.get("x-by-hand").and_then(Value::as_str).or(by_hand);
        if is_object(about) {
            walk(&key, about.get("properties"), own, found);
            continue;
        }
        found.push(Setting {
            what: words_of(about),
            kind: kind_of(&key, about),
            default: about.get("default").filter(|value| !value.is_null()).cloned(),
            by_hand: own.map(ToOwned::to_owned),
            key,
        });
    }
}

fn kind_of(key: &str, about: &Value) -> Kind {
    let number = |name: &str| about.get(name).and_then(Value::as_u64);
    let of = |item: Option<&Value>, place: String| {
        let mut settings = Vec::new();
        walk(&place, item.and_then(properties_of), None, &mut settings);
        Kind::Tables(settings)
    };
    if let Some(words) = words_in(about) {
        return Kind::Word(words);
    }
    match type_of(about) {
        Some("boolean") => Kind::Switch,
        Some("integer") => Kind::Whole(number("minimum"), number("maximum")),
        Some("number") => Kind::Number,
        Some("array") if properties_of(about.get("items").unwrap_or(about)).is_some() => {
            of(about.get("items"), key.to_owned())
        }
        Some("array") => Kind::List,
        Some("object") => of(about.get("additionalProperties"), format!("{key}.{NAME}")),
        None if optional(about).is_some() => {
            optional(about).map_or(Kind::Tables(Vec::new()), |inner| match properties_of(inner) {
                Some(_) => of(Some(inner), key.to_owned()),
                None => kind_of(key, inner),
            })
        }
        None => Kind::Tables(Vec::new()),
        Some(_) => Kind::Text { is_long: about.get("x-long").is_some() },
    }
}

/// A table with keys of its own.
fn is_object(about: &Value) -> bool {
    properties_of(about).is_some()
}

fn is_of_tables(about: &Value) -> bool {
    about.get("additionalProperties").is_some_and(Value::is_object)
        || about.get("items").is_some_and(|items| properties_of(items).is_some())
}

fn properties_of(about: &Value) -> Option<&Value> {
    about.get("properties").filter(|properties| properties.as_object().is_some_and(|own| !own.is_empty()))
}

/// What is there unless there is nothing.
fn optional(about: &Value) -> Option<&Value> {
    let either = about.get("anyOf")?.as_array()?;
    either.iter().find(|one| one.get("type").and_then(Value::as_str) != Some("null"))
}

fn type_of(about: &Value) -> Option<&str> {
    match about.get("type")? {
        Value::String(one) => Some(one),
        Value::Array(all) => all.iter().filter_map(Value::as_str).find(|one| *one != "null"),
        _ => None,
    }
}

/// The words that a value can be.
fn words_in(about: &Value) -> Option<Vec<String>> {
    let about = optional(about).unwrap_or(about);
    let texts = |values: &[Value]| values.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect();
    if let Some(words) = about.get("enum").and_then(Value::as_array) {
        return Some(texts(words));
    }
    let either = about.get("oneOf")?.as_array()?;
    let of = |one: &Map<String, Value>| one.get("const").or_else(|| one.get("enum")?.get(0)).cloned();
    Some(texts(&either.iter().filter_map(Value::as_object).filter_map(of).collect::<Vec<_>>()))
}

/// What its description says, in one line and without links to code.
fn words_of(about: &Value) -> String {
    let text = about.get("description").and_then(Value::as_str).unwrap_or_default();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.split_whitespace().collect::<Vec<_>>().join(" ").replace("[`McpToolConfig::effect`]", "`effect` below")
}

#[cfg(test)]
mod tests {
    use super::*;

    // SUR-026
    #[test]
    fn every_key_of_a_full_file_is_in_the_list_of_settings() {
        let settings = Config::settings();
        let full: toml::Table = include_str!("config/full.toml").parse().unwrap();
        let mut keys = Vec::new();
        flat("", &full, &settings, &mut keys);
        for key in keys {
            assert!(settings.iter().any(|setting| setting.key == key), "{key} is in no list");
        }
        insta::assert_snapshot!(settings_page());
    }

    fn flat(prefix: &str, table: &toml::Table, known: &[Setting], keys: &mut Vec<String>) {
        for (name, value) in table {
            let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            match value {
                toml::Value::Table(table) if !known.iter().any(|setting| setting.key == key) => {
                    flat(&key, table, known, keys);
                }
                _ => keys.push(key),
            }
        }
    }
}
