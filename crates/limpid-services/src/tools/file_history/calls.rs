//! What is kept and written down around a call that may change files, and what its conversation knows of them.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use limpid_core::policy::{Effect, Followed, PathFacts};
use limpid_core::{ConversationId, Sentence, Trust, sentence};
use limpid_store::{Author, FileChangeEnd, FileContent, NewProgramRun};
use limpid_tools::{Written, echoed, files};

use super::busy::{Busy, Claim, Scope, alone_with};
use super::disk::on_disk;
use super::journal::{Watched, unchanged};
use super::judged::{WrittenFile, led_elsewhere, not_kept};
use super::labels::Reading;
use super::names::{added, is_quoted, with_heading};
use super::programs::RunningProgram;
use super::read::{look, look_before_read, refusal};
use super::room::Room;
use super::{FileHistory, hash};
use crate::error::AgentError;
use crate::memory::WriteSource;
use crate::tools::builtin::grants;
use crate::tools::policy::{CallFacts, PathResolver};

/// Bytes of a file up to which what is new in it may have been said by the owner.
const LONGEST_SAID: usize = 256 * 1024;

/// The files before a call.
pub(crate) struct Before {
    tool: String,
    files: BTreeMap<String, Watched>,
    recorded: HashMap<String, u64>,
    /// What was written down of a program, which may have changed files that it does not name.
    program: Option<NewProgramRun>,
    /// The files that the conversation knows after it.
    known: Vec<Followed>,
    /// Where it writes, with every link followed.
    places: Vec<PathBuf>,
    /// By the names of the files that it writes, where it was judged to write them.
    judged: BTreeMap<String, PathBuf>,
    busy: Option<Arc<Busy>>,
}

impl Before {
    /// Where the call may write; others are kept from the files for as long as it may be writing.
    pub(crate) fn written(&self) -> Written {
        self.busy.clone().map_or_else(Written::default, |busy| Written::under(busy, self.places.clone()))
    }
}

impl FileHistory {
    /// Waits until the files of a call can be changed; says whether it changes any.
    ///
    /// # Errors
    /// When others do not end in time: then the call would be refused, too.
    pub(crate) async fn wait_for(&self, facts: &CallFacts) -> Result<bool, Sentence> {
        let written: Vec<&PathFacts> = facts.paths.iter().filter(|path| path.write).collect();
        if facts.effect == Effect::Run || written.is_empty() {
            return Ok(false);
        }
        let names = self.written_names(&written, &self.journal.disk.names.quoted());
        self.alone_for(&names).await.map(|_| true)
    }

    /// The files that a call writes, by their names.
    pub(super) fn written_names(&self, written: &[&PathFacts], quoted: &[String]) -> BTreeMap<String, WrittenFile> {
        let names = |path: &&PathFacts| {
            let of = self.journal.disk.names.of_written(path.real.as_path(), quoted);
            let (called, place) = (path.written.clone(), path.real.as_path().to_owned());
            of.into_iter().map(move |name| (name, WrittenFile { called: called.clone(), place: place.clone() }))
        };
        written.iter().flat_map(names).collect()
    }

    /// Whether a path of a call leads elsewhere than when the call was judged.
    pub(super) async fn leads_elsewhere(&self, path: &PathFacts) -> bool {
        let (home, config, path) = (self.home.clone(), self.config.clone(), path.clone());
        let look = move || {
            let resolver = PathResolver::new(&home, Vec::new(), &config.files).with_base(config.files.base.as_deref());
            Ok(resolver.leads_elsewhere(&path))
        };
        // A look that broke off saw nothing that could be relied on.
        on_disk(look).await.unwrap_or(true)
    }

    pub(super) async fn alone_for(&self, names: &BTreeMap<String, WrittenFile>) -> Result<Busy, Sentence> {
        let claims = names.iter().map(|(name, file)| Claim::of(self, name, &file.called));
        let claims: Vec<Claim> = claims.collect();
        let busy = alone_with(self, &claims, Scope::Instructing).await;
        busy.map_err(|error| sentence!("nothing was changed: {}", echoed(error)))
    }

    /// What prompts quote of the files that a program may change, as the owner knew it last: none of one that may be a stranger's, which
    /// changes none. What lies there at this moment another program may have made.
    pub(crate) async fn before_program(&self, tool: &str, program: &RunningProgram) -> Option<Before> {
        let run = program.on_record().filter(|run| !run.folders.is_empty())?;
        let names = self.quoted_in(run).into_iter();
        let files =
            names.map(|(name, key)| (name, Watched { content: run.files.get(&key).cloned(), begun: None })).collect();
        let recorded = self.recorded.lock().await.clone();
        Some(Before {
            tool: tool.to_owned(),
            files,
            recorded,
            program: Some(run.clone()),
            known: Vec::new(),
            places: Vec::new(),
            judged: BTreeMap::new(),
            busy: None,
        })
    }

    /// The files that prompts quote and that a program may change, by their names, with the keys of their places.
    fn quoted_in(&self, run: &NewProgramRun) -> Vec<(String, String)> {
        let quoted = self.journal.disk.names.quoted().into_iter();
        let with_keys = quoted.map(|name| (self.key(&name), name)).filter(|(key, _)| run.may_write(key));
        with_keys.map(|(key, name)| (name, key)).collect()
    }

    /// Keeps what the files hold that a call may change, and writes down that it is about to; nothing when it can change none. `still` is
    /// the last look at what a yes to it is bound to, for when nobody else changes the files.
    ///
    /// # Errors
    /// When that cannot be kept, or is not what was approved: then the call must not run.
    pub(crate) async fn before(
        &self,
        tool: &str,
        facts: &CallFacts,
        by: &WriteSource,
        still: impl Future<Output = Result<(), Sentence>> + Send,
    ) -> Result<Option<Before>, Sentence> {
        let written: Vec<&PathFacts> = facts.paths.iter().filter(|path| path.write).collect();
        if written.is_empty() {
            return Ok(None);
        }
        let quoted = self.journal.disk.names.quoted();
        let places = written.iter().map(|path| path.real.as_path().to_owned()).collect();
        let names = self.written_names(&written, &quoted);
        let busy = Some(Arc::new(self.alone_for(&names).await?));
        // A program may have laid a link while this call waited: it was judged by the place before.
        for path in &written {
            if self.leads_elsewhere(path).await {
                return Err(led_elsewhere(path));
            }
        }
        // No other call changes them from here on.
        still.await?;
        let known = self.check_known(facts, by).await?;
        let (mut files, mut judged) = (BTreeMap::new(), BTreeMap::new());
        for (name, WrittenFile { called, place }) in names {
            let begun = self.begin(&name, Some(&place), (Some(tool), None), by).await;
            files.insert(name.clone(), begun.map_err(|error| not_kept(called, &error))?);
            judged.insert(name, place);
        }
        let recorded = self.recorded.lock().await.clone();
        Ok(Some(Before { tool: tool.to_owned(), files, recorded, program: None, known, places, judged, busy }))
    }

    /// Looks at the files after the call and writes down what became of them. `written` is where it says that it wrote itself.
    pub(crate) async fn after(
        &self,
        before: Option<Before>,
        written: Vec<PathBuf>,
        by: &WriteSource,
    ) -> Result<(), AgentError> {
        let Some(Before { tool, mut files, recorded: seen, program, known, places, judged, busy }) = before else {
            return Ok(());
        };
        for place in written.iter().filter(|place| !places.contains(place)) {
            self.hold_what_was_led_there(place, &tool, by.now_ms).await?;
        }
        if let Some(run) = &program {
            for (name, _) in self.quoted_in(run) {
                files.entry(name).or_insert(Watched { content: None, begun: None });
            }
        }
        let unaccepted = if program.is_some() { Some(self.unaccepted().await?) } else { None };
        let mut room = Room::default();
        for (name, Watched { content, begun }) in files {
            // For each file anew: a program may have left thousands, and other calls wait for none of them.
            let mut recorded = self.recorded.lock().await;
            let now = self.journal.content_at(&name, judged.get(&name).map(PathBuf::as_path)).await;
            let now = if program.is_some() { now.unwrap_or(None) } else { now? };
            let before = if recorded.get(&name) == seen.get(&name) {
                content
            } else {
                self.memory.database().newest_file_version(&name).await?.and_then(|newest| newest.after)
            };
            let changed = hash(&now) != hash(&before);
            let (mut before, mut now) = (before, now);
            if let Some(unaccepted) = unaccepted.as_ref().filter(|_| changed) {
                match before.as_ref().filter(|before| !unaccepted.contains_hash(&self.place(&name), before.hash)) {
                    Some(known) => self.note_as_owners(&name, known, by).await?,
                    // What a program made of what a program had made.
                    None if !room.has_row() => continue,
                    None => before = room.keep(before),
                }
                now = room.keep(now);
            }
            let begun = match begun {
                Some(begun) => begun,
                None if changed => self.journal.write_down(&name, before.clone(), (Some(&tool), None), by).await?,
                None => continue,
            };
            let end = match changed {
                true => self.settled(&name, (before, now), by, busy.as_ref()).await?,
                false => unchanged(before),
            };
            self.memory.database().end_file_change(begun, end).await?;
            if changed {
                *recorded.entry(name).or_default() += 1;
            }
        }
        if let Some(conversation) = by.conversation() {
            let now = |real: Followed| look(real.as_path()).map(|now| (real, now));
            let looked = on_disk(move || Ok(known.into_iter().filter_map(now).collect())).await?;
            self.was_read(conversation, looked, by.trust);
        }
        Ok(())
    }

    /// What the files hold that a call reads, before it reads them: what changes meanwhile is not known to whoever
    /// called. The call may name any file of the disk, so only what tools may read is looked at, and nobody else waits
    /// for that.
    pub(crate) async fn about_to_read(&self, facts: &CallFacts) -> Vec<(Followed, FileContent)> {
        let read = facts.paths.iter().filter(|path| facts.effect == Effect::Look && !path.write);
        let read: Vec<Followed> = read.map(|path| path.real.clone()).collect();
        if read.is_empty() {
            return Vec::new();
        }
        let grants = grants(&self.home, &self.config.files);
        let seen = move |real: Followed| look_before_read(&grants, real.as_path()).map(|content| (real, content));
        let looked = tokio::task::spawn_blocking(move || read.into_iter().filter_map(seen).collect::<Vec<_>>());
        // A look that broke off saw nothing.
        looked.await.unwrap_or_default()
    }

    /// A conversation has read files as they were; `trust` is the label of what led to that.
    pub(crate) fn was_read(&self, conversation: &ConversationId, files: Vec<(Followed, FileContent)>, trust: Trust) {
        files.into_iter().for_each(|(real, content)| self.read.note(conversation, &real, content, trust));
    }

    /// Refuses a call that would write over what its conversation does not know. What only adds takes nothing away. Says which
    /// files the conversation knows after the call.
    async fn check_known(&self, facts: &CallFacts, by: &WriteSource) -> Result<Vec<Followed>, Sentence> {
        let Some(conversation) = by.conversation().filter(|_| facts.effect == Effect::Files) else {
            return Ok(Vec::new());
        };
        let no_look = |error: tokio::task::JoinError| {
            sentence!("whether the file has changed could not be seen: {}; nothing was written", echoed(error))
        };
        let (mut known, grants) = (Vec::new(), grants(&self.home, &self.config.files));
        for path in facts.paths.iter().filter(|path| path.write) {
            // Of what tools may not read nobody is told: a grant may have gone since the call was judged.
            if !grants.reads(path.real.as_path()) {
                known.push(path.real.clone());
                continue;
            }
            // The file is read whole and compared, which nobody else waits for.
            let (read, reader, real) = (Arc::clone(&self.read), conversation.clone(), path.real.clone());
            if facts.adds {
                let look = tokio::task::spawn_blocking(move || read.is_known(&reader, &real).then_some(real));
                known.extend(look.await.map_err(no_look)?);
                continue;
            }
            let reading = Reading::begin(self, vec![path], false).await;
            let led_by = by.trust;
            let look = tokio::task::spawn_blocking(move || read.check(&reader, &real, led_by));
            if let Some(unknown) = look.await.map_err(no_look)? {
                return Err(refusal(path, unknown, reading.end().await.join(Trust::File)));
            }
            known.push(path.real.clone());
        }
        Ok(known)
    }

    /// What came of a change; a text that a tool wrote and prompts quote is looked at as a memory is. What a program left is left as it is:
    /// it waits for the owner, and another program or the owner may be writing it.
    async fn settled(
        &self,
        name: &str,
        (before, now): (Option<FileContent>, Option<FileContent>),
        by: &WriteSource,
        busy: Option<&Arc<Busy>>,
    ) -> Result<FileChangeEnd, AgentError> {
        if !is_quoted(name) {
            return Ok(FileChangeEnd { before, after: now, author: None });
        }
        let is_text = now.as_ref().is_some_and(|now| now.text.is_some());
        let after = if let Some(busy) = busy.filter(|_| is_text).cloned() {
            let (disk, memory, name) = (Arc::clone(&self.journal.disk), self.memory.clone(), name.to_owned());
            let (is_new, trust) = (before.is_none(), by.trust);
            let revised = on_disk(move || {
                // Also where nobody waits for the call any more.
                let _busy = busy;
                let change = |text: &str| memory.clean(trust, with_heading(&name, is_new, text));
                files::revise(&disk.workspace, &name, change).map_err(|why| AgentError::Invalid(why.into_text()))
            });
            Some(FileContent::text(revised.await?))
        } else {
            now
        };
        fn said(content: &Option<FileContent>) -> &str {
            content.as_ref().and_then(|content| content.text.as_deref()).unwrap_or_default()
        }
        let author = match said(&after).len() {
            // Nobody said as much as that, and others would wait for the comparison.
            LONGEST_SAID.. => Author::Inferred,
            _ => self.memory.author(&added(said(&before), said(&after)), by).await?,
        };
        // A secret that a program left there is kept nowhere else.
        let holds_secret = |text: &String| self.memory.clean(Trust::Owner, text.clone()) != *text;
        let after = after.map(|after| match after.text.as_ref().is_some_and(holds_secret) {
            true => FileContent::bytes(after.hash),
            false => after,
        });
        Ok(FileChangeEnd { before, after, author: Some(author) })
    }
}

#[cfg(test)]
mod tests;
