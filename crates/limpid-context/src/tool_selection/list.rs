//! The list of the tools that do not travel: as much of each as there is room for, and no group left out.

use std::collections::BTreeMap;

use limpid_core::reach::ToolCard;

use crate::tool_selection::sizes::tokens;

/// Characters of a tool's description in its line.
const LINE_CHARS: usize = 70;

/// Lines that fit: one a tool with what it does; else, and at the small tiers, one a group with the names of its tools;
/// else with as many names as fit, the same number for each group; at last the groups and how many tools they have.
pub(crate) fn of(tools: &[&ToolCard<'_>], small: bool, room: usize) -> Vec<String> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for tool in tools {
        groups.entry(tool.group).or_default().push(tool.name);
    }
    let largest = groups.values().map(Vec::len).max().unwrap_or(0);
    let fits = |lines: &Vec<String>| size(lines) <= room;
    let lines = Some(tools.iter().map(|tool| line(tool)).collect()).filter(|lines| !small && fits(lines));
    let by_group = || {
        let shown = |names: usize| groups.iter().map(|(group, tools)| group_line(group, tools, names)).collect();
        (0..=largest).rev().map(shown).find(fits)
    };
    let counts = || {
        let counts: Vec<String> = groups.iter().map(|(group, tools)| format!("{group} {}", tools.len())).collect();
        vec![counts.join(", ")]
    };
    lines.or_else(by_group).unwrap_or_else(counts)
}

/// The tool's name and the first sentence of its description: the rest is for who has found it.
fn line(tool: &ToolCard<'_>) -> String {
    let mut words = String::new();
    let sentence = tool.description.split(". ").next().unwrap_or_default();
    for word in sentence.split_whitespace() {
        if words.chars().count() + word.chars().count() > LINE_CHARS {
            words.push('…');
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    if words.is_empty() { tool.name.to_owned() } else { format!("{}: {}", tool.name, words.trim_end_matches('.')) }
}

fn group_line(group: &str, tools: &[&str], names: usize) -> String {
    let shown = tools.iter().take(names).copied().collect::<Vec<_>>().join(", ");
    match tools.len().saturating_sub(names) {
        0 => format!("{group}: {shown}"),
        _ if names == 0 => format!("{group}: {} tools", tools.len()),
        more => format!("{group}: {shown} and {more} more"),
    }
}

/// Tokens of a list.
pub(crate) fn size(lines: &[String]) -> usize {
    lines.iter().map(|line| tokens(line) + 1).sum()
}
