//! Changes of files.

use limpid_core::{ConversationId, Trust};

use super::Bench;
use super::sample::ODD;
use crate::{
    Author, FileChangeEnd, FileContent, FileHash, FileVersion, FileVersionId, KeptFile, NewFileVersion, NewProgramRun,
    Store, StoreError, WaitingFile,
};

/// A change of a file from one content to another that a stranger's text led to, ended.
async fn change(
    store: &dyn Store,
    path: &str,
    contents: (Option<FileContent>, Option<FileContent>),
    at: (Option<&str>, i64),
) -> FileVersionId {
    change_of(Trust::Outside, store, path, contents, at).await
}

/// The same, with a label.
async fn change_of(
    trust: Trust,
    store: &dyn Store,
    path: &str,
    (before, after): (Option<FileContent>, Option<FileContent>),
    (conversation, now_ms): (Option<&str>, i64),
) -> FileVersionId {
    let new = NewFileVersion {
        path: path.to_owned(),
        undoes: None,
        before: before.clone(),
        trust,
        source: "turn:t".to_owned(),
        conversation: conversation.map(ConversationId::new),
        tool: Some("write_file".to_owned()),
        now_ms,
    };
    let id = store.begin_file_change(new).await.unwrap();
    let author = Some(Author::Inferred);
    store.end_file_change(id, FileChangeEnd { before, after, author }).await.unwrap();
    id
}

fn text(text: &str) -> Option<FileContent> {
    Some(FileContent::text(text))
}

fn bytes(bytes: &[u8]) -> Option<FileContent> {
    Some(FileContent::bytes(FileHash::of(bytes)))
}

/// Every change is kept with what the file said before and after it, oldest first, for its owner alone.
// PICO-028 LES-060
pub async fn a_change_of_a_file_is_kept_with_both_texts(bench: &Bench) {
    let store = bench.store.as_ref();
    let made = change(store, "memory/MEMORY.md", (None, text(ODD)), (Some("c"), 1)).await;
    let other = change(store, "USER.md", (text(ODD), None), (None, 2)).await;
    let version = store.file_version(made).await.unwrap();
    assert_eq!((version.said_before(), version.said_after()), (None, Some(ODD)));
    assert_eq!(
        (version.author, version.trust, version.source.as_str()),
        (Some(Author::Inferred), Trust::Outside, "turn:t")
    );
    assert_eq!((version.conversation, version.tool.as_deref()), (Some(ConversationId::new("c")), Some("write_file")));
    assert_eq!(FileHash::of(ODD.as_bytes()), version.after.unwrap().hash);
    let ids = |rows: Vec<FileVersion>| rows.into_iter().map(|version| version.id).collect::<Vec<_>>();
    assert_eq!(ids(store.file_versions(None).await.unwrap().rows), [made, other]);
    assert_eq!(ids(store.file_versions(Some("USER.md")).await.unwrap().rows), [other]);
    assert_eq!(store.newest_file_version("USER.md").await.unwrap().map(|version| version.id), Some(other));
    assert_eq!(store.newest_file_version("AGENTS.md").await.unwrap(), None);

    assert_eq!(bench.other.file_versions(None).await.unwrap().rows, []);
    assert_eq!(bench.other.newest_file_version("USER.md").await.unwrap(), None);
    for (store, id) in [(&bench.other, made), (&bench.store, FileVersionId(99))] {
        let none = store.file_version(id).await;
        assert!(matches!(none, Err(StoreError::NotFound { .. })), "{none:?}");
    }
}

/// A change is there before its call runs, ends once, and goes when nothing was changed.
// SEC-063
pub async fn a_change_of_a_file_is_there_before_it_is_made(bench: &Bench) {
    let store = bench.store.as_ref();
    let new = NewFileVersion {
        path: "a.txt".to_owned(),
        undoes: None,
        before: bytes(b"one"),
        trust: Trust::Owner,
        source: "turn:t".to_owned(),
        conversation: None,
        tool: None,
        now_ms: 1,
    };
    let id = store.begin_file_change(new.clone()).await.unwrap();
    let begun = store.file_version(id).await.unwrap();
    assert_eq!((begun.before, begun.after, begun.ended), (bytes(b"one"), None, false));
    assert_eq!(store.newest_file_version("a.txt").await.unwrap(), None);
    let end = |after: &[u8]| FileChangeEnd { before: bytes(b"one"), after: bytes(after), author: None };
    store.end_file_change(id, end(b"two")).await.unwrap();
    store.end_file_change(id, end(b"three")).await.unwrap();
    let ended = store.file_version(id).await.unwrap();
    assert_eq!((ended.after, ended.ended), (bytes(b"two"), true));

    let idle = store.begin_file_change(new.clone()).await.unwrap();
    store.end_file_change(idle, end(b"one")).await.unwrap();
    assert_eq!(store.file_versions(None).await.unwrap().rows.len(), 1);
    let kept = store.kept_files().await.unwrap();
    let owners = KeptFile { hash: FileHash::of(b"one"), at_ms: 1, is_foreign: false };
    assert_eq!(kept, [owners]);

    // What strangers' texts led to comes after it, however new it is, and `outside/` comes last.
    for (path, trust, text) in
        [("outside/b", Trust::Outside, b"low"), ("b.txt", Trust::Outside, b"yes"), ("outside/b", Trust::Owner, b"own")]
    {
        let before = bytes(text);
        let new = NewFileVersion { path: path.to_owned(), before: before.clone(), trust, now_ms: 9, ..new.clone() };
        let id = store.begin_file_change(new).await.unwrap();
        store.end_file_change(id, FileChangeEnd { before, after: None, author: None }).await.unwrap();
    }
    let kept = store.kept_files().await.unwrap();
    let order: Vec<(FileHash, bool)> = kept.iter().map(|kept| (kept.hash, kept.is_foreign)).collect();
    let wanted = [(b"own", false), (b"one", false), (b"yes", true), (b"low", true)];
    assert_eq!(order, wanted.map(|(text, is_foreign)| (FileHash::of(text), is_foreign)));
}

/// A file is a conversation's own while nothing came into it from elsewhere.
// SEC-057 SEC-065 LES-123
pub async fn a_file_is_known_by_the_conversation_that_made_it(bench: &Bench) {
    let store = bench.store.as_ref();
    let made_by = async || store.file_made_by("outside/a").await.unwrap();
    let by = |id: &str, left: &[u8]| Some((ConversationId::new(id), FileHash::of(left)));
    assert_eq!(made_by().await, None);
    change(store, "outside/a", (None, bytes(b"1")), (Some("first"), 1)).await;
    assert_eq!(made_by().await, by("first", b"1"));
    change(store, "outside/a", (bytes(b"1"), bytes(b"12")), (Some("first"), 1)).await;
    assert_eq!(made_by().await, by("first", b"12"));
    change(store, "outside/a", (bytes(b"12 own"), bytes(b"12 own 3")), (Some("first"), 1)).await;
    assert_eq!(made_by().await, None, "somebody wrote into it between two changes");
    change(store, "outside/a", (bytes(b"12 own 3"), None), (Some("first"), 3)).await;
    assert_eq!(made_by().await, None);
    change(store, "outside/a", (None, bytes(b"3")), (Some("second"), 4)).await;
    assert_eq!(made_by().await, by("second", b"3"));
    change(store, "outside/a", (bytes(b"3"), bytes(b"34")), (Some("first"), 5)).await;
    assert_eq!(made_by().await, None, "another one added to it");
    change(store, "b.md", (None, bytes(b"1")), (Some("first"), 5)).await;
    let changed_in = async |id: &str, since| store.files_changed_in(&ConversationId::new(id), since).await.unwrap();
    assert_eq!(changed_in("first", 0).await, ["b.md", "outside/a"], "each once");
    assert_eq!(
        (changed_in("second", 4).await, changed_in("third", 0).await),
        (vec!["outside/a".to_owned()], Vec::new())
    );
    assert_eq!(bench.other.files_changed_in(&ConversationId::new("first"), 0).await.unwrap(), Vec::<String>::new());
    assert_eq!(bench.other.file_made_by("b.md").await.unwrap(), None);
    // A turn that had read nothing of a stranger's wrote what the owner wants.
    let new = NewFileVersion {
        path: "c.md".to_owned(),
        undoes: None,
        before: None,
        trust: Trust::Owner,
        source: "turn:t".to_owned(),
        conversation: Some(ConversationId::new("first")),
        tool: None,
        now_ms: 6,
    };
    let id = store.begin_file_change(new).await.unwrap();
    store.end_file_change(id, FileChangeEnd { before: None, after: bytes(b"1"), author: None }).await.unwrap();
    assert_eq!(store.file_made_by("c.md").await.unwrap(), None);
}

/// Of the files below a folder those are listed that are there by what is known, the newest first. One that the owner ever changed is
/// theirs, whoever changed it since: of these none is missing however many strangers' texts led to.
// SEC-063 SEC-102
pub async fn what_lies_below_a_folder_is_listed_newest_first(bench: &Bench) {
    let store = bench.store.as_ref();
    for (at, path) in
        ["outside/a", "outside/gone", "outside_b", "b.md", "outside/c_", "outside/a"].into_iter().enumerate()
    {
        change(store, path, (None, bytes(path.as_bytes())), (None, i64::try_from(at).unwrap())).await;
    }
    change(store, "outside/gone", (bytes(b"outside/gone"), None), (None, 9)).await;
    let below = async |is_foreign, most| store.files_below("outside/", is_foreign, most).await.unwrap();
    assert_eq!(below(true, 9).await, ["outside/a", "outside/c_"]);
    assert_eq!(below(true, 1).await, ["outside/a"]);
    assert_eq!(below(false, 9).await, [""; 0]);
    assert_eq!(bench.other.files_below("outside/", true, 9).await.unwrap(), [""; 0]);

    for (trust, path) in [
        (Trust::Owner, "outside/plan"),
        (Trust::File, "outside/a"),
        (Trust::Guest, "outside/plan"),
        (Trust::Owner, "outside/b"),
        (Trust::Outside, "outside/z"),
        (Trust::Guest, "outside/a"),
    ] {
        change_of(trust, store, path, (None, bytes(b"new")), (None, 10)).await;
    }
    assert_eq!(below(false, 9).await, ["outside/b", "outside/a", "outside/plan"], "what was added to comes last");
    assert_eq!(below(false, 1).await, ["outside/b"]);
    assert_eq!(below(true, 9).await, ["outside/z", "outside/c_"]);
    change(store, "outside/plan", (bytes(b"new"), None), (None, 11)).await;
    assert_eq!(below(false, 9).await, ["outside/b", "outside/a"], "it is gone");
}

/// What files hold when a program starts is named as kept until the program has ended, and while they wait after it.
// SEC-061 SEC-063
pub async fn what_a_running_program_may_write_over_is_kept(bench: &Bench) {
    let store = bench.store.as_ref();
    let hash = FileHash::of(b"held");
    let new = NewProgramRun {
        holder: "me".to_owned(),
        tool: "exec".to_owned(),
        folders: Vec::new(),
        files: [("/o/a".to_owned(), FileContent::bytes(hash)), ("/w/b.md".to_owned(), FileContent::text("said"))]
            .into(),
        now_ms: 5,
    };
    let id = store.begin_program(new).await.unwrap();
    assert_eq!(store.kept_files().await.unwrap(), [KeptFile { hash, at_ms: 5, is_foreign: true }]);
    assert_eq!(bench.other.kept_files().await.unwrap(), []);
    store.end_program(id, Vec::new()).await.unwrap();
    assert_eq!(store.kept_files().await.unwrap(), []);
    let (path, cause) = ("/o/a".to_owned(), "exec".to_owned());
    let waiting = WaitingFile { path, before: bytes(b"held"), cause, at_ms: 5, told: None };
    store.wait_for_owner(waiting).await.unwrap();
    assert_eq!(store.kept_files().await.unwrap(), [KeptFile { hash, at_ms: i64::MAX, is_foreign: false }]);
    assert_eq!(bench.other.kept_files().await.unwrap(), []);
}
