//! The look at the files that instruct the agent, before a program and after it.

use std::collections::{BTreeMap, BTreeSet};

use limpid_store::{FileContent, FileHash, file_key, path_of_key};

use super::ProgramWatch;
use crate::command_word::as_word;
use crate::error::AgentError;
use crate::tools::file_history::disk::on_disk;
use crate::tools::file_history::entries::{own_entry, own_entry_hash};
use crate::tools::file_history::unaccepted::UnacceptedFiles;
use crate::tools::policy::{DEEPEST, Entries, LOOKED_AT, NotLookedAt};

/// What the files held, and what was not the owner's before they were looked at.
pub(super) struct Look {
    unaccepted: UnacceptedFiles,
    entries: BTreeMap<String, Option<FileHash>>,
}

impl ProgramWatch {
    /// What the owner knew last of each file that instructs the agent, where a program may write these folders: what it holds, unless
    /// something waits there for them or a program that ran during the look may have made it what it is.
    pub(super) async fn last_known(&self, folders: &[String]) -> Result<BTreeMap<String, FileContent>, AgentError> {
        loop {
            let look = self.look(folders).await?;
            // No other one begins under the lock of the files, so only the ends of those that run are waited for.
            if let Some(known) = self.known_in(look).await? {
                return Ok(known);
            }
        }
    }

    pub(super) async fn look(&self, folders: &[String]) -> Result<Look, AgentError> {
        // The programs come first. A look can take long, and one of them may put back what it had changed and end before the look does.
        let unaccepted = UnacceptedFiles::read(&**self.memory.database(), &self.home, &self.config.files).await?;
        let no_start = |why| AgentError::Invalid(format!("no program can start: {}", in_words(why)));
        let entries = self.entries(folders).await?.map_err(no_start)?;
        Ok(Look { unaccepted, entries })
    }

    /// What was known of the files at a look; none if a program began since, or a file came to wait: then it has to be made again.
    pub(super) async fn known_in(&self, look: Look) -> Result<Option<BTreeMap<String, FileContent>>, AgentError> {
        let Look { unaccepted, entries } = look;
        let database = &**self.memory.database();
        if unaccepted.read_again_if_changed(database, &self.home, &self.config.files).await?.is_some() {
            return Ok(None);
        }
        let paths: BTreeSet<String> = entries.keys().cloned().chain(unaccepted.keys()).collect();
        let (mut known, mut as_they_are) = (BTreeMap::new(), Vec::new());
        for path in paths.into_iter().filter(|path| !self.is_outside(path)) {
            // One that cannot be read is not there for any prompt.
            let now = entries.get(&path).copied().flatten();
            match unaccepted.other_than(&path, now) {
                None => as_they_are.extend(now.map(|now| (path, now))),
                Some(before) => known.extend(before.cloned().map(|before| (path, before))),
            }
        }
        // Texts are read of these alone: of what programs left there may be any number.
        let with_text = |(key, hash): (String, FileHash)| {
            let now = own_entry(&path_of_key(&key)).ok().flatten().filter(|now| now.hash == hash);
            (key, now.unwrap_or_else(|| FileContent::bytes(hash)))
        };
        known.extend(on_disk(move || Ok(as_they_are.into_iter().map(with_text).collect::<BTreeMap<_, _>>())).await?);
        Ok(Some(known))
    }

    /// What the files hold that instruct the agent and that a program which may write these folders can change, and where links on the
    /// way to such files lead, by their hashes; none for what cannot be read.
    ///
    /// # Errors
    /// When the look broke off; inside of it, when not all of them could be looked at.
    pub(super) async fn entries(
        &self,
        folders: &[String],
    ) -> Result<Result<BTreeMap<String, Option<FileHash>>, NotLookedAt>, AgentError> {
        let resolver = self.resolver(folders);
        let look = move || -> Result<_, NotLookedAt> {
            let Entries { files, links } = resolver.instructing_entries()?;
            let all = files.into_iter().chain(links);
            Ok(all.map(|path| (file_key(&path), own_entry_hash(&path).ok().flatten())).collect())
        };
        on_disk(move || Ok(look())).await
    }
}

/// Why not all that instructs the agent could be looked at, and what to do.
pub(super) fn in_words(why: NotLookedAt) -> String {
    match why {
        NotLookedAt::TooMany => format!(
            "there are more than {LOOKED_AT} files, folders more than {DEEPEST} levels deep, or too \
             many links among skills, prompts, profiles and memory files; move what is none of these elsewhere"
        ),
        NotLookedAt::Closed(folder) => {
            let word = as_word(&folder.display().to_string());
            format!(
                "the folder {word} cannot be looked at, and what lies in it may instruct the agent; the owner has to \
                 open it with `chmod u+rx {word}`, or to remove it"
            )
        }
        NotLookedAt::Around(link) => {
            let word = as_word(&link.display().to_string());
            format!(
                "the link {word} among your skills or prompts leads to a folder around Limpid's own, \
                 so a program could add a skill; remove it, or let it lead to a folder of skills alone"
            )
        }
        NotLookedAt::NamedTwice(file) => {
            let word = as_word(&file.display().to_string());
            format!(
                "the file {word} is one of your skills or prompts and has a second name on the disk (a hard link), by \
                 which a program could change it unseen; put a copy in its place: \
                 `cp -p {word} {word}.own && mv {word}.own {word}`"
            )
        }
    }
}
