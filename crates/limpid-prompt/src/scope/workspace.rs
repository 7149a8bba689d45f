//! Names over the workspace and the skills in it.

use crate::inputs::{ActiveSkill, DailyNote, SkillEntry, SkillSource, SkillsInput, TrustName, WorkspaceInput};
use crate::workspace::{FileUse, file_uses, long_term, pieces};

use super::record::Record;
use super::view::View;

pub(super) fn workspace<'a>(workspace: &'a WorkspaceInput, order: &[String], field: &str) -> View<'a> {
    match field {
        "" => View::Bool(*workspace != WorkspaceInput::default()),
        "path" => View::file(&workspace.path),
        "files" => View::records(workspace.files.iter().map(Record::File)),
        "prompt_files" => View::records(file_uses(&workspace.files, order).into_iter().filter_map(quoted)),
        "long_term" => View::optional_file(workspace.long_term.as_deref()),
        "long_term_lines" => {
            View::records(pieces(long_term(workspace.long_term.as_deref())).into_iter().map(Record::Line))
        }
        "daily_notes" => View::records(workspace.daily_notes.iter().map(Record::Note)),
        "unread" => View::records(workspace.unread.iter().map(|file| why(&file.name, &file.reason))),
        "base" => View::optional_file(workspace.base.as_deref()),
        "folders" => View::texts(&workspace.folders, TrustName::File),
        "notes" => View::records(newest_first(&workspace.daily_notes).into_iter().map(Record::Note)),
        _ => View::Absent,
    }
}

pub(super) fn skills<'a>(skills: &'a SkillsInput, field: &str) -> View<'a> {
    match field {
        "index" => View::records(skills.index.iter().map(Record::Skill)),
        "by_source" => View::records(by_source(&skills.index).into_iter().map(Record::Skill)),
        "active" => active(skills, |_| true),
        "standing" => active(skills, |skill| skill.standing),
        "called" => active(skills, |skill| !skill.standing),
        "unused" => View::records(skills.unused.iter().map(|skill| why(&skill.name, &skill.reason))),
        _ => View::Absent,
    }
}

fn active(skills: &SkillsInput, wanted: impl Fn(&ActiveSkill) -> bool) -> View<'_> {
    View::records(skills.active.iter().filter(|skill| wanted(skill)).map(Record::ActiveSkill))
}

/// What is not used, and why. Anybody may have named it, and the reason quotes it.
fn why<'a>(name: &'a str, reason: &'a str) -> Record<'a> {
    let theirs = |text| View::labelled(text, TrustName::Outside);
    Record::Made(vec![("name", theirs(name)), ("reason", theirs(reason))])
}

fn quoted<'a>((name, file): (&'a str, FileUse<'a>)) -> Option<Record<'a>> {
    match file {
        FileUse::Quoted(content) => Some(Record::Excerpt { name, content }),
        _ => None,
    }
}

fn newest_first(notes: &[DailyNote]) -> Vec<&DailyNote> {
    let mut notes: Vec<_> = notes.iter().filter(|note| !note.content.trim().is_empty()).collect();
    notes.sort_by(|left, right| right.date.cmp(&left.date));
    notes
}

/// The owner's own skills first, so that a budget takes theirs last.
fn by_source(index: &[SkillEntry]) -> Vec<&SkillEntry> {
    let mut index: Vec<_> = index.iter().collect();
    index.sort_by_key(|skill| {
        let rank = match skill.source {
            SkillSource::Workspace => 0,
            SkillSource::Global => 1,
            SkillSource::Builtin => 2,
        };
        (rank, skill.name.as_str())
    });
    index
}
