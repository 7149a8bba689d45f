//! A link to a device that never ends, a pipe that nobody writes to, and a page that nests without end.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use crate::attacks::obedient::{Attack, page};
use crate::kit::World;

// SEC-090 SEC-091
#[tokio::test]
async fn nothing_that_never_ends_holds_the_program() {
    let attack = Attack::new(
        |web| {
            vec![
                ("read_file", json!({ "path": "/dev/zero" })),
                ("read_file", json!({ "path": "zeros" })),
                ("read_file", json!({ "path": "pipe" })),
                ("write_file", json!({ "path": "/dev/zero", "content": "x" })),
                ("web_fetch", json!({ "url": format!("{web}/deep") })),
            ]
        },
        |_| Vec::new(),
        |_| page(&"<div>".repeat(200_000)),
    )
    .await;
    let workspace = attack.world.home.path().join("workspace");
    std::fs::create_dir_all(&workspace).unwrap();
    std::os::unix::fs::symlink("/dev/zero", workspace.join("zeros")).unwrap();
    mknodat(CWD, workspace.join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let asked = format!("read {}/deep", attack.web.url);
    let words = ["chat", &asked];
    let done = tokio::time::timeout(Duration::from_secs(60), attack.world.done(&words)).await;
    assert_eq!(done.expect("it hangs").trim(), "Done.");
    assert!(attack.sent().contains("nests its parts more than 512 deep"));
}

/// Files of the home that the program reads, in the order in which it would miss them.
const READ: [&str; 14] = [
    "limpid.toml",
    "models.toml",
    "soul.md",
    "safety.md",
    "data/ingest.token",
    "profiles/limpid/profile.toml",
    "profiles/limpid/sections/acting.md",
    "profiles/own/profile.toml",
    "workspace/AGENT.md",
    "workspace/USER.md",
    "workspace/memory/MEMORY.md",
    "workspace/skills/tea/SKILL.md",
    "skills/tea/SKILL.md",
    "mail/me@example.com.toml",
];

/// What may stand where a file is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pipe,
    Device,
    Socket,
    Folder,
    /// Two gigabytes of nothing.
    Huge,
    /// A file that somebody writes anew all the time.
    Changing,
}

const KINDS: [Kind; 6] = [Kind::Pipe, Kind::Device, Kind::Socket, Kind::Folder, Kind::Huge, Kind::Changing];

/// Whoever changes a file, until this is dropped.
struct Writer(Arc<AtomicBool>, Option<JoinHandle<()>>);

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.take().unwrap().join().unwrap();
    }
}

impl Kind {
    fn put(self, path: &Path) -> Option<Writer> {
        match self {
            Self::Pipe => mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap(),
            Self::Device => std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
            Self::Socket => mknodat(CWD, path, FileType::Socket, Mode::RWXU, 0).unwrap(),
            Self::Folder => std::fs::create_dir(path).unwrap(),
            Self::Huge => File::create(path).unwrap().set_len(1 << 31).unwrap(),
            Self::Changing => {
                let mut file = File::create(path).unwrap();
                let is_over = Arc::new(AtomicBool::new(false));
                let over = Arc::clone(&is_over);
                let writes = std::thread::spawn(move || {
                    // A megabyte over and over: its length and its bytes are never the same for long.
                    for letter in (b'a'..=b'z').cycle().take_while(|_| !over.load(Ordering::Relaxed)) {
                        file.rewind().unwrap();
                        file.set_len(0).unwrap();
                        file.write_all(&[letter; 1 << 20]).unwrap();
                    }
                });
                return Some(Writer(is_over, Some(writes)));
            }
        }
        None
    }
}

// SEC-090
#[tokio::test]
async fn nothing_at_any_path_that_is_read_holds_a_command() {
    for name in READ {
        let world = World::new("[[reply]]\ntext = \"ok\"\n").await;
        let path = world.home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        for kind in KINDS {
            let held = kind.put(&path);
            for words in [["chat", "hi"].as_slice(), &["doctor"]] {
                // Whether it works without that file is another matter.
                let ended = tokio::time::timeout(Duration::from_secs(60), world.run(words)).await;
                assert!(ended.is_ok(), "{words:?} hangs at {name}: {kind:?}");
            }
            drop(held);
            if kind == Kind::Folder { std::fs::remove_dir(&path) } else { std::fs::remove_file(&path) }.unwrap();
        }
    }
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn a_link_to_a_file_beside_it_and_a_page_of_many_elements_are_read() {
        let attack = Attack::new(
            |web| {
                vec![
                    ("read_file", json!({ "path": "link.md" })),
                    ("web_fetch", json!({ "url": format!("{web}/long") })),
                ]
            },
            |_| Vec::new(),
            |_| page(&"<div>green</div>".repeat(2000)),
        )
        .await;
        attack.world.write("workspace/tea.md", "Oolong, 90 degrees");
        std::os::unix::fs::symlink("tea.md", attack.world.home.path().join("workspace/link.md")).unwrap();
        attack.world.done(&["chat", &format!("read {}/long", attack.web.url)]).await;
        assert!(attack.sent().contains("Oolong, 90 degrees") && attack.sent().contains("green"));
    }
}
