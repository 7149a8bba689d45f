//! What is written down of files before they are changed, and where what they held is kept.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use limpid_config::{Config, Home, Live};
use limpid_store::{FileChangeEnd, FileContent, FileVersionId, NewFileVersion, StoreError};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::disk::{Disk, LookedAt};
use crate::error::AgentError;
use crate::memory::{MemoryWriter, WriteSource};

/// A file that a call may change.
pub(super) struct Watched {
    pub(super) content: Option<FileContent>,
    /// The change that was begun; none when it is not known yet whether there will be one.
    pub(super) begun: Option<FileVersionId>,
}

/// The changes of files, and what the files held.
pub(super) struct Journal {
    memory: MemoryWriter,
    pub(super) disk: Arc<Disk>,
    /// Files that are being changed: one change after another.
    busy: Mutex<HashMap<String, Arc<Mutex<()>>>>,
}

impl Journal {
    pub(super) fn new(home: &Home, config: Live<Config>, memory: MemoryWriter) -> Self {
        Self { memory, disk: Disk::new(home, config), busy: Mutex::default() }
    }

    /// Waits until no other call of this process changes these files, in their order, and lets others wait until the guards are dropped.
    pub(super) async fn wait_for_calls(&self, names: BTreeSet<&String>) -> Vec<OwnedMutexGuard<()>> {
        let mut guards = Vec::new();
        for name in names {
            let lock = {
                let mut busy = self.busy.lock().await;
                busy.retain(|_, lock| Arc::strong_count(lock) > 1);
                Arc::clone(busy.entry(name.clone()).or_default())
            };
            guards.push(lock.lock_owned().await);
        }
        guards
    }

    /// Keeps what a file holds, and writes down that it is about to be changed. `judged` is the place that a call was judged by.
    pub(super) async fn begin(
        &self,
        name: &str,
        judged: Option<&Path>,
        how: (Option<&str>, Option<FileVersionId>),
        by: &WriteSource,
    ) -> Result<Watched, AgentError> {
        let looked = self.disk.look(name, judged).await?;
        let content = looked.as_ref().map(|looked| looked.content.clone());
        let begun = self.write_down(name, content.clone(), how, by).await?;
        if let Some(LookedAt { content: FileContent { hash, text: None }, file }) = looked {
            // The row comes first: what no row names is removed.
            if let Err(error) = self.disk.keep(name, file, hash).await {
                self.memory.database().end_file_change(begun, unchanged(content)).await?;
                return Err(error);
            }
            self.disk.prune(self.memory.database().kept_files().await?, by.now_ms).await?;
        }
        Ok(Watched { content, begun: Some(begun) })
    }

    pub(super) async fn write_down(
        &self,
        name: &str,
        before: Option<FileContent>,
        (tool, undoes): (Option<&str>, Option<FileVersionId>),
        by: &WriteSource,
    ) -> Result<FileVersionId, StoreError> {
        let new = NewFileVersion {
            path: name.to_owned(),
            undoes,
            before,
            trust: by.trust,
            source: by.source.clone(),
            conversation: by.conversation().cloned(),
            tool: tool.map(str::to_owned),
            now_ms: by.now_ms,
        };
        self.memory.database().begin_file_change(new).await
    }

    /// What a file holds; none when it is not there.
    pub(super) async fn content(&self, name: &str) -> Result<Option<FileContent>, AgentError> {
        self.content_at(name, None).await
    }

    /// The same at the place that a call was judged by.
    pub(super) async fn content_at(
        &self,
        name: &str,
        judged: Option<&Path>,
    ) -> Result<Option<FileContent>, AgentError> {
        Ok(self.disk.look(name, judged).await?.map(|looked| looked.content))
    }

    /// The bytes that a file held.
    pub(super) async fn bytes(&self, name: &str, content: &FileContent) -> Result<Vec<u8>, AgentError> {
        if let Some(text) = &content.text {
            return Ok(text.clone().into_bytes());
        }
        let gone = || format!("what {name} held is no longer kept; it is kept for 30 days, and 200 MB in all");
        self.disk.kept(content.hash).await?.ok_or_else(|| AgentError::Invalid(gone()))
    }
}

/// The end of a change that changed nothing.
pub(super) fn unchanged(content: Option<FileContent>) -> FileChangeEnd {
    FileChangeEnd { before: content.clone(), after: content, author: None }
}
