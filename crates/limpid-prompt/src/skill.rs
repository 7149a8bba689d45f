//! SKILL.md files: read as Agent Skills are published, and written.
//!
//! A file is front matter in YAML or JSON between lines `---`, and instructions. Keys that Limpid does not know are left
//! to whoever knows them, and stay when a skill is changed.

mod shipped;
mod write;

pub use shipped::shipped_skills;
pub use write::{Draft, create, update};

use limpid_core::Skill;
use limpid_core::skill::{BadName, MAX_DESCRIPTION, SkillName};
use serde_json::{Map, Value};

use crate::front_matter::{self, split_front_matter};

/// Why a text is no skill.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkillError {
    /// The front matter cannot be read.
    #[error("line {line}: {message}")]
    FrontMatter {
        /// The line of the file, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// It has no name that can be used.
    #[error(transparent)]
    Name(#[from] BadName),
    /// Nothing says what it is for.
    #[error("it has no description; say under `description` when to use it")]
    NoDescription,
    /// The description is too long for an index.
    #[error("the description has {0} characters, at most {MAX_DESCRIPTION} are taken; shorten it")]
    LongDescription(usize),
}

/// Reads a SKILL.md. `folder` is the name of the folder that it stands in: its name when it gives none.
///
/// # Errors
/// When the front matter cannot be read, or what it says is no skill.
///
/// ```
/// let skill = limpid_prompt::skill::parse("---\ndescription: Brews tea\n---\nSteep it.\n", "tea")?;
/// assert_eq!((skill.name.as_str(), skill.body.as_str()), ("tea", "Steep it."));
/// # Ok::<(), limpid_prompt::skill::SkillError>(())
/// ```
pub fn parse(text: &str, folder: &str) -> Result<Skill, SkillError> {
    let (front, body) = halves(text)?;
    let body = body.replace("\r\n", "\n").trim().to_owned();
    let word = |key: &str| front.get(key).and_then(as_text).filter(|text| !text.is_empty());
    let name: SkillName = word("name").unwrap_or_else(|| folder.to_owned()).parse()?;
    let description = match word("description") {
        Some(text) => text,
        None => first_paragraph(&body).ok_or(SkillError::NoDescription)?,
    };
    let length = description.chars().count();
    if length > MAX_DESCRIPTION {
        return Err(SkillError::LongDescription(length));
    }
    let list = |key: &str| front.get(key).map(as_list).unwrap_or_default();
    let about = front.get("metadata").and_then(Value::as_object);
    let version = word("version").or_else(|| about.and_then(|about| about.get("version")).and_then(as_text));
    Ok(Skill {
        title: word("title"),
        triggers: list("triggers"),
        tools: list("tools"),
        required_tools: list("requiredTools"),
        tags: list("tags"),
        model: word("model"),
        always: front.get("always").is_some_and(is_true),
        version,
        ..Skill::new(name, description, body)
    })
}

/// The front matter as a map, and what follows it.
fn halves(text: &str) -> Result<(Map<String, Value>, &str), SkillError> {
    let (front, body) = split_front_matter(text);
    match front {
        Some(front) => Ok((read_front(front)?, body)),
        None if body.lines().next().is_some_and(|line| line.trim_end() == "---") => Err(SkillError::FrontMatter {
            line: 1,
            message: "the front matter does not end; close it with a line `---`".to_owned(),
        }),
        None => Ok((Map::new(), body)),
    }
}

pub(crate) fn read_front(front: &str) -> Result<Map<String, Value>, SkillError> {
    if front.trim().is_empty() {
        return Ok(Map::new());
    }
    if front.len() > front_matter::LONGEST {
        let message = format!("it has more than {} bytes", front_matter::LONGEST);
        return Err(SkillError::FrontMatter { line: 2, message });
    }
    // JSON may be indented with tabs, which YAML refuses.
    if let Ok(Value::Object(map)) = serde_json::from_str(front) {
        return Ok(map);
    }
    let read = |text: &str| front_matter::yaml::<Value>(text);
    // Published skills leave texts with `: ` in them unquoted.
    let value = read(front).or_else(|error| read(&with_quotes(front)).map_err(|_| error)).map_err(|error| {
        let line = error.location().map_or(1, |at| usize::try_from(at.line()).unwrap_or(1));
        let message = error.without_snippet().to_string();
        let message = message.lines().next().unwrap_or_default();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        SkillError::FrontMatter { line: line + 1, message }
    })?;
    match value {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        _ => Err(SkillError::FrontMatter { line: 2, message: "it must be lines `key: value`".to_owned() }),
    }
}

/// The same lines with quotes around the plain texts of the outermost keys.
fn with_quotes(front: &str) -> String {
    let quoted = |line: &str| {
        let (key, value) = line.split_once(": ")?;
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
        let value = value.trim();
        let is_plain = !value.is_empty() && !value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '!', '#']);
        (is_key && is_plain).then(|| format!("{key}: {}", Value::from(value)))
    };
    front.lines().map(|line| quoted(line).unwrap_or_else(|| line.to_owned()) + "\n").collect()
}

pub(crate) fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(word) => Some(word.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A list, or a text with commas.
pub(crate) fn as_list(value: &Value) -> Vec<String> {
    let items: Vec<String> = match value {
        Value::Array(items) => items.iter().filter_map(as_text).collect(),
        other => {
            as_text(other).map(|text| text.split(',').map(|part| part.trim().to_owned()).collect()).unwrap_or_default()
        }
    };
    items.into_iter().filter(|item| !item.is_empty()).collect()
}

fn is_true(value: &Value) -> bool {
    value.as_bool().unwrap_or_else(|| as_text(value).is_some_and(|word| word.eq_ignore_ascii_case("true")))
}

/// The first paragraph that is no heading, as one line of the length that is taken.
fn first_paragraph(body: &str) -> Option<String> {
    let paragraphs = body.split("\n\n").map(|paragraph| {
        let lines = paragraph.lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    });
    let first = paragraphs.into_iter().find(|paragraph| !paragraph.is_empty())?;
    if first.chars().count() <= MAX_DESCRIPTION {
        return Some(first);
    }
    Some(first.chars().take(MAX_DESCRIPTION - 1).chain(['…']).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-044 SEC-093
    #[test]
    fn front_matter_that_would_grow_by_powers_is_refused_at_its_first_anchor() {
        let lines: String = (1..7).map(|n| format!("a{n}: &a{n} [{}]\n", format!("*a{},", n - 1).repeat(9))).collect();
        let error = parse(&format!("---\nname: tea\na0: &a0 [x,x,x]\n{lines}---\nSteep.\n"), "tea").unwrap_err();
        assert!(error.to_string().contains("anchor"), "{error}");
    }

    // PICO-034
    #[test]
    fn front_matter_is_yaml_or_json_with_any_line_ends_and_a_mark_at_the_start() {
        let yaml = "---\nname: tea\ndescription: Brews tea\ntriggers: [oolong, green tea]\ntools:\n  - web_search\nmodel: local/small\n---\n\nSteep.\nWait.\n";
        let json = "---\n{\n\t\"name\": \"tea\", \"description\": \"Brews tea\", \"triggers\": [\"oolong\", \"green tea\"],\n\t\"tools\": [\"web_search\"], \"model\": \"local/small\"\n}\n---\nSteep.\nWait.";
        let wanted = parse(yaml, "other").unwrap();
        assert_eq!((wanted.name.as_str(), &*wanted.description, &*wanted.body), ("tea", "Brews tea", "Steep.\nWait."));
        // KOSHI-033
        assert_eq!(
            (&wanted.triggers[1], &wanted.tools[0], wanted.model.as_deref()),
            (&"green tea".to_owned(), &"web_search".to_owned(), Some("local/small"))
        );
        for text in [
            yaml.replace("[oolong, green tea]", "oolong, green tea"),
            json.to_owned(),
            yaml.replace('\n', "\r\n"),
            format!("\u{feff}{yaml}"),
            format!("\u{feff}{}", json.replace('\n', "\r\n")),
        ] {
            assert_eq!(parse(&text, "other").unwrap(), wanted, "{text:?}");
        }
    }

    // PICO-034
    #[test]
    fn the_folder_names_it_and_its_first_paragraph_describes_it() {
        let skill = parse("# Tea\n\nBrews tea\nof any kind.\n\nThen more.", "tea").unwrap();
        assert_eq!((skill.name.as_str(), &*skill.description), ("tea", "Brews tea of any kind."));
        let skill = parse(&format!("# Tea\n{}", "é".repeat(2000)), "tea").unwrap();
        assert_eq!(skill.description.chars().count(), 1024);
        assert!(parse("---\nname:\n---\nText.", "tea").is_ok());
    }

    // PICO-033 PICO-035
    #[test]
    fn what_is_wrong_is_said() {
        let long = format!("---\nname: tea\ndescription: {}\n---\n", "é".repeat(1025));
        let fits = format!("---\nname: tea\ndescription: {}\n---\n", "é".repeat(1024));
        assert!(parse(&fits, "x").is_ok(), "characters are counted, not bytes");
        let wrong = [
            "---\nname: tea\ndescription: never ends\n",
            "---\nname: green tea\ndescription: x\n---\n",
            "---\nname: help\ndescription: x\n---\n",
            "---\nname: tea\n---\n\n# Only a heading\n",
            "---\nname: tea\ndescription: [\n---\n",
            "---\n- a\n- b\n---\ntext",
            "",
            &long,
        ];
        let errors: Vec<String> = wrong.iter().map(|text| parse(text, "tea").unwrap_err().to_string()).collect();
        insta::assert_snapshot!(errors.join("\n"));
    }

    // SUR-040
    #[test]
    fn skills_of_public_repositories_load_unchanged() {
        let text = "---\nname: pdf-forms\ndescription: Use this when: a form (PDF) is to be filled. Don't use it for scans: they need OCR\nlicense: Apache-2.0\ncompatibility: Needs python 3\nmetadata:\n  author: someone\n  version: \"1.2\"\nallowed-tools: Bash(python:*) Read\n---\n# Forms\n\nRun `scripts/fill.py`.\n";
        let skill = parse(text, "pdf-forms").unwrap();
        assert_eq!(
            skill.description,
            "Use this when: a form (PDF) is to be filled. Don't use it for scans: they need OCR"
        );
        assert_eq!((skill.version.as_deref(), &*skill.tools), (Some("1.2"), &[][..]));
        assert_eq!(skill.body, "# Forms\n\nRun `scripts/fill.py`.");
    }

    // SUR-040
    #[test]
    fn a_description_of_several_lines_becomes_one() {
        let skill = parse("---\nname: tea\ndescription: >\n  Brews\n  tea\n---\n", "x").unwrap();
        assert_eq!(skill.description, "Brews tea");
        let literal = parse("---\nname: tea\ndescription: |\n  Brews\n\n  tea\n---\n", "x").unwrap();
        assert_eq!(literal.description, "Brews tea");
    }
}
