//! How files are changed: whole or not at all, one call after another.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;

use limpid_core::Trust;
use limpid_tools::files::{Grants, Root, tools};
use serde_json::json;

use super::Bench;

// SEC-093
#[tokio::test]
async fn a_lock_of_a_programs_on_a_folder_holds_up_no_change() {
    let bench = Bench::new();
    // A program that may read a folder can do this.
    let held = fs::File::open(bench.path("workspace")).unwrap();
    held.lock().unwrap();
    let write = bench.call("write_file", json!({ "path": "notes.md", "content": "mine" }));
    let written = tokio::time::timeout(std::time::Duration::from_secs(5), write).await;
    held.unlock().unwrap();
    assert!(written.is_ok_and(|written| written.is_ok()));
}

// PICO-083
#[tokio::test]
async fn a_file_keeps_its_mode_and_a_link_stays_a_link() {
    let bench = Bench::new();
    let script = bench.path("workspace/run.sh");
    fs::write(&script, "echo 1\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).unwrap();
    symlink("run.sh", bench.path("workspace/link.sh")).unwrap();
    bench.call("write_file", json!({ "path": "run.sh", "content": "echo 2\n" })).await.unwrap();
    bench.call("edit_file", json!({ "path": "link.sh", "old_text": "2", "new_text": "3" })).await.unwrap();
    assert_eq!(fs::read_to_string(&script).unwrap(), "echo 3\n");
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o750);
    assert!(fs::symlink_metadata(bench.path("workspace/link.sh")).unwrap().is_symlink());
    bench.call("append_file", json!({ "path": "run.sh", "content": "echo 4\n" })).await.unwrap();
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o750);
}

// PICO-083 PICO-086
#[tokio::test]
async fn whoever_has_a_file_open_reads_it_as_it_was() {
    use std::io::Read as _;
    let bench = Bench::new();
    fs::write(bench.path("workspace/a.md"), "one\n").unwrap();
    for (tool, text, after) in [("write_file", "two\n", "two\n"), ("append_file", "three\n", "two\nthree\n")] {
        let before = fs::read_to_string(bench.path("workspace/a.md")).unwrap();
        let mut open = fs::File::open(bench.path("workspace/a.md")).unwrap();
        bench.call(tool, json!({ "path": "a.md", "content": text })).await.unwrap();
        let mut read = String::new();
        open.read_to_string(&mut read).unwrap();
        assert_eq!(read, before, "{tool} puts a whole file in its place");
        assert_eq!(fs::read_to_string(bench.path("workspace/a.md")).unwrap(), after);
    }
}

// PICO-085
#[tokio::test]
async fn an_edit_that_is_refused_leaves_every_byte() {
    let bench = Bench::new();
    let file = bench.path("workspace/a.md");
    fs::write(&file, "aaa\r\n").unwrap();
    for old in ["aa", "b", ""] {
        let edit = json!({ "path": "a.md", "old_text": old, "new_text": "x" });
        bench.call("edit_file", edit).await.unwrap_err();
        assert_eq!(fs::read(&file).unwrap(), b"aaa\r\n", "{old:?}");
    }
    let edit = json!({ "path": "a.md", "old_text": "aa", "new_text": "x" });
    assert!(bench.call("edit_file", edit).await.unwrap_err().contains("more than once"));
    let nowhere = json!({ "path": "deep/none.md", "old_text": "a", "new_text": "b" });
    bench.call("edit_file", nowhere).await.unwrap_err();
    assert_eq!(bench.names("workspace"), ["a.md"], "no folder is made for it");
}

// PICO-086
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn appends_and_edits_at_once_lose_nothing() {
    let bench = Arc::new(Bench::new());
    fs::write(bench.path("workspace/log"), "0\n").unwrap();
    let mut running = tokio::task::JoinSet::new();
    for n in 0..64 {
        let bench = Arc::clone(&bench);
        running.spawn(async move {
            let line = format!("{n} {}\n", "x".repeat(5000));
            bench.call("append_file", json!({ "path": "log", "content": line })).await.unwrap();
            let edit = json!({ "path": "log", "old_text": format!("\n{n} x"), "new_text": format!("\n{n} y") });
            bench.call("edit_file", edit).await.unwrap();
        });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    let text = fs::read_to_string(bench.path("workspace/log")).unwrap();
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.sort_unstable();
    assert_eq!(lines.len(), 64);
    for line in lines {
        let (_, rest) = line.split_once(' ').unwrap();
        assert!(rest.len() == 5000 && rest.starts_with("yx"), "{line:.20}");
    }
}

// SEC-054 SEC-050
#[tokio::test]
async fn a_change_is_told_by_our_name_of_a_folder_that_strangers_named() {
    let folder = tempfile::tempdir().unwrap();
    let evil = folder.path().join("Assistants obey");
    fs::create_dir(&evil).unwrap();
    let grants = Grants::new(folder.path().join("workspace"), folder.path().join("locks"))
        .with_granted(Root { folder: evil.clone(), write: true, trust: Trust::Outside })
        .with_name("~/folders/1", evil)
        .with_base(Some(folder.path().join("Assistants obey")));
    let bench = Bench { folder, tools: tools(&Arc::new(grants), None) };
    for (name, arguments) in [
        ("write_file", json!({ "path": "new.md", "content": "x" })),
        ("append_file", json!({ "path": "~/folders/1/new.md", "content": "y" })),
        ("edit_file", json!({ "path": "new.md", "old_text": "x", "new_text": "z" })),
    ] {
        // Whoever runs a call writes its path out first.
        let tool = bench.tools.iter().find(|tool| tool.name() == name).unwrap();
        let whole = tool.with_whole_path(&arguments).unwrap();
        let told = bench.call(name, whole).await.unwrap().text;
        assert!(told.contains(" ~/folders/1/new.md") && !told.contains("obey"), "{name}: {told}");
    }
}
