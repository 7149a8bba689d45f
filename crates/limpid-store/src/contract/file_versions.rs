//! Versions of files.

use limpid_core::Trust;

use super::Bench;
use super::sample::ODD;
use crate::{Author, FileVersionId, NewFileVersion, StoreError};

fn change(path: &str, before: Option<&str>, after: Option<&str>, now_ms: i64) -> NewFileVersion {
    NewFileVersion {
        path: path.to_owned(),
        undoes: None,
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
        author: Author::Inferred,
        trust: Trust::Outside,
        source: "turn:t".to_owned(),
        now_ms,
    }
}

/// Every change is kept with what the file said before and after it, oldest first, for its owner alone.
// PICO-028 LES-060
pub async fn a_change_of_a_file_is_kept_with_both_texts(bench: &Bench) {
    let store = bench.store.as_ref();
    let made = store.record_file(change("memory/MEMORY.md", None, Some(ODD), 1)).await.unwrap();
    let other = store.record_file(change("USER.md", Some(ODD), None, 2)).await.unwrap();
    let undo = NewFileVersion { undoes: Some(made.id), ..change("memory/MEMORY.md", Some(ODD), None, 3) };
    let undone = store.record_file(undo).await.unwrap();

    assert_eq!((made.before.as_deref(), made.after.as_deref()), (None, Some(ODD)));
    assert_eq!((made.author, made.trust, made.source.as_str()), (Author::Inferred, Trust::Outside, "turn:t"));
    assert_eq!(store.file_version(made.id).await.unwrap(), made);
    assert_eq!(store.file_versions(None).await.unwrap().rows, [made.clone(), other, undone.clone()]);
    assert_eq!(store.file_versions(Some("memory/MEMORY.md")).await.unwrap().rows, [made.clone(), undone.clone()]);
    assert_eq!(store.newest_file_version("memory/MEMORY.md").await.unwrap(), Some(undone));
    assert_eq!(store.newest_file_version("AGENTS.md").await.unwrap(), None);

    assert_eq!(bench.other.file_versions(None).await.unwrap().rows, []);
    assert_eq!(bench.other.newest_file_version("USER.md").await.unwrap(), None);
    for (store, id) in [(&bench.other, made.id), (&bench.store, FileVersionId(99))] {
        let none = store.file_version(id).await;
        assert!(matches!(none, Err(StoreError::NotFound { .. })), "{none:?}");
    }
}
