//! Files of the workspace that prompts do not quote because strangers wrote them.

use std::path::Path;

use limpid_prompt::inputs::WorkspaceInput;
use limpid_prompt::workspace::note_path;
use limpid_services::error::AgentError;
use limpid_services::tools::UntrustedFiles;

use crate::deps::ContextDeps;

/// Takes out of what prompts quote each file that was written while text of strangers was read: it is theirs until
/// the owner writes it anew. A change that the owner approved as it stands is the owner's.
pub(crate) async fn leave_out_foreign(
    deps: &ContextDeps,
    workspace: &mut WorkspaceInput,
    notices: &mut Vec<String>,
) -> Result<(), AgentError> {
    let foreign = UntrustedFiles::read(&*deps.store).await?;
    let folder = deps.home.workspace();
    let mut is_foreign = |name: &str| {
        let holds = foreign.contains(&folder.join(Path::new(name)));
        if holds {
            notices.push(format!(
                "{name} was written while text of strangers was read, so no prompt quotes it; look at it, and save it \
                 with a change of your own"
            ));
        }
        holds
    };
    workspace.files.retain(|file| !is_foreign(&file.name));
    if workspace.long_term.is_some() && is_foreign("memory/MEMORY.md") {
        workspace.long_term = None;
    }
    workspace.daily_notes.retain(|note| !is_foreign(&note_path(&note.date)));
    Ok(())
}
