//! A text of settings with another value for one of them. A value that is there is replaced where it stands; only what is new is put
//! in by the library.

use limpid_config::{Setting, SettingKind};
use toml_edit::{Array, Document, DocumentMut, Item, Table, TableLike, Value};

use super::said::find;

/// The text with another value; none: without it.
pub(super) fn set(text: &str, setting: &Setting, words: Option<&str>) -> Result<String, String> {
    let path: Vec<&str> = setting.key.split('.').collect();
    let words = words.filter(|words| !is_nothing(setting, words));
    if matches!(setting.kind, SettingKind::Tables(_)) {
        return tables(text, &path, words.unwrap_or_default());
    }
    let document = Document::parse(text).map_err(|error| error.to_string())?;
    let place = match find(document.as_table(), &path) {
        Some((start, Item::Value(value))) => value.span().map(|span| (start, span)),
        Some(_) => return Err(format!("`{}` is a table there", setting.key)),
        None => None,
    };
    match (words, place) {
        (None, None) => Ok(text.to_owned()),
        (None, Some((start, span))) => remove(text, &path, start, span.end),
        (Some(words), None) => insert(text, &path, Item::Value(value_of(&setting.kind, words, None))),
        (Some(words), Some((_, span))) => {
            // What was parsed with its places has no texts of the remarks in it.
            let own: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
            let old = find(own.as_table(), &path).and_then(|(_, item)| item.as_array());
            let mut new = value_of(&setting.kind, words, old);
            new.decor_mut().clear();
            let mut text = text.to_owned();
            text.replace_range(span, &new.to_string());
            Ok(text)
        }
    }
}

/// Whether what was typed is as good as nothing. A long text that is empty says something: that there is to be none.
fn is_nothing(setting: &Setting, words: &str) -> bool {
    let is_text = matches!(setting.kind, SettingKind::Text { is_long: true });
    words.trim().is_empty()
        && !is_text
        && (setting.default.is_none() || !matches!(setting.kind, SettingKind::List | SettingKind::Text { .. }))
}

/// A value as the file has it. What cannot be one of its kind becomes a text, and whoever reads the settings says what is wrong.
fn value_of(kind: &SettingKind, words: &str, old: Option<&Array>) -> Value {
    let bare = || words.trim().parse::<Value>().ok();
    let parsed = match kind {
        SettingKind::Switch => bare().filter(Value::is_bool),
        SettingKind::Whole(..) => bare().filter(Value::is_integer),
        SettingKind::Number => bare().filter(|value| value.is_integer() || value.is_float()),
        SettingKind::List => Some(Value::Array(list(words, old))),
        SettingKind::Word(_) | SettingKind::Text { .. } | SettingKind::Tables(_) => None,
    };
    parsed.unwrap_or_else(|| Value::from(words.replace("\r\n", "\n")))
}

/// A list with a text for each line. Texts that were there keep what stands beside them.
fn list(words: &str, old: Option<&Array>) -> Array {
    let texts: Vec<&str> = words.lines().map(str::trim).filter(|text| !text.is_empty()).collect();
    let Some(old) = old else { return texts.into_iter().collect() };
    let mut rest: Vec<&Value> = old.iter().collect();
    let mut new = Array::new();
    let model = old.get(0).and_then(|first| first.decor().prefix()).and_then(|prefix| prefix.as_str());
    let indent = model.and_then(|prefix| prefix.rsplit_once('\n')).map(|(_, indent)| format!("\n{indent}"));
    for text in texts {
        match rest.iter().position(|value| value.as_str() == Some(text)) {
            Some(at) => new.push_formatted(rest.remove(at).clone()),
            None => {
                let mut value = Value::from(text);
                let prefix = indent.clone().unwrap_or_else(|| if new.is_empty() { "".into() } else { " ".into() });
                value.decor_mut().set_prefix(prefix);
                new.push_formatted(value);
            }
        }
    }
    // Remarks of what is gone stay, at the end.
    let gone = rest.iter().flat_map(|value| [value.decor().prefix(), value.decor().suffix()]);
    let lines = gone.flatten().filter_map(|decor| decor.as_str()).flat_map(str::lines).map(str::trim);
    let mut trailing: String = lines.filter(|line| line.starts_with('#')).map(|line| format!("\n  {line}")).collect();
    let own = old.trailing().as_str().unwrap_or_default();
    if !trailing.is_empty() && !own.trim_start_matches([' ', '\t']).starts_with('\n') {
        trailing.push_str("\n  ");
    }
    trailing.push_str(own.trim_start_matches([' ', '\t']));
    new.set_trailing(trailing);
    new.set_trailing_comma(old.trailing_comma() && !new.is_empty());
    new
}

/// The text without a key and its value. What stands over it and behind it stays.
fn remove(text: &str, path: &[&str], start: usize, end: usize) -> Result<String, String> {
    let line = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    let before = text.get(line..start).unwrap_or_default();
    let behind = text.get(end..).unwrap_or_default();
    let (rest, after) = behind.split_once('\n').map_or((behind, ""), |(rest, after)| (rest, after));
    let is_alone = before.chars().all(|letter| letter.is_alphanumeric() || " \t.\"'_-".contains(letter));
    let rest = rest.trim();
    if is_alone && (rest.is_empty() || rest.starts_with('#')) {
        let kept = if rest.is_empty() { String::new() } else { format!("{rest}\n") };
        return Ok(format!("{}{kept}{after}", text.get(..line).unwrap_or_default()));
    }
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    if let Some((name, table)) = place(&mut document, path) {
        table.remove(name);
    }
    Ok(document.to_string())
}

fn insert(text: &str, path: &[&str], item: Item) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    // A new section follows whatever ends the file, remarks too.
    let is_new = path.len() > 1 && path.first().is_some_and(|section| !document.contains_key(section));
    if !text.is_empty() && (is_new || document.is_empty()) {
        return Ok(format!("{}\n\n{}", text.trim_end(), insert("", path, item)?.trim_start()));
    }
    let (name, table) = place(&mut document, path).ok_or_else(|| format!("`{}` cannot stand there", path.join(".")))?;
    table.insert(name, item);
    Ok(document.to_string())
}

/// The table that a key stands in; it is made where it is not there.
fn place<'a, 'b>(document: &'a mut DocumentMut, path: &[&'b str]) -> Option<(&'b str, &'a mut dyn TableLike)> {
    let (name, above) = path.split_last()?;
    let mut place: &mut dyn TableLike = document.as_table_mut();
    for (at, step) in above.iter().enumerate() {
        let mut table = Table::new();
        table.set_implicit(at + 1 < above.len());
        place = place.entry(step).or_insert(Item::Table(table)).as_table_like_mut()?;
    }
    Some((name, place))
}

/// The text with other tables in the place of those of a key.
fn tables(text: &str, path: &[&str], words: &str) -> Result<String, String> {
    let given: DocumentMut = words.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    let only = format!("write tables of `{}` alone, with their names in brackets", path.join("."));
    let mut found: &dyn TableLike = given.as_table();
    for (at, step) in path.iter().enumerate() {
        if found.iter().any(|(key, _)| key != *step) {
            return Err(only);
        }
        match found.get(step) {
            None => break,
            Some(_) if at + 1 == path.len() => break,
            Some(item) => found = item.as_table_like().ok_or_else(|| only.clone())?,
        }
    }
    let new = find(given.as_table(), path).map(|(_, item)| item.clone());
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let old = find(document.as_table(), path).and_then(|(_, item)| first_position(item));
    let (name, table) = place(&mut document, path).ok_or(only)?;
    match new {
        None => drop(table.remove(name)),
        Some(mut item) => {
            stand_at(&mut item, old);
            table.insert(name, item);
        }
    }
    // What was made on the way, and holds nothing, is not written.
    Ok(document.to_string())
}

/// Where the first of tables stands in the file.
fn first_position(item: &Item) -> Option<isize> {
    match item {
        Item::Table(table) => {
            table.position().or_else(|| table.iter().filter_map(|(_, item)| first_position(item)).min())
        }
        Item::ArrayOfTables(tables) => tables.iter().filter_map(Table::position).min(),
        _ => None,
    }
}

/// Has tables stand together at one place of the file, in their order.
fn stand_at(item: &mut Item, position: Option<isize>) {
    let each = |table: &mut Table| {
        table.set_position(position);
        for (_, item) in table.iter_mut() {
            stand_at(item, position);
        }
    };
    match item {
        Item::Table(table) => each(table),
        Item::ArrayOfTables(tables) => tables.iter_mut().for_each(each),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use limpid_config::Config;

    use super::*;

    const FILE: &str = "# Mine.\nmodel = \"a/b\" # the good one\n\n[limits] # Jonas pays the rest\n# Not more than that.\n\
        tries = 4 # in all\nsilence_seconds = 9\nagents.x = 1\n\n# Alone.\n[agents]\nallow = [\n  \"a\", # first\n  \"b\", # second\n]\n\n\
        # What the beat reasons.\n[path.heartbeat]\neffort = \"low\" # cheap\n\n[owner]\nname = \"Ada\"\n# The end.\n";

    fn with(text: &str, key: &str, words: Option<&str>) -> Result<String, String> {
        let setting = Config::settings().into_iter().find(|setting| setting.key == key).unwrap();
        set(text, &setting, words)
    }

    /// Every comment of a text.
    fn remarks(text: &str) -> Vec<String> {
        let mut found: Vec<String> =
            text.lines().filter_map(|line| line.split_once('#')).map(|(_, remark)| remark.trim().to_owned()).collect();
        found.sort();
        found
    }

    // SUR-026
    #[test]
    fn a_value_is_changed_where_it_stands_and_every_comment_stays() {
        let file = FILE.replace("agents.x = 1\n", "");
        let changes = [
            ("model", Some("c/d")),
            ("model", None),
            ("limits.tries", Some("2")),
            ("limits.tries", None),
            ("limits.tool_seconds", Some("5")),
            ("limits.dollars_per_day", Some("0.5")),
            ("agents.allow", Some("b\nc")),
            ("agents.allow", Some("")),
            ("agents.allow", None),
            ("fallback", Some("x/y\nz/w")),
            ("memory.semantic.model", Some("o/e")),
            ("memory.instructions", Some("One \"line\".\nAnother.")),
            ("owner.name", Some("")),
            ("chat.ui_mode", Some("dynamic")),
            (
                "path",
                Some(
                    "# What the beat reasons.\n[path.heartbeat]\neffort = \"high\" # cheap\n[path.task]\neffort = \"low\"",
                ),
            ),
        ];
        let mut seen = String::new();
        for (key, words) in changes {
            let after = with(&file, key, words).unwrap();
            Config::parse(&after, "limpid.toml").unwrap_or_else(|error| panic!("{key}: {error}\n{after}"));
            // Those within a list of nothing go with it.
            if (key, words) != ("agents.allow", None) {
                assert_eq!(remarks(&after), remarks(&file), "{key}\n{after}");
            }
            let diff = crate::line_diff::line_diff(&file, &after);
            seen.push_str(&format!("{key} = {words:?}\n{}\n", diff.unified_diff().context_radius(1)));
        }
        insta::assert_snapshot!(seen);
    }

    // SUR-026
    #[test]
    fn tables_hold_nothing_of_another_key() {
        for words in [
            "[exec]\nshell = true",
            "[path.a]\neffort = \"low\"\n[policy]\nhosts = [\"x\"]",
            "model = \"a/b\"",
            "[path",
        ] {
            assert!(with("", "path", Some(words)).is_err(), "{words}");
        }
        let limits = "[limits]\ntries = 1\n[limits.path.a]\ntokens_per_day = 1";
        assert!(with("", "limits.path", Some(limits)).is_err());
    }

    // SUR-026
    #[test]
    fn every_default_that_is_written_is_the_default() {
        for setting in Config::settings().into_iter().filter(|setting| !matches!(setting.kind, SettingKind::Tables(_)))
        {
            let Some(default) = &setting.default else { continue };
            let words = match default {
                serde_json::Value::String(text) => text.clone(),
                serde_json::Value::Array(items) if items.is_empty() => continue,
                other => other.to_string(),
            };
            let text = set("", &setting, Some(&words)).unwrap();
            assert_eq!(Config::parse(&text, "limpid.toml").unwrap(), Config::default(), "{text}");
        }
    }
}
