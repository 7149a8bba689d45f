//! A home with its history of files, for tests.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use jiff::tz::TimeZone;
use limpid_config::{Config, Home, Live, RandomIds, Redactor, SystemClock};
use limpid_core::policy::PathFacts;
use limpid_store::{FileContent, NewProgramRun, ProgramRunId, SqliteOptions, SqliteStore, Store, file_key};
use limpid_tools::PathArgument;

use super::FileHistory;
use crate::host::Host;
use crate::memory::MemoryWriter;
use crate::tools::policy::{PathResolver, real};

/// A secret of the owner's.
pub(super) const SECRET: &str = "sk-secret-9f3kX2mQ7vB4tL8w";

/// A home, its history of files, and folders that programs are given.
pub(super) struct Bench {
    pub(super) home: Home,
    pub(super) store: Arc<dyn Store>,
    pub(super) history: FileHistory,
    config: Live<Config>,
    _folder: tempfile::TempDir,
}

impl Bench {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path());
        std::fs::create_dir_all(home.workspace().join("docs")).unwrap();
        std::fs::create_dir_all(home.files_lock().parent().unwrap()).unwrap();
        let store = SqliteStore::open(folder.path().join("limpid.db"), SqliteOptions::default()).unwrap();
        let (store, config): (Arc<dyn Store>, _) = (Arc::new(store), Live::new(Config::default()));
        let host = Host::new(Arc::new(SystemClock), Arc::new(RandomIds), config.clone(), TimeZone::UTC, "test");
        let memory = MemoryWriter::new(Arc::clone(&store), host, Redactor::default().with("HOUSE_TOKEN", SECRET));
        let history = FileHistory::new(&home, config.clone(), memory);
        Self { home, store, history, config, _folder: folder }
    }

    /// Where a call leads that reads a file.
    pub(super) fn path(&self, path: &str) -> PathFacts {
        let argument = PathArgument { path: path.to_owned(), write: false, adds: false };
        PathResolver::new(&self.home, Vec::new(), &self.config.files).resolve(argument)
    }

    /// A program of another process begins that may write a folder.
    pub(super) async fn begin(&self, folder: &Path) -> ProgramRunId {
        self.begin_with(folder, BTreeMap::new()).await
    }

    /// The same where files held this.
    pub(super) async fn begin_with(&self, folder: &Path, files: BTreeMap<String, FileContent>) -> ProgramRunId {
        let (holder, tool) = ("another machine".to_owned(), "exec".to_owned());
        let folders = vec![file_key(&real(folder))];
        let new = NewProgramRun { holder, tool, folders, files, now_ms: self.history.memory.now_ms() };
        self.store.begin_program(new).await.unwrap()
    }

    pub(super) async fn end(&self, run: ProgramRunId) {
        self.store.end_program(run, Vec::new()).await.unwrap();
    }
}
