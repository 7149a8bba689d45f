//! The skills that calls name for agents. An agent reads its skill, whatever that is called: the owner's rules about `load_skill` hold.

use serde_json::{Value, json};

use crate::skills::{GROUP, LOAD_SKILL};

/// The skill that a call, or a task of it, names.
pub(super) fn skill_of(arguments: &Value) -> Option<&str> {
    arguments["skill"].as_str().map(str::trim).filter(|skill| !skill.is_empty())
}

/// The tool that a call counts as besides, where it names a skill.
pub(super) fn as_load_skill(skill: Option<&str>) -> Option<(Vec<String>, String)> {
    skill.map(|_| (vec![LOAD_SKILL.to_owned()], GROUP.to_owned()))
}

/// The arguments of that tool, with the name as it was written and as skills are found by it.
pub(super) fn in_load_skill(skill: &str) -> [Value; 2] {
    [skill.to_owned(), skill.trim_start_matches('/').to_lowercase()].map(|name| json!({ "name": name }))
}
