//! The files of a home as the history reads and keeps them. It takes as long as they are large, so all of it is done on threads that may
//! wait for a disk.

use std::sync::Arc;

use limpid_config::Home;
use limpid_store::{FileContent, FileHash, KeptFile};
use limpid_tools::files::{self, Grants};

use super::kept::{KeptFiles, hash_of};
use super::names::{FileNames, is_quoted};
use crate::error::AgentError;

/// The files of a home, and where what they held is kept.
pub(super) struct Disk {
    /// The workspace alone, where the files that prompts quote are.
    pub(super) workspace: Grants,
    /// The home, for the files that prompts are made from.
    pub(super) own: Grants,
    pub(super) names: FileNames,
    kept: KeptFiles,
}

impl Disk {
    pub(super) fn new(home: &Home) -> Arc<Self> {
        Arc::new(Self {
            workspace: Grants::new(home.workspace(), home.folder_locks()),
            own: Grants::new(home.path(), home.folder_locks()),
            names: FileNames::new(home),
            kept: KeptFiles::new(home.kept_files()),
        })
    }

    /// What a file holds; none when it is not there.
    pub(super) async fn content(self: &Arc<Self>, name: &str) -> Result<Option<FileContent>, AgentError> {
        let (disk, name) = (Arc::clone(self), name.to_owned());
        on_disk(move || disk.read(&name)).await
    }

    /// Keeps what a file holds, unless it is kept already or too large.
    ///
    /// # Errors
    /// When it cannot be read or written, or is another content by now.
    pub(super) async fn keep(self: &Arc<Self>, name: &str, hash: FileHash) -> Result<(), AgentError> {
        let (disk, path) = (Arc::clone(self), self.names.path(name));
        on_disk(move || disk.kept.keep(&path, hash).map_err(AgentError::file(path))).await
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

    fn read(&self, name: &str) -> Result<Option<FileContent>, AgentError> {
        if is_quoted(name)
            && let Ok(text) = files::text(&self.workspace, name)
        {
            return Ok(Some(FileContent::text(text)));
        }
        if let Some(way) = self.names.prompt_file(name)
            && let Ok(text) = files::text(&self.own, &way)
        {
            return Ok(Some(FileContent::text(text)));
        }
        let path = self.names.path(name);
        Ok(hash_of(&path).map_err(AgentError::file(path))?.map(FileContent::bytes))
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
        let disk = Disk::new(&home);
        let mut look = std::pin::pin!(disk.content("film.mp4"));
        tokio::select! {
            biased;
            _ = &mut look => panic!("nothing else was done before it was hashed"),
            () = std::future::ready(()) => {}
        }
        let content = look.await.unwrap().unwrap();
        let mut keep = std::pin::pin!(disk.keep("film.mp4", content.hash));
        tokio::select! {
            biased;
            _ = &mut keep => panic!("nothing else was done before it was kept"),
            () = std::future::ready(()) => {}
        }
        keep.await.unwrap();
        assert_eq!(disk.kept(content.hash).await.unwrap().unwrap().len(), 8 * 1024 * 1024);
    }
}
