//! The SQLite store does what every store must do.

use std::sync::Arc;

use limpid_store::contract::Bench;
use limpid_store::{SqliteOptions, SqliteStore};

fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("limpid.db"), SqliteOptions::default()).unwrap();
    Bench { other: Arc::new(store.for_owner("other")), store: Arc::new(store), keep: Box::new(folder) }
}

limpid_store::contract_suite!(|| async { crate::contract::bench() });
