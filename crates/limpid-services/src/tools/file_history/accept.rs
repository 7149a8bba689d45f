//! What the owner accepts becomes theirs, as they were shown it.

use std::path::{Path, PathBuf};

use limpid_store::{Author, FileChangeEnd, FileContent, FileHash, NewRaisedLabel, RaisingAct, WaitingFile};
use limpid_tools::files::{self, Links};

use super::entries::entry;
use super::journal::{Watched, unchanged};
use super::names::is_quoted;
use super::offer::{FileOffer, taken_over};
use super::unaccepted::gone;
use super::{FileHistory, hash};
use crate::error::AgentError;
use crate::tools::builtin::{OUTSIDE, grants};
use crate::tools::policy::real;

impl FileHistory {
    /// What accepting a file would do, for its owner to read whole. `name` is the file as tools call it: `outside/notes.md` goes
    /// to `notes.md` in the workspace, and one that waits stays where it is.
    ///
    /// # Errors
    /// When there is nothing to accept, or when a file for strangers' text, or the one that it would replace, is no text.
    pub async fn offer(&self, name: &str) -> Result<FileOffer, AgentError> {
        let read = |name: &str| {
            files::text(&grants(&self.home, &self.config.files), name)
                .map_err(|why| AgentError::Invalid(why.into_text()))
        };
        if let Some(way) = taken_over(name) {
            self.links(&way).await?;
            let there = if self.journal.content(&way)?.is_some() { Some(read(&way)?) } else { None };
            let text = read(name)?;
            let content = FileHash::of(text.as_bytes());
            let instructs = self.instructs(&way);
            return Ok(FileOffer { text, content, from: name.to_owned(), to: way, there, instructs, is_gone: false });
        }
        self.settle().await?;
        let path = self.journal.names.path(name);
        let waiting = self.memory.database().waiting_files().await?.rows;
        let mut found = None;
        // A link that waits is accepted before what it leads to, and what is gone by its own place.
        for place in link_at(&path).into_iter().chain([real(&path)]) {
            let now = entry(&place).map_err(AgentError::file(&path))?;
            let is_new = |file: &&WaitingFile| hash(&file.before) != hash(&now);
            let file = waiting.iter().find(|file| Path::new(&file.path) == place).filter(is_new);
            found = found.or_else(|| file.cloned().zip(Some(now.clone())));
        }
        let (file, now) = found.ok_or_else(|| {
            AgentError::Invalid(format!(
                "`{name}` waits for nothing; files of `{OUTSIDE}/` are accepted, and those of `limpid file list --waiting`"
            ))
        })?;
        let shown = |content: FileContent| content.text.unwrap_or_else(|| format!("(SHA-256 {})", content.hash));
        let (from, there, is_gone) = (name.to_owned(), file.before.map(shown), now.is_none());
        let Some(now) = now else {
            let (to, text, content) = (from.clone(), String::new(), gone());
            return Ok(FileOffer { from, to, text, content, there, instructs: true, is_gone });
        };
        // What nobody can be shown is accepted by nobody.
        let text = match now.text {
            Some(text) => text,
            None => read(&path.display().to_string())?,
        };
        if FileHash::of(text.as_bytes()) != now.hash {
            return Err(AgentError::Invalid(format!("`{name}` changes while it is read; look at it again")));
        }
        Ok(FileOffer { to: from.clone(), from, text, content: now.hash, there, instructs: true, is_gone })
    }

    /// Makes a file the owner's as they were shown it, and moves one for strangers' text into the workspace. What was shown is
    /// kept. `source` says where the owner said so.
    ///
    /// # Errors
    /// When it is not what was shown by now, or cannot be moved.
    pub async fn accept(&self, seen: &FileOffer, source: &str) -> Result<(), AgentError> {
        let by = self.memory.owner(source);
        let _busy = self.journal.wait_for(&[seen.from.clone(), seen.to.clone()].into()).await?;
        let mut recorded = self.recorded.lock().await;
        if self.offer(&seen.from).await? != *seen {
            return Err(AgentError::Invalid(format!("{} is not what was shown by now; look at it again", seen.from)));
        }
        if seen.moves() {
            let text = FileContent::text(seen.text.as_str());
            let links = self.links(&seen.to).await?;
            let moves = [(&seen.to, Some(text), links), (&seen.from, None, Links::Followed)];
            for (name, after, links) in moves {
                let Watched { content: before, begun } = self.begin(name, (None, None), &by).await?;
                let bytes = after.as_ref().map(|_| seen.text.as_bytes());
                let moved = self.write(name, bytes, links);
                let author = is_quoted(name).then_some(Author::Said);
                let end = match moved.is_ok() {
                    true => FileChangeEnd { before, after, author, exact: false },
                    false => unchanged(before),
                };
                if let Some(begun) = begun {
                    self.memory.database().end_file_change(begun, end).await?;
                }
                moved?;
                *recorded.entry(name.clone()).or_default() += 1;
            }
        }
        let path = self.journal.names.path(&seen.to);
        let is_link = |link: &PathBuf| entry(link).ok().flatten().is_some_and(|now| now.hash == seen.content);
        let subject = link_at(&path).filter(is_link).unwrap_or_else(|| real(&path));
        let raised = self.raised(&subject, seen.lines().join("\n"), source);
        Ok(self.memory.database().accept_file(raised, seen.content).await?)
    }

    /// Writes down that the owner's yes to a call made their own what it wrote, with what they were shown. What waited goes on
    /// waiting: they did not see it.
    pub(crate) async fn raise(&self, path: &Path, shown: String, source: &str) -> Result<(), AgentError> {
        Ok(self.memory.database().raise_label(self.raised(&real(path), shown, source)).await?)
    }

    /// `place` has every link followed, but for one that is the subject itself.
    fn raised(&self, place: &Path, shown: String, source: &str) -> NewRaisedLabel {
        let subject = place.display().to_string();
        let (act, source, now_ms) = (RaisingAct::File, source.to_owned(), self.memory.now_ms());
        NewRaisedLabel { act, subject, shown, source, now_ms }
    }
}

/// The place of a link that a path names, with every other link followed; none where it names no link.
fn link_at(path: &Path) -> Option<PathBuf> {
    path.is_symlink().then(|| Some(real(path.parent()?).join(path.file_name()?)))?
}
