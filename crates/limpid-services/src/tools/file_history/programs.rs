//! What programs change of the files that instruct the agent, and of what tools wrote where strangers' text is kept: what these
//! hold is written down before each program. What is another content afterwards waits until the owner accepts it, or can be
//! undone. Neither size nor time of a file is looked at. What was written down before one program is never what another one had made of
//! a file meanwhile, but what the owner knew of it last.

mod written_over;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use limpid_config::{Config, Home, Live, process};
use limpid_store::{
    FileContent, FileHash, NewProgramRun, ProgramRun, ProgramRunId, WaitingFile, file_key, path_of_key,
};

use super::disk::on_disk;
use super::entries::{entry_hash, of_run, own_entry, own_entry_hash};
use super::kept::KeptFiles;
use super::names::FileNames;
use super::unaccepted::{UnacceptedFiles, Unknown};
use crate::command_word::as_word;
use crate::error::AgentError;
use crate::memory::MemoryWriter;
use crate::tools::policy::{DEEPEST, Entries, LOOKED_AT, NotLookedAt, PathResolver, QUOTED, real};

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
        Arc::new(Self { home: home.clone(), config, memory, names, kept, live: Mutex::default() })
    }

    /// Writes down what the owner knows of the files before a program is started.
    ///
    /// # Errors
    /// When that cannot be written down: then nothing may be started.
    pub(super) async fn begin(self: &Arc<Self>, tool: &str, now_ms: i64) -> Result<RunningProgram, AgentError> {
        self.settle(now_ms).await?;
        let written = self.written().await?;
        let instructing = self.last_known().await?;
        let new = NewProgramRun {
            holder: self.memory.holder().to_owned(),
            tool: tool.to_owned(),
            folders: self.resolver().writable().iter().map(|folder| file_key(folder)).collect(),
            files: written.clone().into_iter().chain(instructing.clone()).collect(),
            now_ms,
        };
        let id = self.memory.database().begin_program(new.clone()).await?;
        // The rows come first: what no row names is removed.
        if let Err(error) = self.keep(written, instructing).await {
            self.memory.database().end_program(id, Vec::new()).await?;
            return Err(error);
        }
        self.live().insert(id, None);
        Ok(RunningProgram { run: Some(ProgramRun { id, new, gone_ms: None }), watch: Arc::clone(self) })
    }

    /// What the owner knew last of each file that instructs the agent: what it holds, unless something waits there for them or a program
    /// that runs has made it what it is.
    async fn last_known(&self) -> Result<BTreeMap<String, FileContent>, AgentError> {
        // The files come first: whatever program changed one by now has its row, or its change waits.
        let entries = self.entries().await?.map_err(not_looked_at)?;
        let unaccepted = UnacceptedFiles::read(&**self.memory.database(), &self.home, &self.config.files).await?;
        let paths: BTreeSet<String> = entries.keys().cloned().chain(unaccepted.keys()).collect();
        let (mut known, mut as_they_are) = (BTreeMap::new(), Vec::new());
        for path in paths.into_iter().filter(|path| !self.is_outside(path)) {
            // One that cannot be read is not there for any prompt.
            let now = entries.get(&path).copied().flatten();
            let unknown = match unaccepted.at(&path, now) {
                Unknown::Nothing => None,
                Unknown::Waits(before) => Some(before),
                Unknown::MayBe(runs) => {
                    let mut unknown = None;
                    for run in runs {
                        if !self.is_of_a_tool(&path, now, run).await? {
                            unknown = Some(run.new.files.get(&path));
                        }
                    }
                    unknown
                }
            };
            match unknown {
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
        Ok(known)
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
            None if is_dead => {
                self.memory.database().note_gone(run.id, now_ms).await?;
                Ok(false)
            }
            None => Ok(false),
        }
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
            if is_over {
                self.end(&run, now_ms).await?;
            }
        }
        Ok(())
    }

    async fn end(&self, run: &ProgramRun, now_ms: i64) -> Result<(), AgentError> {
        let mut changed = Vec::new();
        // What cannot be looked at whole is looked at again later. Until then nothing is used that is not as it was before.
        let Ok(entries) = self.entries().await? else {
            self.live().remove(&run.id);
            return Ok(());
        };
        let gone = self.gone(run, &entries);
        for (path, now) in entries.into_iter().chain(gone) {
            let before = run.new.files.get(&path);
            let is_known = match &now {
                // What cannot be read now may be read later.
                None if before.is_none() => false,
                now => before.map(|before| before.hash) == *now || self.is_of_a_tool(&path, *now, run).await?,
            };
            if !is_known {
                let cause = run.new.tool.clone();
                changed.push(WaitingFile { path, before: before.cloned(), cause, at_ms: now_ms, told: None });
            }
        }
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

    /// Whether tools wrote a file as it is, in clean turns beside the program, or its owner. Either makes known only what is made of what
    /// was known: a tool may have added a line to what the program had written, and an undo may have brought back what waited. Of a
    /// tool's changes those alone count whose bytes it read and wrote itself. Whatever another program wrote, under any name, and what
    /// one wrote around a tool's own write, is in none of them.
    async fn is_of_a_tool(&self, key: &str, now: Option<FileHash>, run: &ProgramRun) -> Result<bool, AgentError> {
        let (database, path) = (self.memory.database(), path_of_key(key));
        // No tool can name a file whose name is no text, and what reads like that name is another file.
        if path.to_str().is_none() {
            return Ok(false);
        }
        let versions = database.file_versions(Some(&self.names.name(&path))).await?.rows;
        let hash = |content: &Option<FileContent>| content.as_ref().map(|content| content.hash);
        let mut known = BTreeSet::from([run.new.files.get(key).map(|before| before.hash)]);
        let beside = versions.iter().filter(|change| change.at_ms >= run.new.now_ms && !change.trust.is_foreign());
        for change in beside {
            let is_known = match (&change.tool, &change.after) {
                (Some(_), _) => change.exact && known.contains(&hash(&change.before)),
                (None, Some(after)) => database.is_known(key, after.hash).await?,
                (None, None) => true,
            };
            if is_known {
                known.insert(hash(&change.after));
            }
        }
        Ok(known.contains(&now))
    }

    /// What the files hold that instruct the agent and that programs can write, and where links on the way to such files lead, by their
    /// hashes; none for what cannot be read.
    ///
    /// # Errors
    /// When the look broke off; inside of it, when not all of them could be looked at.
    async fn entries(&self) -> Result<Result<BTreeMap<String, Option<FileHash>>, NotLookedAt>, AgentError> {
        let resolver = self.resolver();
        let look = move || -> Result<_, NotLookedAt> {
            let Entries { files, links } = resolver.instructing_entries()?;
            let all = files.into_iter().chain(links);
            Ok(all.map(|path| (file_key(&path), own_entry_hash(&path).ok().flatten())).collect())
        };
        on_disk(move || Ok(look())).await
    }

    /// The folders that programs may write.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        self.resolver().writable().to_vec()
    }

    fn resolver(&self) -> PathResolver {
        PathResolver::new(&self.home, QUOTED.map(PathBuf::from).into(), &self.config.files)
    }

    fn live(&self) -> MutexGuard<'_, BTreeMap<ProgramRunId, Option<i64>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningProgram {
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

/// Why no program starts where not all that instructs the agent could be looked at.
fn not_looked_at(why: NotLookedAt) -> AgentError {
    AgentError::Invalid(match why {
        NotLookedAt::TooMany => format!(
            "no program can start: there are more than {LOOKED_AT} files, folders more than {DEEPEST} levels deep, or too \
             many links among skills, prompts, profiles and memory files; move what is none of these elsewhere"
        ),
        NotLookedAt::Closed(folder) => {
            let word = as_word(&folder.display().to_string());
            format!(
                "no program can start: the folder {word} cannot be looked at, and what lies in it may instruct the agent; the owner has to \
                 open it with `chmod u+rx {word}`, or to remove it"
            )
        }
        NotLookedAt::Around(link) => {
            let word = as_word(&link.display().to_string());
            format!(
                "no program can start: the link {word} among your skills or prompts leads to a folder around Limpid's own, \
                 so a program could add a skill; remove it, or let it lead to a folder of skills alone"
            )
        }
        NotLookedAt::NamedTwice(file) => {
            let word = as_word(&file.display().to_string());
            format!(
                "no program can start: the file {word} is one of your skills or prompts and has a second name on the disk (a hard link), by \
                 which a program could change it unseen; put a copy in its place: \
                 `cp -p {word} {word}.own && mv {word}.own {word}`"
            )
        }
    })
}
