//! Homes that are moved, copied, or laid out anew: what is known of their files goes with them.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

use super::{HomeFolders, give_places};
use crate::{
    AcceptedContent, FileChangeEnd, FileContent, FileHash, FileVersions, InstructingFiles, KnownContent,
    NewFileVersion, NewProgramRun, NewRaisedLabel, RaisingAct, SqliteOptions, SqliteStore, WaitingFile,
};

fn folders(home: &Path) -> Vec<(&'static str, PathBuf)> {
    vec![("home", home.to_owned()), ("workspace", home.join("workspace")), ("outside", home.join("outside"))]
}

fn open(home: &Path) -> SqliteStore {
    let options = SqliteOptions { folders: folders(home), ..SqliteOptions::default() };
    SqliteStore::open(home.join("limpid.db"), options).unwrap()
}

/// A folder with a home in it.
fn disk() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().canonicalize().unwrap();
    fs::create_dir_all(disk.join("home/workspace")).unwrap();
    (folder, disk)
}

fn at(home: &Path, name: &str) -> String {
    home.join(name).display().to_string()
}

/// Fills a store with something of each kind that knows a file of the workspace, one of the home, and one beside it.
async fn fill(store: &SqliteStore, home: &Path, beside: &str) {
    let (agents, soul) = (at(home, "workspace/AGENTS.md"), at(home, "soul.md"));
    store.note_known([&agents, &soul].map(|path| known(path)).to_vec()).await.unwrap();
    store.wait_for_owner(waiting(&agents)).await.unwrap();
    store.wait_for_owner(waiting(beside)).await.unwrap();
    store.begin_program(run(home, &agents)).await.unwrap();
    let new = NewFileVersion {
        path: soul,
        undoes: None,
        before: None,
        trust: limpid_core::Trust::Owner,
        source: "command line".to_owned(),
        conversation: None,
        tool: None,
        now_ms: 1,
    };
    let id = store.begin_file_change(new).await.unwrap();
    let end = FileChangeEnd { before: None, after: Some(FileContent::text("Be kind.\n")), author: None };
    store.end_file_change(id, end).await.unwrap();
}

fn known(path: &str) -> KnownContent {
    KnownContent { path: path.to_owned(), hash: FileHash::of(b"tea"), source: "x".to_owned(), now_ms: 1 }
}

fn accepted(text: &str, no_program_since: Option<i64>) -> AcceptedContent {
    AcceptedContent { hash: FileHash::of(text.as_bytes()), now: Some(FileContent::text(text)), no_program_since }
}

fn waiting(path: &str) -> WaitingFile {
    WaitingFile { path: path.to_owned(), before: None, cause: "exec".to_owned(), at_ms: 1, told: None }
}

fn run(home: &Path, file: &str) -> NewProgramRun {
    NewProgramRun {
        holder: "me".to_owned(),
        tool: "exec".to_owned(),
        folders: vec![at(home, "workspace"), "/elsewhere".to_owned()],
        files: [(file.to_owned(), FileContent::text("Be kind.\n"))].into(),
        now_ms: 1,
    }
}

/// That a store knows of a home what [`fill`] wrote, and of no other one.
async fn knows(store: &SqliteStore, home: &Path, beside: &str) {
    let (agents, soul) = (at(home, "workspace/AGENTS.md"), at(home, "soul.md"));
    let mut waits: Vec<String> = store.waiting_files().await.unwrap().rows.into_iter().map(|file| file.path).collect();
    waits.sort();
    let mut expected = vec![agents.clone(), beside.to_owned()];
    expected.sort();
    assert_eq!(waits, expected);
    for path in [&agents, &soul] {
        assert!(store.is_known(path, FileHash::of(b"tea")).await.unwrap(), "{path}");
    }
    let runs: Vec<_> = store.program_runs().await.unwrap().rows.into_iter().map(|one| one.new).collect();
    assert_eq!(runs, [run(home, &agents)]);
    let changes = store.file_versions(Some(&soul)).await.unwrap().rows;
    assert_eq!(changes.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(), [soul.as_str()]);
}

// SEC-061
#[tokio::test]
async fn what_waits_goes_with_a_home_that_is_moved_and_with_one_that_is_copied() {
    let (_folder, disk) = disk();
    let (old, new) = (disk.join("home"), disk.join("elsewhere/ada"));
    // A folder whose name begins like the home's is another one.
    let beside = at(&disk, "home-of-eve/AGENTS.md");
    let store = open(&old);
    fill(&store, &old, &beside).await;
    knows(&store, &old, &beside).await;
    drop(store);

    fs::create_dir_all(disk.join("copy/workspace")).unwrap();
    fs::create_dir_all(disk.join("elsewhere")).unwrap();
    for file in fs::read_dir(&old).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
        fs::copy(&file, disk.join("copy").join(file.file_name().unwrap())).unwrap();
    }
    fs::rename(&old, &new).unwrap();
    for home in [new, disk.join("copy")] {
        let store = open(&home);
        knows(&store, &home, &beside).await;
        // And it is accepted as ever.
        let subject = at(&home, "workspace/AGENTS.md");
        let accept = NewRaisedLabel {
            act: RaisingAct::File,
            subject: subject.clone(),
            shown: "+tea\n".to_owned(),
            source: "command line".to_owned(),
            now_ms: 2,
        };
        store.accept_file(accept, accepted("tea\n", None)).await.unwrap();
        let mut left = store.waiting_files().await.unwrap().rows;
        left.retain(|file| file.before.is_none());
        assert_eq!(left.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), [beside.as_str()]);
        assert_eq!(store.raised_labels().await.unwrap().rows[0].new.subject, subject);
    }
}

// SEC-061
#[cfg(unix)]
#[tokio::test]
async fn a_workspace_that_is_moved_with_a_link_left_keeps_what_waits_in_it_for_every_process() {
    let (_folder, disk) = disk();
    let home = disk.join("home");
    let agents = |store: &SqliteStore| {
        let store = store.clone();
        async move { store.waiting_files().await.unwrap().rows.into_iter().map(|file| file.path).collect::<Vec<_>>() }
    };
    let running = open(&home);
    running.wait_for_owner(waiting(&at(&home, "workspace/AGENTS.md"))).await.unwrap();
    fs::rename(home.join("workspace"), disk.join("ws")).unwrap();
    std::os::unix::fs::symlink(disk.join("ws"), home.join("workspace")).unwrap();
    for store in [running, open(&home)] {
        assert_eq!(agents(&store).await, [at(&disk, "ws/AGENTS.md")]);
        store.wait_for_owner(waiting(&at(&disk, "ws/AGENTS.md"))).await.unwrap();
        assert_eq!(agents(&store).await.len(), 1, "it is the same file");
    }
}

// SEC-061 SEC-063
#[cfg(unix)]
#[tokio::test]
async fn what_waits_in_a_workspace_that_was_left_for_another_one_waits_where_it_is() {
    use std::os::unix::fs::symlink;
    let (_folder, disk) = disk();
    let home = disk.join("home");
    fs::remove_dir(home.join("workspace")).unwrap();
    ["first", "second"].iter().for_each(|project| fs::create_dir(disk.join(project)).unwrap());
    let use_project = |name: &str| {
        let _ = fs::remove_file(home.join("workspace"));
        symlink(disk.join(name), home.join("workspace")).unwrap();
        open(&home)
    };
    let agents = at(&disk, "first/AGENTS.md");
    let store = use_project("first");
    store.note_known(vec![known(&agents)]).await.unwrap();
    store.wait_for_owner(waiting(&agents)).await.unwrap();
    let new = NewFileVersion {
        path: agents.clone(),
        undoes: None,
        before: None,
        trust: limpid_core::Trust::Owner,
        source: "command line".to_owned(),
        conversation: None,
        tool: None,
        now_ms: 1,
    };
    let id = store.begin_file_change(new).await.unwrap();
    let end = FileChangeEnd { before: None, after: Some(FileContent::text("Be kind.\n")), author: None };
    store.end_file_change(id, end).await.unwrap();
    for project in ["first", "second", "second", "first"] {
        let store = use_project(project);
        let waits = store.waiting_files().await.unwrap().rows;
        assert_eq!(waits.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), [agents.as_str()], "{project}");
        assert!(store.is_known(&agents, FileHash::of(b"tea")).await.unwrap(), "{project}");
        let changes = |path: &str| {
            let (store, path) = (store.clone(), path.to_owned());
            async move { store.file_versions(Some(&path)).await.unwrap().rows.len() }
        };
        assert_eq!((changes(&agents).await, changes(&at(&disk, "second/AGENTS.md")).await), (1, 0), "{project}");
    }
}

// SEC-061
#[tokio::test]
async fn whole_paths_of_an_older_version_become_places_when_the_store_is_opened() {
    let (_folder, disk) = disk();
    let (old, new) = (disk.join("home"), disk.join("moved"));
    let beside = at(&disk, "home-of-eve/AGENTS.md");
    let older = SqliteStore::open(old.join("limpid.db"), SqliteOptions::default()).unwrap();
    fill(&older, &old, &beside).await;
    drop(older);
    drop(open(&old));
    fs::rename(&old, &new).unwrap();
    knows(&open(&new), &new, &beside).await;
}

/// It looked at the version when it opened the database, and would find what waits under no path that it knows.
// SEC-061
#[tokio::test]
async fn a_process_of_an_older_version_that_still_runs_reads_nothing_of_what_waits() {
    let (_folder, disk) = disk();
    let home = disk.join("home");
    let store = open(&home);
    fill(&store, &home, "/elsewhere/AGENTS.md").await;
    let sql = Connection::open(home.join("limpid.db")).unwrap();
    let of_before = "SELECT waiting.*, was.text FROM waiting_file AS waiting
                     LEFT JOIN file_text AS was ON was.owner = waiting.owner AND was.hash = waiting.before
                     WHERE waiting.owner = ? ORDER BY path";
    let refused = sql.prepare(of_before).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("no such column: path"), "{refused}");
}

// SEC-061 SEC-063
#[tokio::test]
async fn a_change_that_ended_gets_a_place_and_never_another_path() {
    let (_folder, disk) = disk();
    let home = disk.join("home");
    let store = open(&home);
    fill(&store, &home, "/elsewhere/AGENTS.md").await;
    let mut sql = Connection::open(home.join("limpid.db")).unwrap();
    for path in ["/home/eve/soul.md", "AGENTS.md"] {
        assert!(sql.execute("UPDATE file_change SET path = ?", [path]).is_err(), "{path}");
    }
    let columns = sql.prepare("SELECT name FROM pragma_table_info('file_change') WHERE name <> 'path'").unwrap();
    let columns = { columns }.query_map([], |row| row.get(0)).unwrap().collect::<Result<Vec<String>, _>>().unwrap();
    for column in columns {
        assert!(sql.execute(&format!("UPDATE file_change SET {column} = {column}"), []).is_err(), "{column}");
    }
    // Even where everything is placed anew.
    sql.execute("DELETE FROM home_folder", ()).unwrap();
    give_places(&mut sql, &HomeFolders(folders(&home)).now()).unwrap();
    let path: String = sql.query_row("SELECT path FROM file_change", [], |row| row.get(0)).unwrap();
    assert_eq!(path, "//home/soul.md");
}

// SEC-061
#[cfg(unix)]
#[tokio::test]
async fn a_file_whose_name_is_no_text_waits_by_a_key_of_its_own() {
    use std::os::unix::ffi::OsStrExt as _;
    let (_folder, disk) = disk();
    let store = open(&disk.join("home"));
    let names: [&[u8]; 3] = [b"\xfe.py", b"\xff.py", br"\xff.py"];
    let keys = names.map(|name| crate::file_key(&disk.join("home/workspace").join(std::ffi::OsStr::from_bytes(name))));
    let waits = async || -> Vec<String> {
        store.waiting_files().await.unwrap().rows.into_iter().map(|file| file.path).collect()
    };
    for key in &keys {
        store.wait_for_owner(waiting(key)).await.unwrap();
    }
    assert_eq!(waits().await, keys);
    let (act, subject, shown) = (RaisingAct::File, keys[1].clone(), "tea".to_owned());
    let new = NewRaisedLabel { act, subject, shown, source: "x".to_owned(), now_ms: 1 };
    store.accept_file(new, accepted("tea", Some(0))).await.unwrap();
    assert_eq!(waits().await, [keys[0].clone(), keys[2].clone()]);
    assert!(store.is_known(&keys[1], FileHash::of(b"tea")).await.unwrap());
    assert!(!store.is_known(&keys[2], FileHash::of(b"tea")).await.unwrap());
}
