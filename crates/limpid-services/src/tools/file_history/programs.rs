//! What programs change of the files that instruct the agent, and of what tools wrote where strangers' text is kept: what these
//! hold is written down before each program. What is another content afterwards waits until the owner accepts it, or can be
//! undone. Neither size nor time of a file is looked at. What is written down before a program is what the owner knew of a file last,
//! never what another program made of it meanwhile.

mod look;
mod written_over;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use limpid_config::{Config, Home, Live, process};
use limpid_store::{FileHash, NewProgramRun, ProgramRun, ProgramRunId, WaitingFile, file_key, path_of_key};

use self::look::in_words;
use super::entries::{entry_hash, of_run};
use super::kept::KeptFiles;
use super::locks::{self, FilesLock, How};
use super::names::FileNames;
use crate::error::AgentError;
use crate::memory::MemoryWriter;
use crate::tools::policy::{PathResolver, QuotedFiles, real};

/// How long a program whose call was given up, or whose process is dead, may still write, at most, in milliseconds.
const DYING_MS: i64 = 5000;

/// A program whose process cannot be looked at counts as over after this time, in milliseconds, or after the longest one of the settings.
const MIN_ORPHAN_MS: i64 = 60 * 60 * 1000;

/// Watches what programs change.
pub(super) struct ProgramWatch {
    home: Home,
    config: Live<Config>,
    memory: MemoryWriter,
    names: FileNames,
    kept: KeptFiles,
    /// The programs of this process, and when the call of one was given up.
    live: Mutex<BTreeMap<ProgramRunId, Option<i64>>>,
    /// Held while a program is put on record and known to run here: to whoever looks in between it would be over.
    records: tokio::sync::Mutex<()>,
}

/// A program that is about to be started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Starting<'a> {
    /// The tool that was called.
    pub(crate) tool: &'a str,
    /// The folders that the tool gives it: the settings may have changed since the tool was made.
    pub(crate) writes: &'a [PathBuf],
    /// Whether it may be a stranger's. The system lets such a one write in `outside/` and nowhere else.
    pub(crate) is_strangers: bool,
}

/// A program that runs.
pub(crate) struct RunningProgram {
    run: Option<ProgramRun>,
    watch: Arc<ProgramWatch>,
}

impl ProgramWatch {
    pub(super) fn new(home: &Home, config: Live<Config>, memory: MemoryWriter) -> Arc<Self> {
        let names = FileNames::new(home);
        let kept = KeptFiles::new(home.kept_files());
        let (live, records) = (Mutex::default(), tokio::sync::Mutex::default());
        Arc::new(Self { home: home.clone(), config, memory, names, kept, live, records })
    }

    /// Writes down what the owner knows of the files before a program is started. Nobody changes a file between the look and the row: the
    /// caller has the lock.
    ///
    /// # Errors
    /// When that cannot be written down: then nothing may be started.
    pub(super) async fn begin(
        self: &Arc<Self>,
        _lock: &FilesLock,
        starting: Starting<'_>,
        now_ms: i64,
    ) -> Result<RunningProgram, AgentError> {
        self.settle(now_ms).await?;
        let written = self.written().await?;
        let Starting { tool, writes, is_strangers } = starting;
        // Nothing that it may write is the owner's, so nobody waits for it, and nothing waits by it.
        let (folders, instructing) = match is_strangers {
            true => (Vec::new(), BTreeMap::new()),
            false => {
                let folders = self.folders_with(writes);
                let instructing = self.last_known(&folders).await?;
                (folders, instructing)
            }
        };
        let new = NewProgramRun {
            holder: self.memory.holder().to_owned(),
            tool: tool.to_owned(),
            folders,
            files: written.clone().into_iter().chain(instructing.clone()).collect(),
            now_ms,
        };
        let id = {
            let _record = self.records.lock().await;
            let id = self.memory.database().begin_program(new.clone()).await?;
            self.live().insert(id, None);
            id
        };
        let mut running = RunningProgram { run: Some(ProgramRun { id, new, gone_ms: None }), watch: Arc::clone(self) };
        // The rows come first: what no row names is removed.
        if let Err(error) = self.keep(written, instructing).await {
            self.memory.database().end_program(id, Vec::new()).await?;
            running.run = None;
            self.live().remove(&id);
            return Err(error);
        }
        Ok(running)
    }

    /// Whether a program of another process is over. Where that process was killed, the program's watcher takes a moment to notice.
    async fn is_over_elsewhere(&self, run: &ProgramRun, now_ms: i64) -> Result<bool, AgentError> {
        let holder = &run.new.holder;
        let is_dead = process::is_dead(holder);
        if now_ms.saturating_sub(run.new.now_ms) > self.longest_ms() {
            // Of a process before the machine was started anew, or in another container, nobody can say whether it lives.
            return Ok(is_dead || process::number(holder).is_none());
        }
        match run.gone_ms {
            Some(gone) => Ok(now_ms.saturating_sub(gone) > DYING_MS),
            // Each program holds this lock as long as it runs, also one whose process nobody here can look at.
            None if is_dead || process::number(holder).is_none() && self.runs_none()? => {
                self.memory.database().note_gone(run.id, now_ms).await?;
                Ok(false)
            }
            None => Ok(false),
        }
    }

    /// Whether no program of this home runs on this machine.
    fn runs_none(&self) -> Result<bool, AgentError> {
        let path = self.home.programs_lock();
        Ok(locks::now(&path, How::Alone).map_err(AgentError::file(path))?.is_some())
    }

    /// Milliseconds after which no program runs any more.
    fn longest_ms(&self) -> i64 {
        let exec = &self.config.exec;
        let seconds =
            exec.folders.iter().filter_map(|folder| folder.seconds).chain([exec.seconds]).max().unwrap_or_default();
        MIN_ORPHAN_MS
            .max(i64::try_from(seconds).unwrap_or(i64::MAX / 1000).saturating_mul(1000).saturating_add(DYING_MS))
    }

    fn is_outside(&self, key: &str) -> bool {
        let (path, outside) = (path_of_key(key), [self.home.outside(), real(&self.home.outside())]);
        outside.iter().any(|outside| path.starts_with(outside))
    }

    /// Looks at what programs changed that are over and whose end nobody saw, be it because of a crash or of a time-out.
    ///
    /// # Errors
    /// When files or the store cannot be read or written.
    pub(super) async fn settle(&self, now_ms: i64) -> Result<(), AgentError> {
        for run in self.over(now_ms).await? {
            self.end(&run, now_ms).await?;
        }
        Ok(())
    }

    /// The programs on record that are over.
    async fn over(&self, now_ms: i64) -> Result<Vec<ProgramRun>, AgentError> {
        let _record = self.records.lock().await;
        let mut over = Vec::new();
        for run in self.memory.database().program_runs().await?.rows.into_iter().map(of_run) {
            let is_over = if run.new.holder == self.memory.holder() {
                match self.live().get(&run.id) {
                    None => true,
                    Some(None) => false,
                    Some(Some(given_up)) => now_ms.saturating_sub(*given_up) > DYING_MS,
                }
            } else {
                self.is_over_elsewhere(&run, now_ms).await?
            };
            over.extend(is_over.then_some(run));
        }
        Ok(over)
    }

    /// Has what a program changed wait for the owner. It is looked at with the folders that the program was given: by now they may be
    /// granted no longer, or only in another process.
    async fn end(&self, run: &ProgramRun, now_ms: i64) -> Result<(), AgentError> {
        // What cannot be looked at whole is looked at again later. Until then nothing is used that is not as it was before.
        let Ok(entries) = self.entries(&run.new.folders).await? else {
            self.live().remove(&run.id);
            return Ok(());
        };
        let known = |path: &String| run.new.files.get(path);
        let is_other = |path: &String, now: Option<FileHash>| known(path).map(|known| known.hash) != now;
        let gone = self.gone(run, &entries);
        // A folder may have been granted since, where the program wrote nothing. What cannot be read now may be read later.
        let written = entries.into_iter().filter(|(path, _)| run.new.may_write(path));
        let there = written.filter(|(path, now)| now.is_none() || is_other(path, *now));
        let gone = gone.into_iter().filter(|(path, now)| is_other(path, *now));
        let waits = |(path, _): (String, Option<FileHash>)| {
            let before = known(&path).cloned();
            WaitingFile { path, before, cause: run.new.tool.clone(), at_ms: now_ms, told: None }
        };
        let changed: Vec<WaitingFile> = there.chain(gone).map(waits).collect();
        self.note_written_over(run, now_ms).await?;
        self.memory.database().end_program(run.id, changed).await?;
        self.live().remove(&run.id);
        Ok(())
    }

    /// What instructed the agent before a program and is not there any more: a rule that is gone is a change, too.
    fn gone(&self, run: &ProgramRun, entries: &BTreeMap<String, Option<FileHash>>) -> Vec<(String, Option<FileHash>)> {
        let is_missing = |path: &&String| !entries.contains_key(*path) && !self.is_outside(path);
        // What a link led to may be where it was.
        let now = |path: &String| (path.clone(), entry_hash(&path_of_key(path)).ok().flatten());
        run.new.files.keys().filter(is_missing).map(now).collect()
    }

    /// Why a program is still on record that is over: what it changed cannot be looked at. None where it runs.
    ///
    /// # Errors
    /// When the look broke off.
    pub(super) async fn why_unseen(&self, run: &ProgramRun) -> Result<Option<String>, AgentError> {
        let is_ours = run.new.holder == self.memory.holder();
        if is_ours && self.live().contains_key(&run.id) {
            return Ok(None);
        }
        Ok(self.entries(&run.new.folders).await?.err().map(in_words))
    }

    /// The folders that the settings let programs write.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        PathResolver::new(&self.home, Vec::new(), &self.config.files).writable().to_vec()
    }

    /// The same and these, by their keys.
    fn folders_with(&self, writes: &[PathBuf]) -> Vec<String> {
        let mut folders = self.folders();
        for folder in writes.iter().map(|folder| real(folder)) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders.iter().map(|folder| file_key(folder)).collect()
    }

    /// Says where paths lead while programs may write these folders, by their keys, besides those of the settings.
    fn resolver(&self, folders: &[String]) -> PathResolver {
        let mut files = self.config.files.clone();
        files.grants.extend(folders.iter().map(|folder| path_of_key(folder)));
        PathResolver::quoting(&self.home, QuotedFiles::read(&self.home), &files)
    }

    fn live(&self) -> MutexGuard<'_, BTreeMap<ProgramRunId, Option<i64>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningProgram {
    /// What was written down before it was started, unless that is over.
    pub(super) fn on_record(&self) -> Option<&NewProgramRun> {
        self.run.as_ref().map(|run| &run.new)
    }

    /// The program is over: what it changed waits for the owner from here on.
    ///
    /// # Errors
    /// When files or the store cannot be read or written; it is looked at again then.
    pub(crate) async fn end(mut self, now_ms: i64) -> Result<(), AgentError> {
        let Some(run) = &self.run else { return Ok(()) };
        self.watch.end(run, now_ms).await?;
        self.run = None;
        Ok(())
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        if let Some(run) = &self.run {
            self.watch.live().insert(run.id, Some(self.watch.memory.now_ms()));
        }
    }
}

#[cfg(test)]
mod tests;
