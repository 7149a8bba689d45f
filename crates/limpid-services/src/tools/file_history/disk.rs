//! The files of a home as the history reads and keeps them. It takes as long as they are large, so all of it is done on threads that may
//! wait for a disk.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use limpid_config::{Config, Home, Live};
use limpid_store::{FileContent, FileHash, KeptFile};
use limpid_tools::files::Grants;

use super::kept::KeptFiles;
use super::names::{FileNames, is_quoted};
use super::opened::OpenedFile;
use crate::error::AgentError;
use crate::tools::builtin::grants;
use crate::tools::policy::{PathResolver, links_on, real};

/// The files of a home, and where what they held is kept.
pub(super) struct Disk {
    /// The workspace alone, where the files that prompts quote are.
    pub(super) workspace: Grants,
    /// The home, for the files that prompts are made from.
    pub(super) own: Grants,
    pub(super) names: FileNames,
    kept: KeptFiles,
    home: Home,
    config: Live<Config>,
}

/// A file that was looked at.
pub(super) struct LookedAt {
    pub(super) content: FileContent,
    /// The very file, open.
    pub(super) file: OpenedFile,
}

impl Disk {
    pub(super) fn new(home: &Home, config: Live<Config>) -> Arc<Self> {
        Arc::new(Self {
            workspace: Grants::new(home.workspace(), home.folder_locks()),
            own: Grants::new(home.path(), home.folder_locks()),
            names: FileNames::new(home),
            kept: KeptFiles::new(home.kept_files()),
            home: home.clone(),
            config,
        })
    }

    /// The file of a name and what it holds; none when it is not there. `judged` is its place, with every link followed, where a call was
    /// judged by it.
    ///
    /// # Errors
    /// When it cannot be read, and when a link leads elsewhere by now.
    pub(super) async fn look(
        self: &Arc<Self>,
        name: &str,
        judged: Option<&Path>,
    ) -> Result<Option<LookedAt>, AgentError> {
        let (disk, name, judged) = (Arc::clone(self), name.to_owned(), judged.map(Path::to_owned));
        on_disk(move || {
            let place = judged.unwrap_or_else(|| disk.place(&name));
            disk.read(&name, &place).map_err(AgentError::file(place))
        })
        .await
    }

    /// Keeps what a file holds, unless it is kept already or too large.
    ///
    /// # Errors
    /// When it cannot be read or written, or is another content by now.
    pub(super) async fn keep(self: &Arc<Self>, name: &str, file: OpenedFile, hash: FileHash) -> Result<(), AgentError> {
        let (disk, path) = (Arc::clone(self), self.names.path(name));
        on_disk(move || disk.kept.keep(&file, hash).map_err(AgentError::file(path))).await
    }

    /// A content that is kept; none when it is kept no longer.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) async fn kept(self: &Arc<Self>, hash: FileHash) -> Result<Option<Vec<u8>>, AgentError> {
        let disk = Arc::clone(self);
        on_disk(move || disk.kept.read(hash).map_err(AgentError::file(disk.kept.folder()))).await
    }

    /// Removes what is too old or too much; `changes` are in the order in which they are worth keeping.
    ///
    /// # Errors
    /// When the work broke off.
    pub(super) async fn prune(self: &Arc<Self>, changes: Vec<KeptFile>, now_ms: i64) -> Result<(), AgentError> {
        let disk = Arc::clone(self);
        on_disk(move || {
            disk.kept.prune(&changes, now_ms);
            Ok(())
        })
        .await
    }

    /// Where the file of a name lies. The history knows a file by its own place, so a link on the way was laid since, and is not followed.
    /// The owner has links of their own alone among what prompts quote, where they lead to what tools may read, and among what prompts
    /// are made from, where no program lays one.
    fn place(&self, name: &str) -> PathBuf {
        let place = self.names.place(name);
        let end = real(&place);
        if end == place {
            return place;
        }
        let is_owners = if is_quoted(name) {
            grants(&self.home, &self.config.files).reads(&end)
        } else {
            self.names.prompt_file(name).is_some() && !self.is_over_link_of_programs(&place)
        };
        if is_owners { end } else { place }
    }

    /// Whether a path leads over a link that a program could have laid.
    fn is_over_link_of_programs(&self, path: &Path) -> bool {
        let resolver = PathResolver::new(&self.home, Vec::new(), &self.config.files);
        let folders: Vec<PathBuf> = resolver.writable().iter().cloned().chain([real(&self.home.outside())]).collect();
        links_on(path).iter().any(|link| folders.iter().any(|folder| link.starts_with(folder)))
    }

    fn read(&self, name: &str, place: &Path) -> io::Result<Option<LookedAt>> {
        let Some(file) = OpenedFile::at(place)? else { return Ok(None) };
        let is_in = |folder: PathBuf| place.starts_with(real(&folder));
        let is_text = is_quoted(name) && is_in(self.home.workspace())
            || self.names.prompt_file(name).is_some() && is_in(self.home.path().to_owned());
        let text = if is_text { file.text()? } else { None };
        let content = match text {
            Some(text) => FileContent::text(text),
            None => FileContent::bytes(file.hash()?),
        };
        Ok(Some(LookedAt { content, file }))
    }
}

/// Does what may take long on a thread that may wait for a disk: everything else goes on meanwhile.
pub(crate) async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AgentError> + Send + 'static,
) -> Result<T, AgentError> {
    let broke =
        |error: tokio::task::JoinError| Err(AgentError::Invalid(format!("the look at the files broke off: {error}")));
    tokio::task::spawn_blocking(work).await.unwrap_or_else(broke)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The runtime of a test has one thread: what is done on it is done before anything else.
    // SEC-093
    #[tokio::test]
    async fn while_a_large_file_is_hashed_and_kept_everything_else_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path());
        std::fs::create_dir_all(home.workspace()).unwrap();
        std::fs::File::create(home.workspace().join("film.mp4")).unwrap().set_len(8 * 1024 * 1024).unwrap();
        let disk = Disk::new(&home, Live::new(Config::default()));
        let mut look = std::pin::pin!(disk.look("film.mp4", None));
        tokio::select! {
            biased;
            _ = &mut look => panic!("nothing else was done before it was hashed"),
            () = std::future::ready(()) => {}
        }
        let LookedAt { content, file } = look.await.unwrap().unwrap();
        let mut keep = std::pin::pin!(disk.keep("film.mp4", file, content.hash));
        tokio::select! {
            biased;
            _ = &mut keep => panic!("nothing else was done before it was kept"),
            () = std::future::ready(()) => {}
        }
        keep.await.unwrap();
        assert_eq!(disk.kept(content.hash).await.unwrap().unwrap().len(), 8 * 1024 * 1024);
    }
}
