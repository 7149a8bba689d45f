//! The history of files: whatever tool changes one, what it held before is kept, who changed it, where and when is written
//! down before the call, and the change can be undone. Files of the workspace that prompts quote (MEMORY.md, daily notes and
//! the Markdown files at the top) are looked at as memories are besides: known secrets stay out, and what they said is kept
//! for ever; of others it is kept for a while.

mod alone;
mod former;
mod journal;
mod kept;
mod known;
mod locks;
mod names;
mod offer;
mod owned;
mod programs;
mod read;
mod unaccepted;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use limpid_config::{Config, FileError, Home, Live};
use limpid_core::policy::{Effect, Followed, PathFacts};
use limpid_core::{ConversationId, Sentence, Trust, io_cause, sentence};
use limpid_store::{
    Author, FileChangeEnd, FileContent, FileHash, FileVersion, FileVersionId, Listed, NewRaisedLabel, RaisingAct,
    StoreError, WaitingFile,
};
use limpid_tools::files::{self, Links};
use limpid_tools::{Rewrite, StrangersProgram, echoed};
use tokio::sync::Mutex;

pub(crate) use self::alone::{StartedBy, Turn};
use self::journal::{Busy, Journal, Watched, unchanged};
use self::names::{added, is_quoted, with_heading};
pub use self::offer::FileOffer;
use self::offer::taken_over;
pub use self::owned::{PromptFileChange, SavedFile};
pub(crate) use self::programs::RunningProgram;
use self::programs::{ProgramWatch, entry};
use self::read::{ReadFiles, look};
pub use self::unaccepted::{Place, UnacceptedFile, UnacceptedFiles};
use crate::error::AgentError;
use crate::memory::{MemoryWriter, WriteSource};
use crate::skills::{trust_in_skill, unused_skills};
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
    known: Vec<Followed>,
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
        let written: Vec<&PathFacts> = facts.paths.iter().filter(|path| path.write).collect();
        if !all && written.is_empty() {
            return Ok(None);
        }
        let quoted = self.journal.names.quoted();
        let (mut files, mut busy, mut known) = (BTreeMap::new(), None, Vec::new());
        if all {
            for name in quoted {
                // What cannot be read is in no prompt either.
                let content = self.journal.content(&name).unwrap_or(None);
                files.insert(name, Watched { content, begun: None });
            }
        } else {
            // By the names of the files, how the call has named each.
            let mut names = BTreeMap::new();
            for path in written {
                let of = self.journal.names.of_written(path.real.as_path(), &quoted);
                names.extend(of.into_iter().map(|name| (name, path.written.clone())));
            }
            let waited = self.journal.wait_for(&names.keys().cloned().collect()).await;
            busy = Some(waited.map_err(|error| sentence!("files cannot be changed now: {}", echoed(error)))?);
            // Nobody else changes them from here on.
            known = self.check_known(facts, by).await?;
            for (name, written) in names {
                let begun = self.begin(&name, (Some(tool), None), by).await;
                files.insert(name, begun.map_err(|error| not_kept(written, &error))?);
            }
        }
        let recorded = self.recorded.lock().await.clone();
        Ok(Some(Before { tool: tool.to_owned(), files, recorded, all, known, _busy: busy }))
    }

    /// Looks at the files after the call and writes down what became of them. `rewrites` are what it says that it wrote itself: nobody
    /// knows that of what a program did.
    pub(crate) async fn after(
        &self,
        before: Option<Before>,
        rewrites: &[Rewrite],
        by: &WriteSource,
    ) -> Result<(), AgentError> {
        let Some(Before { tool, mut files, recorded: seen, all, known, _busy }) = before else { return Ok(()) };
        let rewrites: &[Rewrite] = if all { &[] } else { rewrites };
        if all {
            let made =
                self.journal.names.quoted().into_iter().filter(|name| !files.contains_key(name)).collect::<Vec<_>>();
            files.extend(made.into_iter().map(|name| (name, Watched { content: None, begun: None })));
        }
        let mut recorded = self.recorded.lock().await;
        for (name, Watched { content, begun }) in files {
            let now = if all { self.journal.content(&name).unwrap_or(None) } else { self.journal.content(&name)? };
            let before = if recorded.get(&name) == seen.get(&name) {
                content
            } else {
                self.memory.database().newest_file_version(&name).await?.and_then(|newest| newest.after)
            };
            let changed = hash(&now) != hash(&before);
            let begun = match begun {
                Some(begun) => begun,
                None if changed => {
                    self.note_known(&name, before.as_ref(), by).await?;
                    self.journal.write_down(&name, before.clone(), (Some(&tool), None), by).await?
                }
                None => continue,
            };
            let end = match changed {
                true => self.settled(&name, (before, now), rewrites, by).await?,
                false => unchanged(before),
            };
            self.memory.database().end_file_change(begun, end).await?;
            if changed {
                *recorded.entry(name).or_default() += 1;
            }
        }
        if let Some(conversation) = by.conversation() {
            self.was_read(
                conversation,
                known.into_iter().filter_map(|real| look(real.as_path()).map(|now| (real, now))).collect(),
            );
        }
        Ok(())
    }

    /// What the files hold that a call reads, before it reads them: what changes meanwhile is not known to whoever called.
    pub(crate) fn about_to_read(&self, facts: &CallFacts) -> Vec<(Followed, FileContent)> {
        let read = facts.paths.iter().filter(|path| facts.effect == Effect::Look && !path.write);
        read.filter_map(|path| Some((path.real.clone(), look(path.real.as_path())?))).collect()
    }

    /// A conversation has read files as they were.
    pub(crate) fn was_read(&self, conversation: &ConversationId, files: Vec<(Followed, FileContent)>) {
        files.into_iter().for_each(|(real, content)| self.read.note(conversation, &real, content));
    }

    /// Refuses a call that would write over what its conversation does not know. What only adds takes nothing away. Says which
    /// files the conversation knows after the call.
    async fn check_known(&self, facts: &CallFacts, by: &WriteSource) -> Result<Vec<Followed>, Sentence> {
        let Some(conversation) = by.conversation().filter(|_| facts.effect == Effect::Files) else {
            return Ok(Vec::new());
        };
        let mut known = Vec::new();
        for path in facts.paths.iter().filter(|path| path.write) {
            if !facts.adds {
                let trust = self.trust_of(path).await.join(Trust::File);
                self.read.check(conversation, path, trust)?;
            }
            if !facts.adds || self.read.is_known(conversation, &path.real) {
                known.push(path.real.clone());
            }
        }
        Ok(known)
    }

    /// The label of what stands where a call leads, whichever tool looks or tells of it: a stranger's where their text may be, of
    /// what waits for the owner until they accepted it, and of the files of a skill that is not used as it stands.
    pub(crate) async fn trust_of(&self, path: &PathFacts) -> Trust {
        let real = path.real.as_path();
        let grants = grants(&self.home, &self.config.files);
        if grants.place(&real.display().to_string()).is_ok_and(|place| place.root.trust.is_foreign()) {
            return Trust::Outside;
        }
        let base = self.config.files.base.clone().unwrap_or_else(|| self.home.workspace());
        let places = [Place::of(&base, &path.written), Place::followed(&path.real)];
        // What cannot be looked up is nobody's own.
        let Ok(waiting) = self.unaccepted().await else { return Trust::Outside };
        if places.iter().any(|place| waiting.contains_now(place)) {
            return Trust::Outside;
        }
        let of_skill = trust_in_skill(&**self.memory.database(), &self.home, &waiting, real).await;
        let is_foreign = of_skill.map_or(true, |trust| trust.is_some_and(Trust::is_foreign));
        if is_foreign { Trust::Outside } else { Trust::Owner }
    }

    /// The folders of skills that are not used as they stand, which no program sees.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) async fn unused_skills(&self) -> Result<Vec<PathBuf>, AgentError> {
        unused_skills(&**self.memory.database(), &self.home).await
    }

    /// Whether everything in the file at a path that has every link followed came from a conversation, by turns that had read a
    /// stranger's text: whatever else it holds somebody would miss.
    pub(crate) async fn is_made_by(&self, path: &Path, conversation: &ConversationId) -> bool {
        let name = self.journal.names.name(path);
        let Ok(Some((writer, left))) = self.memory.database().file_made_by(&name).await else { return false };
        writer == *conversation && self.journal.content(&name).is_ok_and(|now| hash(&now) == Some(left))
    }

    /// What was changed in files, oldest first: in one, by the path that tools know it by, or in all.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn versions(&self, path: Option<&str>) -> Result<Listed<FileVersion>, AgentError> {
        Ok(self.memory.database().file_versions(path).await?)
    }

    /// Makes a file what it was before a change; that is a change itself, which can be undone. What never was the owner's waits for
    /// them again. `source` says where they asked for it.
    ///
    /// # Errors
    /// When there is no such change, when what the file held is kept no longer, when a link leads elsewhere by now, or when the file
    /// cannot be written.
    pub async fn undo(&self, id: FileVersionId, source: &str) -> Result<FileVersion, AgentError> {
        self.settle().await?;
        let by = self.memory.owner(source);
        let database = self.memory.database();
        let undone = database.file_version(id).await?;
        let name = undone.path.as_str();
        let bytes = undone.before.as_ref().map(|content| self.journal.bytes(name, content)).transpose()?;
        let _busy = self.journal.wait_for(&[name.to_owned()].into()).await?;
        let mut recorded = self.recorded.lock().await;
        let links = self.links(name).await?;
        let begun = self.begin(name, (None, Some(id)), &by).await?;
        let Watched { content: before, begun: Some(new) } = begun else { return Err(AgentError::from(gone(id))) };
        let same = hash(&before) == hash(&undone.before);
        // Before it is written: no prompt is made from it in between.
        let waits = !same && self.hold_back(name, hash(&undone.before), by.now_ms).await?;
        let written = if same { Ok(()) } else { self.write(name, bytes.as_deref(), links) };
        if same || written.is_err() {
            database.end_file_change(new, unchanged(before)).await?;
            written?;
            return Err(AgentError::Invalid(format!("{name} is already as it was before change {}", id.0)));
        }
        let author = is_quoted(name).then_some(if waits { Author::Inferred } else { Author::Said });
        database.end_file_change(new, FileChangeEnd { before, after: undone.before, author, exact: false }).await?;
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
            let (to, text, content) = (from.clone(), String::new(), unaccepted::gone());
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

    /// What came of a change; a text that prompts quote is looked at as a memory is. What is there now may be another one's by now: the
    /// call's own is what it says that it wrote, of what was known to be there.
    async fn settled(
        &self,
        name: &str,
        (before, now): (Option<FileContent>, Option<FileContent>),
        rewrites: &[Rewrite],
        by: &WriteSource,
    ) -> Result<FileChangeEnd, AgentError> {
        let was = hash(&before).map(|was| was.0);
        let is_own = |now: FileHash| rewrites.iter().any(|rewrite| rewrite.made(now.0, was));
        let mut exact = now.as_ref().is_some_and(|now| is_own(now.hash));
        if !is_quoted(name) {
            return Ok(FileChangeEnd { before, after: now, author: None, exact });
        }
        let is_text = now.as_ref().is_some_and(|now| now.text.is_some());
        let after = if is_text {
            let change = |text: &str| {
                // It is read once more, and what is made of it is what the file holds from then on.
                exact = is_own(FileHash::of(text.as_bytes()));
                self.memory.clean(with_heading(name, before.is_none(), text))
            };
            let revised = files::revise(&self.journal.workspace, name, change);
            Some(FileContent::text(revised.map_err(|why| AgentError::Invalid(why.into_text()))?))
        } else {
            // What cannot be read as text is left as it is.
            now
        };
        let said = |content: &Option<FileContent>| content.as_ref().and_then(|content| content.text.clone());
        let news = added(&said(&before).unwrap_or_default(), &said(&after).unwrap_or_default());
        let author = Some(self.memory.author(&news, by).await?);
        Ok(FileChangeEnd { before, after, author, exact })
    }

    /// Writes a file whole, one that prompts quote for its owner's eyes only; takes it away without bytes.
    fn write(&self, name: &str, bytes: Option<&[u8]>, links: Links) -> Result<(), AgentError> {
        let written = if is_quoted(name) {
            files::put(&self.journal.workspace, name, bytes, links)
        } else if let Some(way) = self.journal.names.prompt_file(name) {
            files::restore(&self.journal.own, &way, bytes, Links::Followed)
        } else {
            files::restore(&grants(&self.home, &self.config.files), name, bytes, links)
        };
        written.map_err(|why| AgentError::Invalid(why.into_text()))
    }
}

/// The place of a link that a path names, with every other link followed; none where it names no link.
fn link_at(path: &Path) -> Option<PathBuf> {
    path.is_symlink().then(|| Some(real(path.parent()?).join(path.file_name()?)))?
}

fn hash(content: &Option<FileContent>) -> Option<FileHash> {
    content.as_ref().map(|content| content.hash)
}

fn gone(id: FileVersionId) -> StoreError {
    StoreError::NotFound { what: "change of a file", id: id.0.to_string() }
}

/// An error names the file as links lead to it, which whoever made them has named; the model is told its own name of it.
fn not_kept(written: String, error: &AgentError) -> Sentence {
    let why = match error {
        AgentError::File(FileError::Io { source, .. }) => io_cause(source),
        _ => "the history of files cannot be written".to_owned(),
    };
    sentence!("what `{}` holds could not be kept, so nothing was changed: {}", echoed(written), echoed(why))
}
