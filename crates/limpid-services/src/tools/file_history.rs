//! The history of files: whatever tool changes one, what it held before is kept, who changed it, where and when is written
//! down before the call, and the change can be undone. Files of the workspace that prompts quote (MEMORY.md, daily notes and
//! the Markdown files at the top) are looked at as memories are besides: known secrets stay out, and what they said is kept
//! for ever; of others it is kept for a while.

mod alone;
mod former;
mod journal;
mod kept;
mod locks;
mod names;
mod offer;
mod owned;
mod programs;
mod read;
mod unaccepted;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use limpid_config::{Config, Home, Live};
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Sentence, Trust, sentence};
use limpid_store::{
    Author, FileChangeEnd, FileContent, FileHash, FileVersion, FileVersionId, Listed, NewRaisedLabel, RaisingAct,
    StoreError,
};
use limpid_tools::files;
use limpid_tools::{StrangersProgram, echoed};
use tokio::sync::Mutex;

pub(crate) use self::alone::{StartedBy, Turn};
use self::journal::{Busy, Journal, Watched, unchanged};
use self::names::{added, is_quoted, with_heading};
pub use self::offer::FileOffer;
use self::offer::taken_over;
pub use self::owned::{PromptFileChange, SavedFile};
pub(crate) use self::programs::RunningProgram;
use self::programs::{ProgramWatch, content};
use self::read::{ReadFiles, look};
pub use self::unaccepted::{UnacceptedFile, UnacceptedFiles};
use crate::error::AgentError;
use crate::memory::{MemoryWriter, WriteSource};
use crate::tools::builtin::{OUTSIDE, grants};
use crate::tools::policy::{CallFacts, real};

/// Changes of files, as tools made them.
pub struct FileHistory {
    memory: MemoryWriter,
    home: Home,
    config: Live<Config>,
    journal: Journal,
    programs: Arc<ProgramWatch>,
    /// Whether labels of an older version were looked at in this process.
    is_settled: Mutex<bool>,
    /// How often each file was recorded, so that programs and calls that run at once do not take each other's change for theirs.
    recorded: Mutex<HashMap<String, u64>>,
    /// What conversations know of files.
    read: ReadFiles,
}

/// The files before a call.
pub(crate) struct Before {
    tool: String,
    files: BTreeMap<String, Watched>,
    recorded: HashMap<String, u64>,
    /// Whether the call may have changed files that it does not name.
    all: bool,
    /// The files that the conversation knows after it.
    known: Vec<String>,
    _busy: Option<Busy>,
}

impl FileHistory {
    /// The history of the files of a home, and of the folders that its settings grant.
    pub fn new(home: &Home, config: Live<Config>, memory: MemoryWriter) -> Self {
        let journal = Journal::new(home, memory.clone());
        let programs = ProgramWatch::new(home, config.clone(), memory.clone());
        let (is_settled, recorded, read) = (Mutex::default(), Mutex::default(), ReadFiles::default());
        Self { memory, home: home.clone(), config, journal, programs, is_settled, recorded, read }
    }

    /// Writes down what the files hold that instruct the agent, before a program is started that could change them.
    ///
    /// # Errors
    /// When that cannot be written down: then the program must not be started.
    pub(crate) async fn program_starts(&self, tool: &str, now_ms: i64) -> Result<RunningProgram, Sentence> {
        let kept = |error| sentence!("what instructs the agent could not be written down first: {}", echoed(error));
        self.programs.begin(tool, now_ms).await.map_err(kept)
    }

    /// Waits until a program may start: beside others but none of the other kind, if it may be a stranger's, or alone where the owner said yes to it, so that nothing of what it was
    /// approved for changes until it has ended.
    ///
    /// # Errors
    /// A sentence, when others do not end in time: then it must not start.
    pub(crate) async fn program_turn(&self, by: StartedBy, kind: Option<StrangersProgram>) -> Result<Turn, Sentence> {
        alone::turn(&self.home, by, kind).await
    }

    /// Looks at what programs changed whose end nobody saw, and gives files that an older version knew by their bytes a
    /// place. Prompts are made after that.
    ///
    /// # Errors
    /// When files or the store cannot be read or written.
    pub async fn settle(&self) -> Result<(), AgentError> {
        self.programs.settle(self.memory.now_ms()).await?;
        let mut is_settled = self.is_settled.lock().await;
        if !*is_settled {
            let now = u64::try_from(self.memory.now_ms()).unwrap_or_default();
            alone::clear_copies(&self.home, SystemTime::UNIX_EPOCH + Duration::from_millis(now));
            former::give_places(&self.journal, &self.home, &self.memory, &self.programs.folders()).await?;
            *is_settled = true;
        }
        Ok(())
    }

    /// What the owner is told of files that wait for them, each once as it is; they hear it when this is asked.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn take_notices(&self) -> Result<Vec<String>, AgentError> {
        let mut notices = Vec::new();
        for file in self.unaccepted().await?.list().into_iter().filter(|file| !file.is_told) {
            self.memory.database().note_told(&file.now.0, file.now.1).await?;
            notices.push(file.notice());
        }
        Ok(notices)
    }

    /// What waits until the owner accepts it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn unaccepted(&self) -> Result<UnacceptedFiles, AgentError> {
        Ok(UnacceptedFiles::read(&**self.memory.database(), &self.home).await?)
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
        let (mut files, mut busy, mut known) = (BTreeMap::new(), None, Vec::new());
        if all {
            for name in quoted {
                let content = self.journal.content(&name).map_err(|error| not_kept(&name, error))?;
                files.insert(name, Watched { content, begun: None });
            }
        } else {
            let names = written.iter().flat_map(|written| self.journal.names.of_written(written, &quoted));
            let names: BTreeSet<String> = names.collect();
            let waited = self.journal.wait_for(&names).await;
            busy = Some(waited.map_err(|error| sentence!("files cannot be changed now: {}", echoed(error)))?);
            // Nobody else changes them from here on.
            known = self.check_known(facts, by)?;
            for name in names {
                let begun = self.journal.begin(&name, (Some(tool), None), by).await;
                files.insert(name.clone(), begun.map_err(|error| not_kept(&name, error))?);
            }
        }
        let recorded = self.recorded.lock().await.clone();
        Ok(Some(Before { tool: tool.to_owned(), files, recorded, all, known, _busy: busy }))
    }

    /// Looks at the files after the call and writes down what became of them.
    pub(crate) async fn after(&self, before: Option<Before>, by: &WriteSource) -> Result<(), AgentError> {
        let Some(Before { tool, mut files, recorded: seen, all, known, _busy }) = before else { return Ok(()) };
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
        if let Some(conversation) = by.conversation() {
            self.was_read(
                conversation,
                known.into_iter().filter_map(|real| look(&real).map(|now| (real, now))).collect(),
            );
        }
        Ok(())
    }

    /// What the files hold that a call reads, before it reads them: what changes meanwhile is not known to whoever called.
    pub(crate) fn about_to_read(&self, facts: &CallFacts) -> Vec<(String, FileContent)> {
        let read = facts.paths.iter().filter(|path| facts.effect == Effect::Look && !path.write);
        read.filter_map(|path| Some((path.real.clone(), look(&path.real)?))).collect()
    }

    /// A conversation has read files as they were.
    pub(crate) fn was_read(&self, conversation: &ConversationId, files: Vec<(String, FileContent)>) {
        files.into_iter().for_each(|(real, content)| self.read.note(conversation, &real, content));
    }

    /// Refuses a call that would write over what its conversation does not know. What only adds takes nothing away. Says which
    /// files the conversation knows after the call.
    fn check_known(&self, facts: &CallFacts, by: &WriteSource) -> Result<Vec<String>, Sentence> {
        let Some(conversation) = by.conversation().filter(|_| facts.effect == Effect::Files) else {
            return Ok(Vec::new());
        };
        let mut known = Vec::new();
        for path in facts.paths.iter().filter(|path| path.write) {
            let place = if self.is_low_place(&path.real) { Trust::Outside } else { Trust::File };
            if !facts.adds {
                self.read.check(conversation, &path.real, place)?;
            }
            if !facts.adds || self.read.is_known(conversation, &path.real) {
                known.push(path.real.clone());
            }
        }
        Ok(known)
    }

    /// Whether a path that has every link followed lies where strangers' text may be: the label of a listing and of what is read
    /// there is that of the place, whichever tool looks.
    pub(crate) fn is_low_place(&self, real: &str) -> bool {
        grants(&self.home, &self.config.files).place(real).is_ok_and(|place| place.root.trust.is_foreign())
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
        let _busy = self.journal.wait_for(&[name.to_owned()].into()).await?;
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
            let there = if self.journal.content(&way)?.is_some() { Some(read(&way)?) } else { None };
            let text = read(name)?;
            let content = FileHash::of(text.as_bytes());
            return Ok(FileOffer { text, content, from: name.to_owned(), to: way, there });
        }
        self.settle().await?;
        let path = self.journal.names.path(name);
        let waiting = self.memory.database().waiting_files().await?.rows.into_iter();
        let waiting = waiting.filter(|file| path.canonicalize().is_ok_and(|real| real == Path::new(&file.path)));
        let now = content(&path).map_err(AgentError::file(&path))?;
        let found =
            waiting.zip(now).find(|(file, now)| file.before.as_ref().map(|before| before.hash) != Some(now.hash));
        let (file, now) = found.ok_or_else(|| {
            AgentError::Invalid(format!(
                "`{name}` waits for nothing; files of `{OUTSIDE}/` are accepted, and those of `limpid file list --waiting`"
            ))
        })?;
        let shown = |content: FileContent| content.text.unwrap_or_else(|| format!("(SHA-256 {})", content.hash));
        // What nobody can be shown is accepted by nobody.
        let text = match now.text {
            Some(text) => text,
            None => read(&path.display().to_string())?,
        };
        if FileHash::of(text.as_bytes()) != now.hash {
            return Err(AgentError::Invalid(format!("`{name}` changes while it is read; look at it again")));
        }
        let (content, there) = (now.hash, file.before.map(shown));
        Ok(FileOffer { from: name.to_owned(), to: name.to_owned(), text, content, there })
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
        }
        let raised = self.raised(&self.journal.names.path(&seen.to), seen.lines().join("\n"), source);
        Ok(self.memory.database().accept_file(raised, seen.content).await?)
    }

    /// Writes down that the owner's yes to a call made their own what it wrote, with what they were shown. What waited goes on
    /// waiting: they did not see it.
    pub(crate) async fn raise(&self, path: &Path, shown: String, source: &str) -> Result<(), AgentError> {
        Ok(self.memory.database().raise_label(self.raised(path, shown, source)).await?)
    }

    fn raised(&self, path: &Path, shown: String, source: &str) -> NewRaisedLabel {
        let subject = real(path).display().to_string();
        let (act, source, now_ms) = (RaisingAct::File, source.to_owned(), self.memory.now_ms());
        NewRaisedLabel { act, subject, shown, source, now_ms }
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
        } else if let Some(way) = self.journal.names.prompt_file(name) {
            files::restore(&self.journal.own, &way, bytes)
        } else {
            files::restore(&grants(&self.home, &self.config.files), name, bytes)
        };
        written.map_err(|why| AgentError::Invalid(why.into_text()))
    }
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
