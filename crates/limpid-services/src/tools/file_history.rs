//! The history of files: whatever tool changes one, what it held before is kept, who changed it, where and when is written
//! down before the call, and the change can be undone. Files of the workspace that prompts quote (MEMORY.md, daily notes and
//! the Markdown files at the top) are looked at as memories are besides: known secrets stay out, and what they said is kept
//! for ever; of others it is kept for a while.

mod alone;
#[cfg(test)]
mod bench;
mod busy;
mod calls;
mod disk;
mod entries;
mod former;
mod journal;
mod judged;
mod kept;
mod known;
mod labels;
mod locks;
mod names;
mod offer;
mod opened;
mod programs;
mod read;
mod room;
mod unaccepted;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime};

use limpid_config::{Config, Home, Live};
use limpid_core::policy::PathFacts;
use limpid_core::{ConversationId, Labelled, Sentence, Trust, sentence};
use limpid_store::{Author, FileChangeEnd, FileContent, FileHash, FileVersion, FileVersionId, Listed, StoreError};
use limpid_tools::StrangersProgram;
use limpid_tools::files::{self, Links};
use tokio::sync::Mutex;
use tokio::time::Instant;

pub(crate) use self::alone::{StartedBy, Turn};
use self::busy::{Claim, Scope, alone_in, alone_with};
pub(crate) use self::calls::Before;
pub(crate) use self::disk::on_disk;
use self::journal::{Journal, Watched, unchanged};
pub(crate) use self::labels::Reading;
pub(crate) use self::locks::FilesLock;
use self::locks::{PATIENCE, lock_files};
use self::names::is_quoted;
pub use self::offer::FileOffer;
use self::programs::ProgramWatch;
pub(crate) use self::programs::{RunningProgram, Starting};
use self::read::ReadFiles;
use self::unaccepted::{NotTold, Told, forget_put_back};
pub use self::unaccepted::{Place, UnacceptedFile, UnacceptedFiles};
use crate::error::AgentError;
use crate::memory::MemoryWriter;
use crate::skills::{trust_in_skill, unused_skills};
use crate::tools::builtin::grants;

/// Files that wait which the owner is told of one by one at once.
const MOST_NOTICES: usize = 20;

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
    read: Arc<ReadFiles>,
    /// The files that wait and that the owner was told of.
    told: Arc<std::sync::Mutex<Told>>,
}

impl FileHistory {
    /// The history of the files of a home, and of the folders that its settings grant.
    pub fn new(home: &Home, config: Live<Config>, memory: MemoryWriter) -> Self {
        let journal = Journal::new(home, config.clone(), memory.clone());
        let programs = ProgramWatch::new(home, config.clone(), memory.clone());
        let (is_settled, recorded, read, told) = (Mutex::default(), Mutex::default(), Arc::default(), Arc::default());
        Self { memory, home: home.clone(), config, journal, programs, is_settled, recorded, read, told }
    }

    /// Writes down what the files hold that instruct the agent, before a program is started that could change them: those in the folders
    /// that its tool lets it change or that the settings do. From then on nobody else changes those files before it has ended.
    ///
    /// # Errors
    /// When that cannot be written down: then the program must not be started.
    pub(crate) async fn program_starts(
        &self,
        turn: Option<&Turn>,
        starting: Starting<'_>,
        now_ms: i64,
    ) -> Result<RunningProgram, Sentence> {
        // It may name a folder that a program made.
        let kept = |error: AgentError| {
            let why = Labelled::outside(error.to_string());
            sentence!("what instructs the agent could not be written down first: {}", why)
        };
        let begun = match turn.and_then(Turn::files) {
            Some(lock) => self.programs.begin(lock, starting, now_ms).await,
            None => match lock_files(&self.home, Instant::now() + PATIENCE).await {
                Ok(lock) => self.programs.begin(&lock, starting, now_ms).await,
                Err(error) => Err(error),
            },
        };
        begun.map_err(kept)
    }

    /// Waits until a program may start. An approved one runs alone, so that nothing of what it was approved for changes until it has ended.
    /// One that may be a stranger's runs beside none of the other kind.
    ///
    /// # Errors
    /// A sentence, when others do not end in time: then it must not start.
    pub(crate) async fn program_turn(&self, by: StartedBy, kind: Option<StrangersProgram>) -> Result<Turn, Sentence> {
        alone::turn(&self.home, by, kind).await
    }

    /// Waits until nobody else changes files and no program runs that could change anything in a folder.
    ///
    /// # Errors
    /// When others do not end in time, and when the home has no room for the lock.
    pub(crate) async fn lock_folder(&self, folder: &Path) -> Result<FilesLock, AgentError> {
        alone_in(self, folder).await
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
        let (unaccepted, told) = (self.unaccepted().await?, Arc::clone(&self.told));
        let no_program_since = unaccepted.no_program_since();
        // A program may have left thousands of large ones, for which nobody else waits.
        let look = move || {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            let NotTold { new, put_back } = unaccepted.not_told_of(&mut told);
            drop(told);
            let mut notices: Vec<String> = new.iter().take(MOST_NOTICES).map(UnacceptedFile::notice).collect();
            if let Some(more) = new.len().checked_sub(MOST_NOTICES).filter(|more| *more > 0) {
                notices.push(format!("{more} more files wait until you accept them: limpid file list --waiting"));
            }
            Ok((new, put_back, notices))
        };
        let (new, put_back, notices) = on_disk(look).await?;
        if let Some(since) = no_program_since.filter(|_| !put_back.is_empty()) {
            forget_put_back(&**self.memory.database(), &self.home, put_back, since).await?;
        }
        if !new.is_empty() {
            // In one write: a program may have left thousands.
            let told = new.iter().map(|file| (file.now.0.clone(), file.now.1)).collect();
            self.memory.database().note_told(told).await?;
        }
        Ok(notices)
    }

    /// What waits until the owner accepts it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn unaccepted(&self) -> Result<UnacceptedFiles, AgentError> {
        Ok(UnacceptedFiles::read(&**self.memory.database(), &self.home, &self.config.files).await?)
    }

    /// The label of what stands where a call leads, whichever tool looks or tells of it: a stranger's where their text may be, of
    /// what waits for the owner until they accepted it, and of the files of a skill that is not used as it stands.
    async fn trust_of(&self, path: &PathFacts) -> Trust {
        let real = path.real.as_path();
        let grants = grants(&self.home, &self.config.files);
        if grants.place(&real.display().to_string()).is_ok_and(|place| place.root.trust.is_foreign()) {
            return Trust::Outside;
        }
        let base = self.config.files.base.clone().unwrap_or_else(|| self.home.workspace());
        let places = [Place::of(&base, &path.written), Place::followed(&path.real)];
        // What cannot be looked up is nobody's own.
        let Ok(mut waiting) = self.unaccepted().await else { return Trust::Outside };
        let waiting = loop {
            let places = places.clone();
            // What waits is read whole, which nobody else waits for.
            let looked = tokio::task::spawn_blocking(move || {
                let waits = places.iter().any(|place| waiting.contains_now(place));
                (waits, waiting)
            });
            let Ok((false, looked)) = looked.await else { return Trust::Outside };
            match looked.read_again_if_changed(&**self.memory.database(), &self.home, &self.config.files).await {
                Ok(None) => break looked,
                Ok(Some(newer)) => waiting = newer,
                Err(_) => return Trust::Outside,
            }
        };
        let of_skill = trust_in_skill(&**self.memory.database(), &self.home, waiting, real).await;
        let is_foreign = of_skill.map_or(true, |trust| trust.is_some_and(Trust::is_foreign));
        if is_foreign { Trust::Outside } else { Trust::Owner }
    }

    /// Whether a program runs that may write a file, or lay files in a folder: whatever was read of it is for the program to say, which
    /// may have put back by now what was there before.
    async fn may_be_changing(&self, path: &PathFacts) -> bool {
        let place = Place::followed(&path.real);
        self.unaccepted().await.map_or(true, |known| known.may_be_changing(&place))
    }

    /// How many programs had ever begun; none when that cannot be looked up.
    async fn programs_begun(&self) -> Option<i64> {
        self.memory.database().programs_begun().await.ok()
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
        let name = self.journal.disk.names.name(path);
        let Ok(Some((writer, left))) = self.memory.database().file_made_by(&name).await else { return false };
        writer == *conversation && self.journal.content(&name).await.is_ok_and(|now| hash(&now) == Some(left))
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
        let bytes = match &undone.before {
            Some(content) => Some(self.journal.bytes(name, content).await?),
            None => None,
        };
        let _busy = alone_with(self, &[Claim::of(self, name, name)], Scope::All).await?;
        let mut recorded = self.recorded.lock().await;
        let links = self.links(name).await?;
        let begun = self.begin(name, None, (None, Some(id)), &by).await?;
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
        database.end_file_change(new, FileChangeEnd { before, after: undone.before, author }).await?;
        *recorded.entry(undone.path).or_default() += 1;
        Ok(database.file_version(new).await?)
    }

    /// Writes a file whole, one that prompts quote for its owner's eyes only; takes it away without bytes.
    fn write(&self, name: &str, bytes: Option<&[u8]>, links: Links) -> Result<(), AgentError> {
        let written = if is_quoted(name) {
            files::put(&self.journal.disk.workspace, name, bytes, links)
        } else if let Some(way) = self.journal.disk.names.prompt_file(name) {
            files::restore(&self.journal.disk.own, &way, bytes, Links::Followed)
        } else {
            files::restore(&grants(&self.home, &self.config.files), name, bytes, links)
        };
        written.map_err(|why| AgentError::Invalid(why.into_text()))
    }

    /// Writes a file that prompts are made from, and keeps what it said before. It is not written over what was not looked at, and
    /// through no link that leads out of the home.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub async fn save(&self, change: PromptFileChange, source: &str) -> Result<SavedFile, AgentError> {
        let PromptFileChange { path, there, copy, text } = change;
        let by = self.memory.owner(source);
        let name = self.journal.disk.names.of_prompt_file(&path);
        let _busy = alone_with(self, &[Claim::of(self, &name, &path)], Scope::All).await?;
        let now = match self.journal.content(&name).await? {
            None => None,
            // What cannot be read as text is left as it is: a link that leads out, a folder, bytes.
            Some(_) => {
                Some(files::text(&self.journal.disk.own, &path).map_err(|why| AgentError::Invalid(why.into_text()))?)
            }
        };
        if now.as_deref().map(without_mark) != there.as_deref().map(without_mark) {
            return Ok(SavedFile::Newer(now));
        }
        if let Some((base, copied)) = &copy {
            let put =
                |path: &str| files::restore(&self.journal.disk.own, path, Some(copied.as_bytes()), Links::Followed);
            let written = put(&path).and_then(|()| put(base));
            written.map_err(|why| AgentError::Invalid(why.into_text()))?;
        }
        if copy.as_ref().map(|(_, copied)| copied).or(now.as_ref()) == Some(&text) {
            return Ok(SavedFile::Same);
        }
        let begun = self.journal.begin(&name, None, (None, None), &by).await?;
        let Watched { content: before, begun: Some(id) } = begun else {
            return Err(AgentError::from(gone(FileVersionId(0))));
        };
        let written = self.write(&name, Some(text.as_bytes()), Links::Followed);
        let end = match &written {
            Ok(()) => FileChangeEnd { before, after: self.journal.content(&name).await?, author: None },
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
        let name = self.journal.disk.names.of_prompt_file(path);
        // It is changed already, so no program is waited for: beside one it waits until the owner accepts it.
        let _calls = self.journal.wait_for_calls([&name].into()).await;
        let _lock = lock_files(&self.home, Instant::now() + PATIENCE).await?;
        let (before, after) = (Some(FileContent::text(before)), self.journal.content(&name).await?);
        if hash(&before) == hash(&after) {
            return Ok(());
        }
        let id = self.journal.write_down(&name, before.clone(), (None, None), &by).await?;
        self.memory.database().end_file_change(id, FileChangeEnd { before, after, author: None }).await?;
        Ok(())
    }

    /// What was changed in a file that prompts are made from, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn prompt_file_versions(&self, path: &str) -> Result<Listed<FileVersion>, AgentError> {
        self.versions(Some(&self.journal.disk.names.of_prompt_file(path))).await
    }
}

fn hash(content: &Option<FileContent>) -> Option<FileHash> {
    content.as_ref().map(|content| content.hash)
}

fn gone(id: FileVersionId) -> StoreError {
    StoreError::NotFound { what: "change of a file", id: id.0.to_string() }
}

/// Whoever reads a file drops the mark at its start.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
