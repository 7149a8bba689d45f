//! The history of files: whatever tool changes one, what it held before is kept, who changed it, where and when is written
//! down before the call, and the change can be undone. Files of the workspace that prompts quote (MEMORY.md, daily notes and
//! the Markdown files at the top) are looked at as memories are besides: known secrets stay out, and what they said is kept
//! for ever; of others it is kept for a while.

mod journal;
mod kept;
mod names;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Component, Path};

use limpid_config::{Config, Home, Live};
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Sentence, sentence};
use limpid_store::{Author, FileChangeEnd, FileContent, FileHash, FileVersion, FileVersionId, Listed, StoreError};
use limpid_tools::echoed;
use limpid_tools::files;
use tokio::sync::{Mutex, OwnedMutexGuard};

use self::journal::{Journal, Watched, unchanged};
use self::names::{added, is_quoted, with_heading};
use crate::error::AgentError;
use crate::memory::{MemoryWriter, WriteSource};
use crate::tools::builtin::{OUTSIDE, grants};
use crate::tools::policy::CallFacts;

/// Changes of files, as tools made them.
pub struct FileHistory {
    memory: MemoryWriter,
    home: Home,
    config: Live<Config>,
    journal: Journal,
    /// How often each file was recorded, so that programs and calls that run at once do not take each other's change for theirs.
    recorded: Mutex<HashMap<String, u64>>,
}

/// The files before a call.
pub(crate) struct Before {
    tool: String,
    files: BTreeMap<String, Watched>,
    recorded: HashMap<String, u64>,
    /// Whether the call may have changed files that it does not name.
    all: bool,
    _busy: Vec<OwnedMutexGuard<()>>,
}

impl FileHistory {
    /// The history of the files of a home, and of the folders that its settings grant.
    pub fn new(home: &Home, config: Live<Config>, memory: MemoryWriter) -> Self {
        let journal = Journal::new(home, memory.clone());
        Self { memory, home: home.clone(), config, journal, recorded: Mutex::default() }
    }

    /// Keeps what the files hold that a call may change, and writes down that it is about to; nothing when it can change none.
    ///
    /// # Errors
    /// When that cannot be kept: then the call must not run.
    pub(crate) async fn before(
        &self,
        tool: &str,
        facts: &CallFacts,
        by: &WriteSource,
    ) -> Result<Option<Before>, Sentence> {
        let all = facts.effect == Effect::Run;
        let written = facts.paths.iter().filter(|path| path.write).map(|path| path.real.as_str());
        let written: BTreeSet<&str> = written.collect();
        if !all && written.is_empty() {
            return Ok(None);
        }
        let quoted = self.journal.names.quoted();
        let (mut files, mut busy) = (BTreeMap::new(), Vec::new());
        if all {
            for name in quoted {
                let content = self.journal.content(&name).map_err(|error| not_kept(&name, error))?;
                files.insert(name, Watched { content, begun: None });
            }
        } else {
            let names = written.iter().flat_map(|written| self.journal.names.of_written(written, &quoted));
            let names: BTreeSet<String> = names.collect();
            busy = self.journal.wait_for(&names).await;
            for name in names {
                let begun = self.journal.begin(&name, (Some(tool), None), by).await;
                files.insert(name.clone(), begun.map_err(|error| not_kept(&name, error))?);
            }
        }
        let recorded = self.recorded.lock().await.clone();
        Ok(Some(Before { tool: tool.to_owned(), files, recorded, all, _busy: busy }))
    }

    /// Looks at the files after the call and writes down what became of them.
    pub(crate) async fn after(&self, before: Option<Before>, by: &WriteSource) -> Result<(), AgentError> {
        let Some(Before { tool, mut files, recorded: seen, all, _busy }) = before else { return Ok(()) };
        if all {
            let made =
                self.journal.names.quoted().into_iter().filter(|name| !files.contains_key(name)).collect::<Vec<_>>();
            files.extend(made.into_iter().map(|name| (name, Watched { content: None, begun: None })));
        }
        let mut recorded = self.recorded.lock().await;
        for (name, Watched { content, begun }) in files {
            let now = self.journal.content(&name)?;
            let before = if recorded.get(&name) == seen.get(&name) {
                content
            } else {
                self.memory.database().newest_file_version(&name).await?.and_then(|newest| newest.after)
            };
            let changed = hash(&now) != hash(&before);
            let begun = match begun {
                Some(begun) => begun,
                None if changed => self.journal.write_down(&name, before.clone(), (Some(&tool), None), by).await?,
                None => continue,
            };
            let end = if changed { self.settled(&name, before, now, by).await? } else { unchanged(before) };
            self.memory.database().end_file_change(begun, end).await?;
            if changed {
                *recorded.entry(name).or_default() += 1;
            }
        }
        Ok(())
    }

    /// Whether a conversation made the file at a path that has every link followed.
    pub(crate) async fn is_made_by(&self, path: &str, conversation: &ConversationId) -> bool {
        let name = self.journal.names.name(path.as_ref());
        let made_by = self.memory.database().file_made_by(&name).await;
        made_by.is_ok_and(|made_by| made_by.as_ref() == Some(conversation))
    }

    /// What was changed in files, oldest first: in one, by the path that tools know it by, or in all.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn versions(&self, path: Option<&str>) -> Result<Listed<FileVersion>, AgentError> {
        Ok(self.memory.database().file_versions(path).await?)
    }

    /// Makes a file what it was before a change; that is a change itself, which can be undone. `source` says where the
    /// owner asked for it.
    ///
    /// # Errors
    /// When there is no such change, when what the file held is kept no longer, or when the file cannot be written.
    pub async fn undo(&self, id: FileVersionId, source: &str) -> Result<FileVersion, AgentError> {
        let by = self.memory.owner(source);
        let database = self.memory.database();
        let undone = database.file_version(id).await?;
        let name = undone.path.as_str();
        let bytes = undone.before.as_ref().map(|content| self.journal.bytes(name, content)).transpose()?;
        let _busy = self.journal.wait_for(&[name.to_owned()].into()).await;
        let mut recorded = self.recorded.lock().await;
        let begun = self.journal.begin(name, (None, Some(id)), &by).await?;
        let Watched { content: before, begun: Some(new) } = begun else { return Err(AgentError::from(gone(id))) };
        let same = hash(&before) == hash(&undone.before);
        let written = if same { Ok(()) } else { self.write(name, bytes.as_deref()) };
        if same || written.is_err() {
            database.end_file_change(new, unchanged(before)).await?;
            written?;
            return Err(AgentError::Invalid(format!("{name} is already as it was before change {}", id.0)));
        }
        let author = is_quoted(name).then_some(Author::Said);
        database.end_file_change(new, FileChangeEnd { before, after: undone.before, author }).await?;
        *recorded.entry(undone.path).or_default() += 1;
        Ok(database.file_version(new).await?)
    }

    /// What taking over a file for strangers' text would put where, for its owner to read whole. `name` is the file as tools
    /// call it: `outside/notes.md` goes to `notes.md` in the workspace.
    ///
    /// # Errors
    /// When it is no file there, or when it or the file that it would replace is no text.
    pub fn offer(&self, name: &str) -> Result<FileOffer, AgentError> {
        let way = taken_over(name).ok_or_else(|| {
            AgentError::Invalid(format!("`{name}` is no file of `{OUTSIDE}/`; name one as `{OUTSIDE}/notes.md`"))
        })?;
        let read = |name: &str| {
            files::text(&grants(&self.home, &self.config.files), name)
                .map_err(|why| AgentError::Invalid(why.into_text()))
        };
        let there = if self.journal.content(&way)?.is_some() { Some(read(&way)?) } else { None };
        Ok(FileOffer { text: read(name)?, from: name.to_owned(), to: way, there })
    }

    /// Moves a file for strangers' text into the workspace, as its owner was shown it. What it says is kept with the change.
    /// `source` says where the owner said so.
    ///
    /// # Errors
    /// When it is not what was shown by now, or cannot be moved.
    pub async fn accept(&self, seen: &FileOffer, source: &str) -> Result<(), AgentError> {
        let by = self.memory.owner(source);
        let _busy = self.journal.wait_for(&[seen.from.clone(), seen.to.clone()].into()).await;
        let mut recorded = self.recorded.lock().await;
        if self.offer(&seen.from)? != *seen {
            return Err(AgentError::Invalid(format!("{} is not what was shown by now; look at it again", seen.from)));
        }
        let text = FileContent::text(seen.text.as_str());
        for (name, after) in [(&seen.to, Some(text)), (&seen.from, None)] {
            let Watched { content: before, begun } = self.journal.begin(name, (None, None), &by).await?;
            let bytes = after.as_ref().map(|_| seen.text.as_bytes());
            let moved = self.write(name, bytes);
            let author = is_quoted(name).then_some(Author::Said);
            let end = if moved.is_ok() { FileChangeEnd { before, after, author } } else { unchanged(before) };
            if let Some(begun) = begun {
                self.memory.database().end_file_change(begun, end).await?;
            }
            moved?;
            *recorded.entry(name.clone()).or_default() += 1;
        }
        Ok(())
    }

    /// What came of a change; a text that prompts quote is looked at as a memory is.
    async fn settled(
        &self,
        name: &str,
        before: Option<FileContent>,
        now: Option<FileContent>,
        by: &WriteSource,
    ) -> Result<FileChangeEnd, AgentError> {
        if !is_quoted(name) {
            return Ok(FileChangeEnd { before, after: now, author: None });
        }
        let is_text = now.as_ref().is_some_and(|now| now.text.is_some());
        let after = if is_text {
            let change = |text: &str| self.memory.clean(with_heading(name, before.is_none(), text));
            let revised = files::revise(&self.journal.workspace, name, change);
            Some(FileContent::text(revised.map_err(|why| AgentError::Invalid(why.into_text()))?))
        } else {
            // What cannot be read as text is left as it is.
            now
        };
        let said = |content: &Option<FileContent>| content.as_ref().and_then(|content| content.text.clone());
        let news = added(&said(&before).unwrap_or_default(), &said(&after).unwrap_or_default());
        let author = Some(self.memory.author(&news, by).await?);
        Ok(FileChangeEnd { before, after, author })
    }

    /// Writes a file whole, one that prompts quote for its owner's eyes only; takes it away without bytes.
    fn write(&self, name: &str, bytes: Option<&[u8]>) -> Result<(), AgentError> {
        let written = if is_quoted(name) {
            files::put(&self.journal.workspace, name, bytes)
        } else {
            files::restore(&grants(&self.home, &self.config.files), name, bytes)
        };
        written.map_err(|why| AgentError::Invalid(why.into_text()))
    }
}

/// What taking over a file would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOffer {
    /// The file, as tools call it.
    pub from: String,
    /// Where it goes, from the workspace.
    pub to: String,
    /// What it says.
    pub text: String,
    /// What the file there says, which it replaces.
    pub there: Option<String>,
}

impl FileOffer {
    /// The hash of everything that is shown: the two names and the two texts.
    pub fn hash(&self) -> FileHash {
        let parts = [&self.from, &self.to, &self.text].into_iter().chain(&self.there);
        FileHash::of(parts.map(|part| format!("{}:{part}", part.len())).collect::<String>().as_bytes())
    }
}

/// Where a file for strangers' text goes when its owner takes it over; none for any other path.
fn taken_over(name: &str) -> Option<String> {
    let way = Path::new(name).strip_prefix(OUTSIDE).ok()?;
    let mut parts = way.components().peekable();
    let is_plain = parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)));
    is_plain.then(|| way.to_str().map(str::to_owned)).flatten()
}

fn hash(content: &Option<FileContent>) -> Option<FileHash> {
    content.as_ref().map(|content| content.hash)
}

fn gone(id: FileVersionId) -> StoreError {
    StoreError::NotFound { what: "change of a file", id: id.0.to_string() }
}

fn not_kept(name: &str, error: impl std::fmt::Display) -> Sentence {
    sentence!("what `{}` holds could not be kept, so nothing was changed: {}", echoed(name), echoed(error))
}
