//! What the owner knows of files that instruct the agent: which contents ever were theirs at a place, and whether what they do goes to
//! the place that they were told of.

use std::path::{Path, PathBuf};

use limpid_core::policy::FileChange;
use limpid_store::{FileContent, FileHash, FileVersionId, KnownContent};
use limpid_tools::PathArgument;
use limpid_tools::files::Links;

use super::FileHistory;
use super::journal::Watched;
use super::names::is_quoted;
use super::unaccepted::Place;
use crate::error::AgentError;
use crate::memory::WriteSource;
use crate::tools::policy::{PathResolver, QUOTED, links_on, real};

impl FileHistory {
    /// Keeps what a file holds, writes down that it is about to be changed, and whether what it holds is the owner's.
    pub(super) async fn begin(
        &self,
        name: &str,
        how: (Option<&str>, Option<FileVersionId>),
        by: &WriteSource,
    ) -> Result<Watched, AgentError> {
        let watched = self.journal.begin(name, how, by).await?;
        self.note_known(name, watched.content.as_ref(), by).await?;
        Ok(watched)
    }

    /// Writes down that a content is the owner's at its place, if it instructs the agent there and waits for nobody.
    pub(super) async fn note_known(
        &self,
        name: &str,
        content: Option<&FileContent>,
        by: &WriteSource,
    ) -> Result<(), AgentError> {
        let Some(content) = content.filter(|_| self.instructs(name)) else { return Ok(()) };
        if self.unaccepted().await?.contains_hash(&self.place(name), content.hash) {
            return Ok(());
        }
        let (path, source, now_ms) = (self.key(name), by.source.clone(), by.now_ms);
        let known = KnownContent { path, hash: content.hash, source, now_ms };
        Ok(self.memory.database().note_known(vec![known]).await?)
    }

    /// Has a file wait for the owner that is about to hold again what never was theirs. Says whether it does.
    pub(super) async fn hold_back(&self, name: &str, again: Option<FileHash>, now_ms: i64) -> Result<bool, AgentError> {
        let (path, database) = (self.key(name), self.memory.database());
        let Some(again) = again.filter(|_| self.instructs(name)) else { return Ok(false) };
        if database.is_known(&path, again).await? {
            return Ok(false);
        }
        let now = self.journal.content(name)?;
        let waiting = self.unaccepted().await?.waiting_again((&self.place(name), path), now, now_ms);
        database.wait_for_owner(waiting).await?;
        Ok(true)
    }

    /// Whether prompts, skills or policies are made from a file, where programs can change it.
    pub(super) fn instructs(&self, name: &str) -> bool {
        if is_quoted(name) {
            return true;
        }
        let path = self.journal.names.path(name).display().to_string();
        let resolver = PathResolver::new(&self.home, QUOTED.map(PathBuf::from).into(), &self.config.files);
        // Below a folder that is missing, every new file looks like one of the home's own.
        resolver.create_folders();
        let facts = resolver.resolve(PathArgument { path, write: true, adds: false });
        let is_written = resolver.writable().iter().any(|folder| facts.real.as_path().starts_with(folder));
        is_written && facts.change == FileChange::Instructing
    }

    /// What an act of the owner's does with links on the way to a file. The history knows a file by its own place: a link there was
    /// laid since, and would have another file written than the one that they were told of. Only what prompts quote may be a link of
    /// theirs.
    ///
    /// # Errors
    /// When such a link is there.
    pub(super) async fn links(&self, name: &str) -> Result<Links, AgentError> {
        let folders = [self.home.workspace(), self.home.outside()];
        let folders: Vec<PathBuf> = folders.iter().map(|folder| real(folder)).chain(self.programs.folders()).collect();
        let mut links = links_on(&self.journal.names.path(name)).into_iter();
        let Some(link) = links.find(|link| folders.iter().any(|folder| link.starts_with(folder))) else {
            return Ok(Links::Refused);
        };
        if is_quoted(name) && !self.unaccepted().await?.waits_at_link(&self.place(name)) {
            return Ok(Links::Followed);
        }
        let link = self.journal.names.name(&link);
        Err(AgentError::Invalid(format!(
            "`{name}` leads over the link `{link}` to another file, so nothing was written; remove the link first"
        )))
    }

    fn place(&self, name: &str) -> Place {
        Place::of(Path::new(""), self.journal.names.path(name))
    }

    fn key(&self, name: &str) -> String {
        real(&self.journal.names.path(name)).display().to_string()
    }
}
