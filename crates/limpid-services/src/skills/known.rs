//! What the owner knows of skills where programs write: a version that was kept while a file of it waited for them
//! waits again when it is brought back.

use std::path::Path;

use limpid_store::{KnownContent, file_key};

use crate::error::AgentError;
use crate::skills::change::SkillWriter;
use crate::skills::folder::Folder;
use crate::skills::place::{SkillPlace, Writable};
use crate::skills::service::Skills;
use crate::tools::{Place, UnacceptedFiles, real};

/// Writes down which files of a skill are the owner's as they are. Wherever the skill stands, programs may write what
/// it leads to.
pub(super) async fn note_known(
    skills: &Skills,
    root: &Path,
    folder: &Folder,
    by: SkillWriter<'_>,
) -> Result<(), AgentError> {
    let writable = Writable::new(&skills.home, &skills.config.files);
    let unaccepted = UnacceptedFiles::read(&*skills.store, &skills.home, &skills.config.files).await?;
    let known = folder.hashes().filter_map(|(file, hash)| {
        let path = real(&root.join(file));
        writable.around(&path)?;
        let (path, source) = (file_key(&path), by.source.to_owned());
        let is_owners = !unaccepted.contains_hash(&Place::of(root, file), hash);
        is_owners.then_some(KnownContent { path, hash, source, now_ms: by.now_ms })
    });
    Ok(skills.store.note_known(known.collect()).await?)
}

/// Whether a skill's folder leads by links to files that the owner has not accepted, and where they would not wait in the folder itself.
pub(super) async fn link_target_is_unaccepted(
    skills: &Skills,
    root: &Path,
    folder: &Folder,
) -> Result<bool, AgentError> {
    let writable = Writable::new(&skills.home, &skills.config.files);
    let unaccepted = UnacceptedFiles::read(&*skills.store, &skills.home, &skills.config.files).await?;
    let own = match (root.parent(), root.file_name()) {
        (Some(shelf), Some(name)) => real(shelf).join(name),
        _ => root.to_owned(),
    };
    Ok(folder.hashes().any(|(file, hash)| {
        writable.around(&own.join(file)).is_none() && unaccepted.contains_hash(&Place::of(root, file), hash)
    }))
}

/// Has the files of a version wait that never were the owner's, before it is written.
pub(super) async fn hold_back(
    skills: &Skills,
    place: &SkillPlace,
    version: &Folder,
    by: SkillWriter<'_>,
) -> Result<(), AgentError> {
    let writable = Writable::new(&skills.home, &skills.config.files);
    let unaccepted = UnacceptedFiles::read(&*skills.store, &skills.home, &skills.config.files).await?;
    let there = Folder::read_at(place)?;
    for (file, hash) in version.hashes() {
        let path = real(&place.path().join(file));
        if writable.around(&path).is_none() {
            continue;
        }
        let path = file_key(&path);
        let now = there.content(file);
        let is_there = now.as_ref().is_some_and(|now| now.hash == hash);
        if !is_there && !skills.store.is_known(&path, hash).await? {
            let waiting = unaccepted.waiting_again((&Place::of(place.path(), file), path), now, by.now_ms);
            skills.store.wait_for_owner(waiting).await?;
        }
    }
    Ok(())
}
