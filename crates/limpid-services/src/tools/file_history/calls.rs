//! What is kept and written down around a call that may change files, and what its conversation knows of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use limpid_config::FileError;
use limpid_core::policy::{Effect, Followed, PathFacts};
use limpid_core::{ConversationId, Sentence, Trust, io_cause, sentence};
use limpid_store::{FileChangeEnd, FileContent, FileHash};
use limpid_tools::{Rewrite, echoed, files};

use super::disk::on_disk;
use super::journal::{Busy, Watched, unchanged};
use super::labels::Reading;
use super::names::{added, is_quoted, with_heading};
use super::read::{changed, look, look_before_read};
use super::{FileHistory, hash};
use crate::error::AgentError;
use crate::memory::WriteSource;
use crate::tools::builtin::grants;
use crate::tools::policy::CallFacts;

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

/// How much the history takes of the files that one program made where prompts quote files. A program may make very many, and all of them
/// wait for the owner, whether the history has them or not.
struct Room {
    rows: usize,
    bytes: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { rows: 1_000, bytes: 16 * 1024 * 1024 }
    }
}

impl Room {
    /// Takes a row, if there is one.
    fn has_row(&mut self) -> bool {
        let left = self.rows > 0;
        self.rows = self.rows.saturating_sub(1);
        left
    }

    /// A content with its text as far as there is room, else with its hash alone.
    fn keep(&mut self, content: Option<FileContent>) -> Option<FileContent> {
        let content = content?;
        let bytes = content.text.as_ref().map_or(0, String::len);
        match self.bytes.checked_sub(bytes) {
            Some(left) => {
                self.bytes = left;
                Some(content)
            }
            None => Some(FileContent::bytes(content.hash)),
        }
    }
}

impl FileHistory {
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
        let quoted = self.journal.disk.names.quoted();
        let (mut files, mut busy, mut known) = (BTreeMap::new(), None, Vec::new());
        if all {
            for name in quoted {
                // What cannot be read is in no prompt either.
                let content = self.journal.content(&name).await.unwrap_or(None);
                files.insert(name, Watched { content, begun: None });
            }
        } else {
            // By the names of the files, how the call has named each.
            let mut names = BTreeMap::new();
            for path in written {
                let of = self.journal.disk.names.of_written(path.real.as_path(), &quoted);
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
            let quoted = self.journal.disk.names.quoted().into_iter();
            let made = quoted.filter(|name| !files.contains_key(name)).collect::<Vec<_>>();
            files.extend(made.into_iter().map(|name| (name, Watched { content: None, begun: None })));
        }
        let unaccepted = if all { Some(self.unaccepted().await?) } else { None };
        let mut room = Room::default();
        for (name, Watched { content, begun }) in files {
            // For each file anew: a program may have left thousands, and other calls wait for none of them.
            let mut recorded = self.recorded.lock().await;
            let now = self.journal.content(&name).await;
            let now = if all { now.unwrap_or(None) } else { now? };
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
                true => self.settled(&name, (before, now), rewrites, by).await?,
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
            self.was_read(conversation, looked);
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
        let no_look = |error: tokio::task::JoinError| {
            sentence!("whether the file has changed could not be seen: {}; nothing was written", echoed(error))
        };
        let mut known = Vec::new();
        for path in facts.paths.iter().filter(|path| path.write) {
            // The file is read whole and compared, which nobody else waits for.
            let (read, reader, real) = (Arc::clone(&self.read), conversation.clone(), path.real.clone());
            if facts.adds {
                let look = tokio::task::spawn_blocking(move || read.is_known(&reader, &real).then_some(real));
                known.extend(look.await.map_err(no_look)?);
                continue;
            }
            let reading = Reading::begin(self, vec![path], false).await;
            let look = tokio::task::spawn_blocking(move || read.check(&reader, &real));
            if let Some(told) = look.await.map_err(no_look)? {
                return Err(changed(path, told, reading.end().await.join(Trust::File)));
            }
            known.push(path.real.clone());
        }
        Ok(known)
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
                self.memory.clean(by.trust, with_heading(name, before.is_none(), text))
            };
            let revised = files::revise(&self.journal.disk.workspace, name, change);
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
}

/// An error names the file as links lead to it, which whoever made them has named; the model is told its own name of it.
fn not_kept(written: String, error: &AgentError) -> Sentence {
    let why = match error {
        AgentError::File(FileError::Io { source, .. }) => io_cause(source),
        _ => "the history of files cannot be written".to_owned(),
    };
    sentence!("what `{}` holds could not be kept, so nothing was changed: {}", echoed(written), echoed(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-085 SEC-093
    #[test]
    fn of_what_a_program_made_as_much_is_written_down_as_there_is_room_for() {
        let mut room = Room { rows: 2, bytes: 10 };
        let kept = ["seven..", "four", "abc", "d"].map(|text| room.keep(Some(FileContent::text(text))).unwrap());
        assert_eq!(kept[1], FileContent::bytes(FileHash::of(b"four")));
        assert_eq!(kept.map(|content| content.text.is_some()), [true, false, true, false]);
        assert_eq!([0; 4].map(|_| room.has_row()), [true, true, false, false]);
        assert_eq!(room.keep(None), None);
    }
}
