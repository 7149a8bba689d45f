//! What the owner knows of skills where programs write: no change of a skill is made of what a program shows for a moment, and a version
//! that was kept while a file of it waited for them waits again when it is brought back.

use std::collections::BTreeSet;
use std::path::Path;

use limpid_store::{FileHash, KnownContent, file_key};

use crate::error::AgentError;
use crate::skills::change::SkillWriter;
use crate::skills::folder::Folder;
use crate::skills::place::{SkillPlace, Writable};
use crate::skills::service::Skills;
use crate::tools::{Place, UnacceptedFiles, real};

/// The files of a skill by one read, and which of them are not the owner's.
pub(super) struct ReadSkill {
    pub(super) folder: Folder,
    not_owners: BTreeSet<String>,
}

/// Reads the files of a skill to change it, and what to judge them by: what waited and ran before the read, where no program began since.
/// `name` is what the call names the skill.
///
/// # Errors
/// When they cannot be read, or a program that runs may have made them what they are: it could put the owner's back and end before the
/// change is written, and then nobody would know that the change holds what it had shown.
async fn read(
    skills: &Skills,
    (root, name): (&Path, &str),
    files: impl Fn() -> Result<Folder, AgentError> + Send + Sync,
) -> Result<(Folder, UnacceptedFiles), AgentError> {
    let (store, home) = (&*skills.store, &skills.home);
    let mut unaccepted = UnacceptedFiles::read(store, home, &skills.config.files).await?;
    let folder = loop {
        let folder = files()?;
        match unaccepted.read_again_if_changed(store, home, &skills.config.files).await? {
            Some(newer) => unaccepted = newer,
            None => break folder,
        }
    };
    if unaccepted.is_changing(root, &folder.hashes().collect()) {
        return Err(AgentError::Invalid(format!("a program is changing `{name}`; try again when it has ended")));
    }
    Ok((folder, unaccepted))
}

/// Reads the files of a skill that is about to be changed.
///
/// # Errors
/// When they cannot be read, or a program is changing them.
pub(super) async fn read_skill(
    skills: &Skills,
    (root, name): (&Path, &str),
    files: impl Fn() -> Result<Folder, AgentError> + Send + Sync,
) -> Result<ReadSkill, AgentError> {
    let (folder, unaccepted) = read(skills, (root, name), files).await?;
    let is_new = |(file, hash): (&str, FileHash)| {
        unaccepted.contains_hash(&Place::of(root, file), hash).then(|| file.to_owned())
    };
    let not_owners = folder.hashes().filter_map(is_new).collect();
    Ok(ReadSkill { folder, not_owners })
}

/// Writes down which files of a skill are the owner's as they are. Wherever the skill stands, programs may write what
/// it leads to.
pub(super) async fn note_known(
    skills: &Skills,
    root: &Path,
    skill: &ReadSkill,
    by: SkillWriter<'_>,
) -> Result<(), AgentError> {
    let writable = Writable::new(&skills.home, &skills.config.files);
    let owners = skill.folder.hashes().filter(|(file, _)| !skill.not_owners.contains(*file));
    let known = owners.filter_map(|(file, hash)| {
        let path = real(&root.join(file));
        writable.around(&path)?;
        let (path, source) = (file_key(&path), by.source.to_owned());
        Some(KnownContent { path, hash, source, now_ms: by.now_ms })
    });
    Ok(skills.store.note_known(known.collect()).await?)
}

/// Whether a skill's folder leads by links to files that the owner has not accepted, and where they would not wait in the folder itself.
pub(super) fn link_target_is_unaccepted(skills: &Skills, root: &Path, skill: &ReadSkill) -> bool {
    let writable = Writable::new(&skills.home, &skills.config.files);
    let own = match (root.parent(), root.file_name()) {
        (Some(shelf), Some(name)) => real(shelf).join(name),
        _ => root.to_owned(),
    };
    skill.not_owners.iter().any(|file| writable.around(&own.join(file)).is_none())
}

/// Has the files of a version wait that never were the owner's, before it is written.
///
/// # Errors
/// When a program is changing what it is written over.
pub(super) async fn hold_back(
    skills: &Skills,
    (place, name): (&SkillPlace, &str),
    version: &Folder,
    by: SkillWriter<'_>,
) -> Result<(), AgentError> {
    let writable = Writable::new(&skills.home, &skills.config.files);
    let (there, unaccepted) = read(skills, (place.path(), name), || Folder::read_at(place)).await?;
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
