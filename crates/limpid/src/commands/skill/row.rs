//! A skill as JSON.

use limpid_runtime::ListedSkill;
use serde::Serialize;

#[derive(Serialize)]
/// A skill in a list.
pub(super) struct SkillRow<'a> {
    name: &'a str,
    title: Option<&'a str>,
    description: Option<&'a str>,
    source: &'static str,
    location: &'a str,
    status: &'static str,
    reason: Option<&'a str>,
    installed: bool,
    always: bool,
    triggers: &'a [String],
    tools: &'a [String],
    model: Option<&'a str>,
    version: Option<&'a str>,
}

pub(super) fn row(skill: &ListedSkill) -> SkillRow<'_> {
    let says = skill.prompt.as_ref();
    SkillRow {
        name: &skill.name,
        title: says.and_then(|says| says.skill.title.as_deref()),
        description: says.and_then(|says| says.description()),
        source: skill.source_name(),
        location: &skill.location,
        status: skill.status.as_str(),
        reason: skill.reason.as_deref(),
        installed: says.is_some_and(|says| says.installed),
        always: says.is_some_and(|says| says.skill.always),
        triggers: says.map_or(&[], |says| &says.skill.triggers),
        tools: says.map_or(&[], |says| &says.skill.tools),
        model: says.and_then(|says| says.skill.model.as_deref()),
        version: says.and_then(|says| says.skill.version.as_deref()),
    }
}
