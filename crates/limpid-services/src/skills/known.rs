//! What the owner knows of skills in the workspace, where programs write: a version that was kept while a file of it waited for them
//! waits again when it is brought back.

use std::path::Path;

use limpid_prompt::inputs::SkillSource;
use limpid_store::{KnownContent, file_key};

use crate::error::AgentError;
use crate::skills::change::SkillWriter;
use crate::skills::folder::Folder;
use crate::skills::service::Skills;
use crate::tools::{Place, UnacceptedFiles, real};

/// Writes down which files of a skill are the owner's as they are.
pub(super) async fn note_known(
    skills: &Skills,
    (shelf, root): (SkillSource, &Path),
    folder: &Folder,
    by: SkillWriter<'_>,
) -> Result<(), AgentError> {
    if shelf != SkillSource::Workspace {
        return Ok(());
    }
    let unaccepted = UnacceptedFiles::read(&*skills.store, &skills.home, &skills.config.files).await?;
    let is_owners = |(file, hash): &(&str, _)| !unaccepted.contains_hash(&Place::of(root, file), *hash);
    let known = folder.hashes().filter(is_owners).map(|(file, hash)| {
        let (path, source) = (file_key(&real(&root.join(file))), by.source.to_owned());
        KnownContent { path, hash, source, now_ms: by.now_ms }
    });
    Ok(skills.store.note_known(known.collect()).await?)
}

/// Has the files of a version wait that never were the owner's, before it is written.
pub(super) async fn hold_back(
    skills: &Skills,
    (shelf, root): (SkillSource, &Path),
    version: &Folder,
    by: SkillWriter<'_>,
) -> Result<(), AgentError> {
    if shelf != SkillSource::Workspace {
        return Ok(());
    }
    let unaccepted = UnacceptedFiles::read(&*skills.store, &skills.home, &skills.config.files).await?;
    let there = if root.is_dir() { Folder::read(root)? } else { Folder::default() };
    for (file, hash) in version.hashes() {
        let path = file_key(&real(&root.join(file)));
        let now = there.content(file);
        let is_there = now.as_ref().is_some_and(|now| now.hash == hash);
        if !is_there && !skills.store.is_known(&path, hash).await? {
            let waiting = unaccepted.waiting_again((&Place::of(root, file), path), now, by.now_ms);
            skills.store.wait_for_owner(waiting).await?;
        }
    }
    Ok(())
}
