//! A stranger's program that the owner let run exchanges a file of `outside/` for a link to what nobody granted, while a call of another
//! chat, which was judged already, waits to write that file.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use limpid_testkit::Recorded;
use serde_json::json;

use crate::kit::World;

const KEY: &str = "PRIVATE KEY 4711";

/// Waits until the other call does, and puts something in the place of the file.
const PROGRAM: &str = "\
import os, time
open('NOTES/runs', 'w').close()
until = time.monotonic() + 15
while not os.path.exists('NOTES/go') and time.monotonic() < until:
    time.sleep(0.02)
os.remove('NOTES/a.md')
LAY
";

/// Waits for something, for half a minute at most.
fn waits_until(is_so: impl Fn() -> bool) {
    for _ in 0..1500 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A home in which both were there at once, the program and the call, and a folder of the owner's with a key.
struct Played {
    world: World,
    private: tempfile::TempDir,
}

impl Played {
    /// None where programs cannot be confined. `lay` is what the program does in the end.
    async fn new(lay: &str) -> Option<Self> {
        if crate::programs::no_sandbox() {
            return None;
        }
        let private = tempfile::tempdir().unwrap();
        let key = private.path().join("id_ed25519");
        std::fs::write(&key, KEY).unwrap();
        let asked = Arc::new(AtomicBool::new(false));
        let notes = Arc::new(std::sync::OnceLock::<String>::new());
        let (is_asked, at) = (Arc::clone(&asked), Arc::clone(&notes));
        let world = World::answering(move |request: &Recorded| {
            let notes = at.get().unwrap();
            let call = |name: &str, arguments: serde_json::Value| {
                serde_json::from_value(json!({ "calls": [{ "name": name, "arguments": arguments }] })).unwrap()
            };
            let texts = request.texts();
            let is_noting = !request.user().contains("try it");
            let done = texts.iter().filter(|sent| sent.role == "tool").count();
            let write =
                |content: &str| call("write_file", json!({ "path": format!("{notes}/a.md"), "content": content }));
            match (is_noting, done) {
                (_, 0) => call("read_file", json!({ "path": "outside/tool/README.md" })),
                (false, 1) => {
                    let command = "python3 program.py ../notes";
                    call("exec", json!({ "command": command, "working_dir": "outside/tool" }))
                }
                (true, 1) => write("first\n"),
                (true, 2) => {
                    waits_until(|| Path::new(notes).join("runs").exists());
                    is_asked.store(true, Ordering::SeqCst);
                    write("second\n")
                }
                _ => serde_json::from_value(json!({ "text": "Done." })).unwrap(),
            }
        })
        .await
        .without_rights();
        world.owns(private.path());
        let folder = world.home.path().canonicalize().unwrap().join("outside/notes");
        notes.set(folder.display().to_string()).unwrap();
        let program = PROGRAM.replace("LAY", lay).replace("KEY", &key.display().to_string());
        world.write("limpid.toml", "[tools]\ndefer = false\n");
        world.write("outside/tool/README.md", "tea\n");
        world.write("outside/tool/program.py", &program.replace("NOTES", &folder.display().to_string()));
        let program = async {
            until(|| folder.join("a.md").exists()).await;
            world.done(&["chat", "-c", "new", "try it"]).await;
            world.run(&["draft", "approve", "1"]).await
        };
        let go = async {
            until(|| asked.load(Ordering::SeqCst)).await;
            // The call is judged by then and waits.
            tokio::time::sleep(Duration::from_secs(2)).await;
            std::fs::write(folder.join("go"), "").unwrap();
        };
        let (_, approved, ()) = tokio::join!(world.done(&["chat", "-c", "new", "note it down"]), program, go);
        assert_eq!(approved.code, 0, "{}{}", approved.out, approved.err);
        Some(Self { world, private })
    }

    /// What the model was sent in all.
    fn sent(&self) -> String {
        self.world.recorder.requests().iter().map(Recorded::text).collect()
    }

    fn note(&self) -> std::path::PathBuf {
        self.world.home.path().join("outside/notes/a.md")
    }
}

/// The same as [`waits_until`] for who lets others go on meanwhile.
async fn until(is_so: impl Fn() -> bool) {
    for _ in 0..1500 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Whether a file below a folder holds the key.
fn holds_key(folder: &Path) -> bool {
    std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let has = |bytes: Vec<u8>| bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes());
        kind.is_dir() && holds_key(&path) || kind.is_file() && std::fs::read(&path).is_ok_and(has)
    })
}

// SEC-058 SEC-063 SEC-088
#[tokio::test(flavor = "multi_thread")]
async fn what_a_link_leads_to_that_was_laid_while_a_call_waited_is_told_to_nobody_and_kept_nowhere() {
    let Some(played) = Played::new("os.symlink('KEY', 'NOTES/a.md')").await else { return };
    assert!(played.note().is_symlink(), "the program laid it");
    let sent = played.sent();
    assert!(!sent.contains(KEY), "{sent}");
    assert!(!holds_key(played.world.home.path()));
    assert_eq!(std::fs::read_to_string(played.private.path().join("id_ed25519")).unwrap(), KEY);
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test(flavor = "multi_thread")]
    async fn what_a_program_wrote_while_a_call_waited_is_told() {
        let Some(played) = Played::new("open('NOTES/a.md', 'w').write('other')").await else { return };
        let sent = played.sent();
        assert!(sent.contains("what is different now") && sent.contains("+other"), "{sent}");
        assert_eq!(std::fs::read_to_string(played.note()).unwrap(), "other");
    }
}
