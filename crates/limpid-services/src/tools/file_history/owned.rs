//! Changes that the owner makes at a surface in the files that prompts are made from.

use limpid_store::{FileChangeEnd, FileContent, FileVersion, FileVersionId, Listed};
use limpid_tools::files::{self, Links};

use super::journal::{Watched, unchanged};
use super::{FileHistory, gone, hash};
use crate::error::AgentError;

/// A change that the owner wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptFileChange {
    /// The file, by its path in the home.
    pub path: String,
    /// What it said when it was looked at last; none when it was not there.
    pub there: Option<String>,
    /// What it is to say first, where it was not there or was a copy of another text, and where that is written down beside it.
    pub copy: Option<(String, String)>,
    /// What it is to say.
    pub text: String,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavedFile {
    /// It was made.
    Saved(FileVersionId),
    /// The file says that already.
    Same,
    /// Somebody changed the file meanwhile, so nothing was written; what it says now.
    Newer(Option<String>),
}

impl FileHistory {
    /// Writes a file that prompts are made from, and keeps what it said before. It is not written over what was not looked at, and
    /// through no link that leads out of the home.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub async fn save(&self, change: PromptFileChange, source: &str) -> Result<SavedFile, AgentError> {
        let PromptFileChange { path, there, copy, text } = change;
        let by = self.memory.owner(source);
        let name = self.journal.names.of_prompt_file(&path);
        let _busy = self.journal.wait_for(&[name.clone()].into()).await?;
        let now = match self.journal.content(&name)? {
            None => None,
            // What cannot be read as text is left as it is: a link that leads out, a folder, bytes.
            Some(_) => Some(files::text(&self.journal.own, &path).map_err(|why| AgentError::Invalid(why.into_text()))?),
        };
        if now.as_deref().map(without_mark) != there.as_deref().map(without_mark) {
            return Ok(SavedFile::Newer(now));
        }
        if let Some((base, copied)) = &copy {
            let put = |path: &str| files::restore(&self.journal.own, path, Some(copied.as_bytes()), Links::Followed);
            let written = put(&path).and_then(|()| put(base));
            written.map_err(|why| AgentError::Invalid(why.into_text()))?;
        }
        if copy.as_ref().map(|(_, copied)| copied).or(now.as_ref()) == Some(&text) {
            return Ok(SavedFile::Same);
        }
        let begun = self.journal.begin(&name, (None, None), &by).await?;
        let Watched { content: before, begun: Some(id) } = begun else {
            return Err(AgentError::from(gone(FileVersionId(0))));
        };
        let written = self.write(&name, Some(text.as_bytes()), Links::Followed);
        let end = match &written {
            Ok(()) => FileChangeEnd { before, after: self.journal.content(&name)?, author: None, exact: false },
            Err(_) => unchanged(before),
        };
        self.memory.database().end_file_change(id, end).await?;
        written?;
        Ok(SavedFile::Saved(id))
    }

    /// Writes down that the owner changed such a file by themselves, in an editor: `before` is what it said until then. One that says
    /// the same leaves nothing.
    ///
    /// # Errors
    /// When it cannot be read, or the store cannot be written.
    pub async fn edited(&self, path: &str, before: String, source: &str) -> Result<(), AgentError> {
        let by = self.memory.owner(source);
        let name = self.journal.names.of_prompt_file(path);
        let _busy = self.journal.wait_for(&[name.clone()].into()).await?;
        let (before, after) = (Some(FileContent::text(before)), self.journal.content(&name)?);
        if hash(&before) == hash(&after) {
            return Ok(());
        }
        let id = self.journal.write_down(&name, before.clone(), (None, None), &by).await?;
        self.memory.database().end_file_change(id, FileChangeEnd { before, after, author: None, exact: false }).await?;
        Ok(())
    }

    /// What was changed in a file that prompts are made from, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn prompt_file_versions(&self, path: &str) -> Result<Listed<FileVersion>, AgentError> {
        self.versions(Some(&self.journal.names.of_prompt_file(path))).await
    }
}

/// Whoever reads a file drops the mark at its start.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
