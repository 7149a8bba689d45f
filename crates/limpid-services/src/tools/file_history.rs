//! The history of files: whatever tool changes one, what it held before is kept, who changed it, where and when is written
//! down before the call, and the change can be undone. Files of the workspace that prompts quote (MEMORY.md, daily notes and
//! the Markdown files at the top) are looked at as memories are besides: known secrets stay out, and what they said is kept
//! for ever; of others it is kept for a while.

mod kept;
mod names;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use limpid_config::{Config, Home, Live};
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Sentence, sentence};
use limpid_store::{
    Author, FileChangeEnd, FileContent, FileVersion, FileVersionId, Listed, NewFileVersion, StoreError,
};
use limpid_tools::echoed;
use limpid_tools::files::{self, Grants};
use tokio::sync::{Mutex, OwnedMutexGuard};

use self::kept::{KeptFiles, hash_of};
use self::names::{FileNames, added, is_quoted, with_heading};
use crate::error::AgentError;
use crate::memory::{MemoryWriter, WriteSource};
use crate::tools::builtin::grants;
use crate::tools::policy::CallFacts;

/// Changes of files, as tools made them.
pub struct FileHistory {
    memory: MemoryWriter,
    home: Home,
    config: Live<Config>,
    /// The workspace alone, where the files that prompts quote are.
    workspace: Grants,
    names: FileNames,
    kept: KeptFiles,
    /// Files that calls are changing: one call after another.
    busy: Mutex<HashMap<String, Arc<Mutex<()>>>>,
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

/// A file that a call may change.
struct Watched {
    content: Option<FileContent>,
    /// The change that was begun; none when it is not known yet whether there will be one.
    begun: Option<FileVersionId>,
}

impl FileHistory {
    /// The history of the files of a home, and of the folders that its settings grant.
    pub fn new(home: &Home, config: Live<Config>, memory: MemoryWriter) -> Self {
        Self {
            memory,
            config,
            workspace: Grants::new(home.workspace()),
            names: FileNames::new(home),
            kept: KeptFiles::new(home.kept_files()),
            home: home.clone(),
            busy: Mutex::default(),
            recorded: Mutex::default(),
        }
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
        let quoted = self.names.quoted();
        let (mut files, mut busy) = (BTreeMap::new(), Vec::new());
        if all {
            for name in quoted {
                let content = self.content(&name).map_err(|error| not_kept(&name, error))?;
                files.insert(name, Watched { content, begun: None });
            }
        } else {
            let names = written.iter().flat_map(|written| self.names.of_written(written, &quoted));
            let names: BTreeSet<String> = names.collect();
            busy = self.wait_for(&names).await;
            for name in names {
                let begun = self.begin(&name, (Some(tool), None), by).await;
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
            let made = self.names.quoted().into_iter().filter(|name| !files.contains_key(name)).collect::<Vec<_>>();
            files.extend(made.into_iter().map(|name| (name, Watched { content: None, begun: None })));
        }
        let mut recorded = self.recorded.lock().await;
        for (name, Watched { content, begun }) in files {
            let now = self.content(&name)?;
            let before = if recorded.get(&name) == seen.get(&name) {
                content
            } else {
                self.memory.database().newest_file_version(&name).await?.and_then(|newest| newest.after)
            };
            let changed = hash(&now) != hash(&before);
            let begun = match begun {
                Some(begun) => begun,
                None if changed => self.write_down(&name, before.clone(), (Some(&tool), None), by).await?,
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
        let name = self.names.name(path.as_ref());
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
        let bytes = undone.before.as_ref().map(|content| self.bytes(name, content)).transpose()?;
        let _busy = self.wait_for(&[name.to_owned()].into()).await;
        let mut recorded = self.recorded.lock().await;
        let begun = self.begin(name, (None, Some(id)), &by).await?;
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

    /// Waits until no other call changes these files, and lets others wait until the guards are dropped.
    async fn wait_for(&self, names: &BTreeSet<String>) -> Vec<OwnedMutexGuard<()>> {
        let mut guards = Vec::new();
        // In one order, so that two calls never wait for each other.
        for name in names {
            let lock = {
                let mut busy = self.busy.lock().await;
                busy.retain(|_, lock| Arc::strong_count(lock) > 1);
                Arc::clone(busy.entry(name.clone()).or_default())
            };
            guards.push(lock.lock_owned().await);
        }
        guards
    }

    /// Keeps what a file holds, and writes down that it is about to be changed.
    async fn begin(
        &self,
        name: &str,
        how: (Option<&str>, Option<FileVersionId>),
        by: &WriteSource,
    ) -> Result<Watched, AgentError> {
        let content = self.content(name)?;
        let begun = self.write_down(name, content.clone(), how, by).await?;
        if let Some(FileContent { hash, text: None }) = &content {
            // The row comes first: what no row names is removed.
            let kept = self.kept.keep(&self.names.path(name), *hash);
            if let Err(error) = kept {
                self.memory.database().end_file_change(begun, unchanged(content)).await?;
                return Err(AgentError::file(self.names.path(name))(error));
            }
            self.kept.prune(&self.memory.database().kept_files().await?, by.now_ms);
        }
        Ok(Watched { content, begun: Some(begun) })
    }

    async fn write_down(
        &self,
        name: &str,
        before: Option<FileContent>,
        (tool, undoes): (Option<&str>, Option<FileVersionId>),
        by: &WriteSource,
    ) -> Result<FileVersionId, StoreError> {
        let new = NewFileVersion {
            path: name.to_owned(),
            undoes,
            before,
            trust: by.trust,
            source: by.source.clone(),
            conversation: by.conversation().cloned(),
            tool: tool.map(str::to_owned),
            now_ms: by.now_ms,
        };
        self.memory.database().begin_file_change(new).await
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
            let revised = files::revise(&self.workspace, name, change);
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

    /// What a file holds; none when it is not there.
    fn content(&self, name: &str) -> Result<Option<FileContent>, AgentError> {
        if is_quoted(name)
            && let Ok(text) = files::text(&self.workspace, name)
        {
            return Ok(Some(FileContent::text(text)));
        }
        let path = self.names.path(name);
        Ok(hash_of(&path).map_err(AgentError::file(path))?.map(FileContent::bytes))
    }

    /// The bytes that a file held.
    fn bytes(&self, name: &str, content: &FileContent) -> Result<Vec<u8>, AgentError> {
        if let Some(text) = &content.text {
            return Ok(text.clone().into_bytes());
        }
        let gone = || format!("what {name} held is no longer kept; it is kept for 30 days, and 200 MB in all");
        self.kept
            .read(content.hash)
            .map_err(AgentError::file(self.home.kept_files()))?
            .ok_or_else(|| AgentError::Invalid(gone()))
    }

    /// Writes a file whole, one that prompts quote for its owner's eyes only; takes it away without bytes.
    fn write(&self, name: &str, bytes: Option<&[u8]>) -> Result<(), AgentError> {
        let written = if is_quoted(name) {
            files::put(&self.workspace, name, bytes)
        } else {
            files::restore(&grants(&self.home, &self.config.files), name, bytes)
        };
        written.map_err(|why| AgentError::Invalid(why.into_text()))
    }
}

fn hash(content: &Option<FileContent>) -> Option<limpid_store::FileHash> {
    content.as_ref().map(|content| content.hash)
}

/// The end of a change that changed nothing.
fn unchanged(content: Option<FileContent>) -> FileChangeEnd {
    FileChangeEnd { before: content.clone(), after: content, author: None }
}

fn gone(id: FileVersionId) -> StoreError {
    StoreError::NotFound { what: "change of a file", id: id.0.to_string() }
}

fn not_kept(name: &str, error: impl std::fmt::Display) -> Sentence {
    sentence!("what `{}` holds could not be kept, so nothing was changed: {}", echoed(name), echoed(error))
}
