//! The report: one row for every section of the path, and one for every file that was considered and not used.

use super::draft::Draft;
use super::laid::Layer;
use super::planned::Planned;
use crate::inputs::{Inputs, UnusedSkill};
use crate::prompt::{Outcome, SectionReport};
use crate::scope::Scope;
use crate::section::EntryList;
use crate::workspace::{FileUse, file_uses};

/// A row for every section, in the order of the path; behind it one for the file that it hides.
///
/// A section of a message whose gate is false has no row when it stands in another message, or had one before.
pub(super) fn of_sections(planned: &[Planned<'_>], laid: &[Layer<'_>]) -> Vec<SectionReport> {
    let sections: usize = planned.iter().map(|message| message.drafts.len()).sum();
    let mut rows: Vec<SectionReport> = Vec::with_capacity(sections);
    let open = planned.iter().filter(|message| !message.closed).flat_map(|message| &message.drafts);
    let open: Vec<&str> = open.map(|draft| draft.section.id.as_str()).collect();
    for (message, laid) in planned.iter().zip(laid) {
        for (at, draft) in message.drafts.iter().enumerate() {
            let id = draft.section.id.as_str();
            if message.closed && (open.contains(&id) || rows.iter().any(|row| row.section == id)) {
                continue;
            }
            let spans = || laid.spans().iter().filter(|span| span.section == at);
            let start = spans().next().map_or(0, |span| span.range.start);
            let bytes = spans().next_back().map_or(0, |span| span.range.end - start);
            let largest = || spans().max_by_key(|span| span.range.len()).map(|span| span.origin.to_string());
            rows.push(of_section(draft, bytes, largest));
            rows.extend(shadowed(draft));
        }
    }
    rows
}

/// A row for every workspace file that the path could quote and does not.
pub(super) fn of_unused_files(planned: &[Planned<'_>], scope: &Scope<'_>) -> Vec<SectionReport> {
    let files = ["workspace".to_owned(), "prompt_files".to_owned()];
    let quoted = planned.iter().flat_map(|message| &message.drafts);
    if !quoted.flat_map(|draft| &draft.section.lists).any(|list| list.of.path == files) {
        return Vec::new();
    }
    let uses = file_uses(&scope.inputs().workspace.files, scope.profile().file_order());
    let unread = scope.inputs().workspace.unread.iter();
    let unread =
        unread.map(|file| row(&format!("workspace:{}", file.name), Outcome::Skipped, Some(file.reason.clone())));
    uses.into_iter().filter_map(|(name, file)| of_file(name, file)).chain(unread).collect()
}

/// A row for the tools, when there was no room for all of them.
pub(super) fn of_tools(scope: &Scope<'_>) -> Option<SectionReport> {
    if scope.left_out().is_empty() {
        return None;
    }
    let names: Vec<&str> = scope.left_out().iter().map(|tool| tool.name.as_str()).collect();
    let reason = format!("tier and window have no room for {}", names.join(", "));
    let counts = (Some(scope.sent().len()), Some(names.len()));
    Some(SectionReport { kept: counts.0, dropped: counts.1, ..row("tools", Outcome::Trimmed, Some(reason)) })
}

/// A row for every skill that a path with skills could use and does not.
pub(super) fn of_unused_skills(planned: &[Planned<'_>], inputs: &Inputs) -> Vec<SectionReport> {
    let sections = planned.iter().flat_map(|message| &message.drafts).map(|draft| draft.section);
    let has_skills = |list: &EntryList| list.of.path.first().is_some_and(|name| name == "skills");
    if !sections.flat_map(|section| &section.lists).any(has_skills) {
        return Vec::new();
    }
    let skill =
        |unused: &UnusedSkill| row(&format!("skill:{}", unused.name), Outcome::Skipped, Some(unused.reason.clone()));
    inputs.skills.unused.iter().map(skill).collect()
}

fn of_file(name: &str, file: FileUse<'_>) -> Option<SectionReport> {
    let (outcome, reason) = match file {
        FileUse::Quoted(_) => return None,
        FileUse::Blank => (Outcome::Skipped, "it is blank".to_owned()),
        FileUse::Unedited => (Outcome::Skipped, "it is the shipped template, not edited yet".to_owned()),
        FileUse::Unused => (Outcome::Skipped, "`[order] files` of the profile does not name it".to_owned()),
        FileUse::ShadowedBy(other) => (Outcome::Shadowed, format!("{other} stands in its place")),
    };
    Some(row(&format!("workspace:{name}"), outcome, Some(reason)))
}

fn of_section(draft: &Draft<'_>, bytes: usize, largest: impl FnOnce() -> Option<String>) -> SectionReport {
    let reason = match (draft.outcome, &draft.reason) {
        (Outcome::Trimmed, Some(reason)) => {
            let of = largest().map_or_else(String::new, |origin| format!(", mostly of {origin}"));
            Some(format!("{reason}: {bytes} of {} bytes are left{of}", draft.size()))
        }
        (Outcome::Dropped, Some(reason)) => Some(format!("{reason}: {} bytes went", draft.size())),
        (_, reason) => reason.clone(),
    };
    let counts = draft.counts();
    SectionReport {
        bytes,
        kept: counts.map(|(kept, _)| kept),
        dropped: counts.map(|(_, dropped)| dropped),
        entries: draft.origins(),
        ..row(&draft.section.id, draft.outcome, reason)
    }
}

fn shadowed(draft: &Draft<'_>) -> Option<SectionReport> {
    let hidden = draft.section.shadows.as_ref()?;
    let place = draft.form().map_or_else(|| draft.section.id.clone(), |form| form.source.file());
    Some(row(&draft.section.id, Outcome::Shadowed, Some(format!("{place} stands in place of {}", hidden.file()))))
}

fn row(section: &str, outcome: Outcome, reason: Option<String>) -> SectionReport {
    SectionReport {
        section: section.to_owned(),
        outcome,
        reason,
        bytes: 0,
        tokens: None,
        kept: None,
        dropped: None,
        entries: Vec::new(),
    }
}
