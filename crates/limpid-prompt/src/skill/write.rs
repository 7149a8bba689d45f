//! Writing a SKILL.md, and changing one without touching what was not asked to change.

use serde_json::{Map, Value};

use super::{SkillError, halves, parse};

/// What a skill is to say; what is absent stays as it is, or is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// When to use it.
    pub description: Option<String>,
    /// Its instructions.
    pub content: Option<String>,
    /// Words of a message that call for it.
    pub triggers: Option<Vec<String>>,
    /// The tools that its workers get.
    pub tools: Option<Vec<String>>,
}

/// The text of a new SKILL.md.
///
/// # Errors
/// When the name or the description cannot be.
pub fn create(name: &str, draft: &Draft) -> Result<String, SkillError> {
    let mut front = Map::from_iter([("name".to_owned(), name.into())]);
    put(&mut front, draft);
    let text = compose(&front, draft.content.as_deref().unwrap_or_default());
    parse(&text, name).map(|_| text)
}

/// The text of a SKILL.md with the changes of a draft. Keys that nobody names stay, and so does the front matter's very
/// text when only the instructions change.
///
/// # Errors
/// When the result would be no skill.
pub fn update(text: &str, folder: &str, draft: &Draft) -> Result<String, SkillError> {
    let (mut front, body) = halves(text)?;
    let new_body = draft.content.as_deref().unwrap_or(body);
    let only_content = Draft { content: draft.content.clone(), ..Draft::default() } == *draft;
    let changed = if only_content {
        let head = text.strip_suffix(body).unwrap_or_default();
        format!("{head}{}\n", new_body.trim())
    } else {
        put(&mut front, draft);
        compose(&front, new_body)
    };
    parse(&changed, folder).map(|_| changed)
}

fn put(front: &mut Map<String, Value>, draft: &Draft) {
    if let Some(description) = &draft.description {
        front.insert("description".to_owned(), description.as_str().into());
    }
    for (key, list) in [("triggers", &draft.triggers), ("tools", &draft.tools)] {
        match list {
            Some(items) if items.is_empty() => drop(front.shift_remove(key)),
            Some(items) => drop(front.insert(key.to_owned(), items.clone().into())),
            None => {}
        }
    }
}

fn compose(front: &Map<String, Value>, body: &str) -> String {
    let lines: String = front.iter().map(|(key, value)| format!("{key}: {}\n", yaml(value))).collect();
    format!("---\n{lines}---\n\n{}\n", body.trim())
}

/// A value as YAML: words as they are, everything else as JSON, which is YAML too.
fn yaml(value: &Value) -> String {
    let is_plain = |text: &str| {
        let starts = text.chars().next().is_some_and(char::is_alphabetic);
        let is_word =
            ["true", "false", "null", "yes", "no", "on", "off"].iter().any(|word| text.eq_ignore_ascii_case(word));
        let ends = !text.ends_with([' ', ':']);
        starts
            && !is_word
            && ends
            && !text.contains(": ")
            && !text.contains(" #")
            && !text.chars().any(char::is_control)
    };
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(description: &str, content: &str) -> Draft {
        Draft { description: Some(description.to_owned()), content: Some(content.to_owned()), ..Draft::default() }
    }

    // KOSHI-032 KOSHI-033
    #[test]
    fn a_new_skill_is_a_standard_file_that_reads_back() {
        let mut tea = draft("Brew tea: any kind # hot", "Steep.\n\n---\nWait.\n");
        tea.triggers = Some(vec!["tea".to_owned(), "a \"cup\"".to_owned()]);
        let text = create("tea", &tea).unwrap();
        insta::assert_snapshot!(text);
        let skill = parse(&text, "x").unwrap();
        assert_eq!(
            (skill.name.as_str(), &*skill.description, &*skill.body),
            ("tea", "Brew tea: any kind # hot", "Steep.\n\n---\nWait.")
        );
        assert_eq!(skill.triggers, ["tea", "a \"cup\""]);
        for odd in ["true", "12", "- x", "a\nb", "*x", "x:", "null"] {
            let skill = parse(&create("tea", &draft(odd, "y")).unwrap(), "x").unwrap();
            assert_eq!(skill.description, odd.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        assert!(create("no name", &tea).is_err() && create("tea", &draft(" ", "")).is_err());
    }

    // KOSHI-032
    #[test]
    fn a_change_touches_nothing_else() {
        let text = "---\nname: tea\n# my own\ndescription: 'Brews'\nlicense: MIT\nmetadata:\n  version: 2\ntriggers: [oolong]\n---\n\nSteep.\n";
        let body = update(text, "tea", &Draft { content: Some("Wait.\n".to_owned()), ..Draft::default() }).unwrap();
        assert_eq!(body, text.replace("Steep.", "Wait."));
        let about = Draft { description: Some("Brews tea".to_owned()), triggers: Some(Vec::new()), ..Draft::default() };
        insta::assert_snapshot!(update(text, "tea", &about).unwrap());
        let long = Draft { description: Some("x".repeat(1025)), ..Draft::default() };
        assert!(update(text, "tea", &long).is_err(), "what would be no skill is not written");
    }
}
