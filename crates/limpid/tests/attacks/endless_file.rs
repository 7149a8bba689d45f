//! A link to a device that never ends, a pipe that nobody writes to, and a page that nests without end.

use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use crate::attacks::obedient::{Attack, page};

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
