//! Changes of skills, one after another, while no program runs that could change the same ones: what a skill holds is neither what a program
//! shows for a moment, nor can it put back unseen what was there before the change.

use limpid_prompt::inputs::SkillSource;
use limpid_store::SkillEvent;
use tokio::sync::MutexGuard;

use crate::error::AgentError;
use crate::skills::listed::{ListedSkill, place_name};
use crate::skills::service::Skills;
use crate::tools::FilesLock;

/// As long as this lives, nobody else changes the skills of a shelf.
pub(super) struct Alone<'a> {
    _files: FilesLock,
    _changing: MutexGuard<'a, ()>,
}

/// Waits until nobody else changes skills and no program runs that could change those of a shelf.
///
/// # Errors
/// When others do not end in time.
pub(super) async fn alone(skills: &Skills, shelf: SkillSource) -> Result<Alone<'_>, AgentError> {
    let folder = match shelf {
        SkillSource::Workspace => skills.home.workspace_skills(),
        // A copy of a built-in one goes among the global ones.
        SkillSource::Global | SkillSource::Builtin => skills.home.skills(),
    };
    Ok(Alone { _files: skills.files.lock_folder(&folder).await?, _changing: skills.changing.lock().await })
}

/// A skill that was looked up once more after others were waited for.
///
/// # Errors
/// When it stands elsewhere by now.
pub(super) fn of_shelf(known: ListedSkill, shelf: SkillSource) -> Result<ListedSkill, AgentError> {
    if known.shelf == shelf {
        return Ok(known);
    }
    Err(AgentError::Invalid(format!("the skill `{}` was changed meanwhile; try again", known.name)))
}

/// The shelf on which an undo of one of these events may change something: the workspace, where one of them was about a skill there.
pub(super) fn shelf_of(events: &[SkillEvent]) -> SkillSource {
    let in_workspace = place_name(SkillSource::Workspace);
    let mut versions = events.iter().flat_map(|event| event.before.iter().chain(&event.after));
    if versions.any(|version| version.place == in_workspace) { SkillSource::Workspace } else { SkillSource::Global }
}
