//! What the owner knows of files that instruct the agent: which contents ever were theirs at a place, whether what they do goes to
//! the place that they were told of, and what becomes theirs because they accept it, as they were shown it.

use std::path::{Path, PathBuf};

use limpid_core::policy::FileChange;
use limpid_store::{
    AcceptedContent, Author, FileChangeEnd, FileContent, FileHash, FileVersionId, KnownContent, NewRaisedLabel,
    RaisingAct, WaitingFile, file_key, path_of_key,
};
use limpid_tools::PathArgument;
use limpid_tools::files::{self, Links};

use super::busy::{Claim, Scope, alone_with};
use super::disk::on_disk;
use super::entries::{entry, is_link, of_file, of_waiting};
use super::journal::{Watched, unchanged};
use super::kept::KeptFiles;
use super::names::is_quoted;
use super::offer::{FileOffer, taken_over};
use super::unaccepted::{Place, gone};
use super::{FileHistory, hash};
use crate::error::AgentError;
use crate::memory::WriteSource;
use crate::profiles::own_profile_files;
use crate::tools::builtin::{OUTSIDE, grants};
use crate::tools::policy::{PathResolver, QuotedFiles, links_on, real};

impl FileHistory {
    /// Keeps what a file holds and writes down that it is about to be changed. What an instructing file holds is noted as the owner's if
    /// it does not wait for them. `judged` is the place that a call was judged by.
    pub(super) async fn begin(
        &self,
        name: &str,
        judged: Option<&Path>,
        how: (Option<&str>, Option<FileVersionId>),
        by: &WriteSource,
    ) -> Result<Watched, AgentError> {
        let watched = self.journal.begin(name, judged, how, by).await?;
        if let Some(content) = &watched.content
            && self.instructs(name)
            && !self.unaccepted().await?.contains_hash(&self.place(name), content.hash)
        {
            self.note_as_owners(name, content, by).await?;
        }
        Ok(watched)
    }

    /// Writes down that a content, which waits for nobody, is the owner's at its place.
    pub(super) async fn note_as_owners(
        &self,
        name: &str,
        content: &FileContent,
        by: &WriteSource,
    ) -> Result<(), AgentError> {
        let (path, source, now_ms) = (self.key(name), by.source.clone(), by.now_ms);
        let known = KnownContent { path, hash: content.hash, source, now_ms };
        Ok(self.memory.database().note_known(vec![known]).await?)
    }

    /// Has a file wait for the owner that is about to hold again what never was theirs. Says whether it does.
    pub(super) async fn hold_back(&self, name: &str, again: Option<FileHash>, now_ms: i64) -> Result<bool, AgentError> {
        let (path, database) = (self.key(name), self.memory.database());
        let Some(again) = again.filter(|_| self.instructs(name)) else { return Ok(false) };
        if database.is_known(&path, again).await? {
            return Ok(false);
        }
        let now = self.journal.content(name).await?;
        let waiting = self.unaccepted().await?.waiting_again((&self.place(name), path), now, now_ms);
        database.wait_for_owner(waiting).await?;
        Ok(true)
    }

    /// Whether prompts, skills or policies are made from a file, where programs can change it, or may be: each Markdown file at the top
    /// counts.
    pub(super) fn instructs(&self, name: &str) -> bool {
        is_quoted(name) || self.is_instructing(name)
    }

    /// Whether prompts can hold what a file says. Shipped profiles quote few files at the top, one of the owner's may quote each.
    fn is_read(&self, name: &str) -> bool {
        let has_profiles = || own_profile_files(&self.home).map_or(true, |files| !files.is_empty());
        self.is_instructing(name) || is_quoted(name) && has_profiles()
    }

    fn is_instructing(&self, name: &str) -> bool {
        let path = self.journal.disk.names.path(name).display().to_string();
        let resolver = PathResolver::quoting(&self.home, QuotedFiles::read(&self.home), &self.config.files);
        // Below a folder that is missing, every new file looks like one of the home's own.
        resolver.create_folders();
        let facts = resolver.resolve(PathArgument { path, write: true, adds: false });
        let is_written = resolver.writable().iter().any(|folder| facts.real.as_path().starts_with(folder));
        is_written && facts.change == FileChange::Instructing
    }

    /// What an act of the owner's does with links on the way to a file. The history knows a file by its own place: a link there was
    /// laid since, and would have another file written than the one that they were told of. Only what prompts quote may be a link of
    /// theirs.
    ///
    /// # Errors
    /// When such a link is there.
    pub(super) async fn links(&self, name: &str) -> Result<Links, AgentError> {
        let folders = [self.home.workspace(), self.home.outside()];
        let folders: Vec<PathBuf> = folders.iter().map(|folder| real(folder)).chain(self.programs.folders()).collect();
        let mut links = links_on(&self.journal.disk.names.path(name)).into_iter();
        let Some(link) = links.find(|link| folders.iter().any(|folder| link.starts_with(folder))) else {
            return Ok(Links::Refused);
        };
        if is_quoted(name) && !self.unaccepted().await?.waits_at_link(&self.place(name)) {
            return Ok(Links::Followed);
        }
        let link = self.journal.disk.names.name(&link);
        Err(AgentError::Invalid(format!(
            "`{name}` leads over the link `{link}` to another file, so nothing was written; remove the link first"
        )))
    }

    pub(super) fn place(&self, name: &str) -> Place {
        Place::of(Path::new(""), self.journal.disk.names.path(name))
    }

    pub(super) fn key(&self, name: &str) -> String {
        file_key(&real(&self.journal.disk.names.path(name)))
    }
}

impl FileHistory {
    /// What accepting a file would do, for its owner to read whole. `name` is the file as tools call it: `outside/notes.md` goes
    /// to `notes.md` in the workspace, and one that waits stays where it is.
    ///
    /// # Errors
    /// When there is nothing to accept, or when a file for strangers' text, or the one that it would replace, is no text.
    pub async fn offer(&self, name: &str) -> Result<FileOffer, AgentError> {
        Ok(self.offered(name).await?.0)
    }

    /// The same, with the place of what it is about, and what the owner knows to be there once they accept it.
    async fn offered(&self, name: &str) -> Result<(FileOffer, PathBuf, Option<FileContent>), AgentError> {
        let read = |name: &str| {
            files::text(&grants(&self.home, &self.config.files), name)
                .map_err(|why| AgentError::Invalid(why.into_text()))
        };
        if let Some(way) = taken_over(name) {
            self.links(name).await?;
            self.links(&way).await?;
            let there = if self.journal.content(&way).await?.is_some() { Some(read(&way)?) } else { None };
            let text = read(name)?;
            let content = FileHash::of(text.as_bytes());
            let instructs = self.is_read(&way);
            let place = real(&self.journal.disk.names.path(&way));
            let (from, known) = (name.to_owned(), Some(FileContent::text(text.as_str())));
            return Ok((FileOffer { text, content, from, to: way, there, instructs, is_gone: false }, place, known));
        }
        self.settle().await?;
        let path = self.journal.disk.names.path(name);
        let rows = self.memory.database().waiting_files().await?.rows;
        let waiting: Vec<WaitingFile> = rows.into_iter().map(of_waiting).collect();
        let mut found = None;
        // No call can name a file whose name is no text, so one that waits is known by how its name is shown.
        let named = |path: &PathBuf| path.to_str().is_none() && self.journal.disk.names.name(path) == name;
        let unnamed = waiting.iter().map(|file| path_of_key(&file.path)).filter(named);
        // What waits at the very place of the name, be it gone behind a link, is accepted before what a link leads to.
        let own = self.journal.disk.names.place(name);
        for place in std::iter::once(own).chain(link_at(&path)).chain([real(&path)]).chain(unnamed) {
            let now = entry(&place).map_err(AgentError::file(&path))?;
            let is_new = |file: &&WaitingFile| hash(&file.before) != hash(&now);
            let key = file_key(&place);
            let file = waiting.iter().find(|file| file.path == key).filter(is_new);
            found = found.or_else(|| Some((file?.clone(), now.clone(), place)));
        }
        let (file, now, place) = found.ok_or_else(|| {
            AgentError::Invalid(format!(
                "`{name}` waits for nothing; files of `{OUTSIDE}/` are accepted, and those of `limpid file list --waiting`"
            ))
        })?;
        let shown = |content: FileContent| content.text.unwrap_or_else(|| format!("(SHA-256 {})", content.hash));
        let (from, there, is_gone) = (name.to_owned(), file.before.map(shown), now.is_none());
        let Some(now) = now else {
            let (to, text, content) = (from.clone(), String::new(), gone());
            return Ok((FileOffer { from, to, text, content, there, instructs: true, is_gone }, place, None));
        };
        let (leads_elsewhere, known) = (is_link(&now), Some(now.clone()));
        // What nobody can be shown is accepted by nobody.
        let text = match now.text {
            Some(text) => text,
            None => read(&path.display().to_string())?,
        };
        if !leads_elsewhere && FileHash::of(text.as_bytes()) != now.hash {
            return Err(AgentError::Invalid(format!("`{name}` changes while it is read; look at it again")));
        }
        let (to, content) = (from.clone(), now.hash);
        Ok((FileOffer { from, to, text, content, there, instructs: true, is_gone }, place, known))
    }

    /// Makes a file the owner's as they were shown it, and moves one for strangers' text into the workspace. What was shown is
    /// kept. `source` says where the owner said so.
    ///
    /// # Errors
    /// When it is not what was shown by now, or cannot be moved, or when a program that could change it does not end in time.
    pub async fn accept(&self, seen: &FileOffer, source: &str) -> Result<(), AgentError> {
        let by = self.memory.owner(source);
        let (_, place, _) = self.offered(&seen.from).await?;
        let claim = |name: &str| Claim::of(self, name, name);
        let claims = [claim(&seen.from), claim(&seen.to), Claim::at(&seen.to, &place)];
        let _busy = alone_with(self, &claims, Scope::All).await?;
        let mut recorded = self.recorded.lock().await;
        let no_program_since = self.unaccepted().await?.no_program_since();
        let (offer, place, now) = self.offered(&seen.from).await?;
        if offer != *seen {
            return Err(AgentError::Invalid(format!("{} is not what was shown by now; look at it again", seen.from)));
        }
        if seen.moves() {
            let text = FileContent::text(seen.text.as_str());
            let links = self.links(&seen.to).await?;
            let moves = [(&seen.to, Some(text), links), (&seen.from, None, Links::Followed)];
            for (name, after, links) in moves {
                let Watched { content: before, begun } = self.begin(name, None, (None, None), &by).await?;
                let bytes = after.as_ref().map(|_| seen.text.as_bytes());
                let moved = self.write(name, bytes, links);
                let author = is_quoted(name).then_some(Author::Said);
                let end = match moved.is_ok() {
                    true => FileChangeEnd { before, after, author },
                    false => unchanged(before),
                };
                if let Some(begun) = begun {
                    self.memory.database().end_file_change(begun, end).await?;
                }
                moved?;
                *recorded.entry(name.clone()).or_default() += 1;
            }
        }
        let without_text = now.as_ref().filter(|now| now.text.is_none()).map(|now| now.hash);
        if let Some(hash) = without_text.filter(|_| no_program_since.is_none()) {
            // Prompts still say it if the program changes the file again.
            let (kept, path) = (KeptFiles::new(self.home.kept_files()), place.clone());
            on_disk(move || kept.keep_at(&path, hash).map_err(AgentError::file(path))).await?;
        }
        let raised = self.raised(&place, seen.lines().join("\n"), source);
        let accepted = AcceptedContent { hash: seen.content, now, no_program_since };
        Ok(self.memory.database().accept_file(raised, accepted).await?)
    }

    /// Has a file wait that a call wrote, where the call was led to one that instructs and that it was not judged by: a program moved
    /// folders or laid links meanwhile. One that still runs cannot have its end unseen.
    pub(super) async fn hold_what_was_led_there(
        &self,
        place: &Path,
        tool: &str,
        now_ms: i64,
    ) -> Result<(), AgentError> {
        let name = self.journal.disk.names.name(place);
        if !self.instructs(&name) {
            return Ok(());
        }
        let (path, now) = (file_key(place), self.journal.content(&name).await?);
        let unaccepted = self.unaccepted().await?;
        let before = unaccepted.other_than(&path, hash(&now)).flatten().cloned().map(of_file);
        let waiting = WaitingFile { path, before, cause: tool.to_owned(), at_ms: now_ms, told: None };
        Ok(self.memory.database().wait_for_owner(waiting).await?)
    }

    /// Writes down that the owner's yes to a call made their own what it wrote, with what they were shown. What waited goes on
    /// waiting: they did not see it.
    pub(crate) async fn raise(&self, path: &Path, shown: String, source: &str) -> Result<(), AgentError> {
        Ok(self.memory.database().raise_label(self.raised(&real(path), shown, source)).await?)
    }

    /// `place` has every link followed, but for one that is the subject itself.
    fn raised(&self, place: &Path, shown: String, source: &str) -> NewRaisedLabel {
        let subject = file_key(place);
        let (act, source, now_ms) = (RaisingAct::File, source.to_owned(), self.memory.now_ms());
        NewRaisedLabel { act, subject, shown, source, now_ms }
    }
}

/// The place of a link that a path names, with every other link followed; none where it names no link.
fn link_at(path: &Path) -> Option<PathBuf> {
    path.is_symlink().then(|| Some(real(path.parent()?).join(path.file_name()?)))?
}
