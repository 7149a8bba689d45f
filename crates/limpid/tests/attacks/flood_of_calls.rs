//! Thousands of calls in one reply.

use serde_json::json;

use crate::attacks::obedient::{Attack, MARK, page};

// SEC-073
#[tokio::test]
async fn of_400_calls_in_a_reply_32_run() {
    let attack = Attack::new(
        |web| vec![("web_fetch", json!({ "url": format!("{web}/") }))],
        |_| (0..400).map(|n| ("write_file", json!({ "path": format!("{n}.txt"), "content": "x" }))).collect(),
        |_| page(MARK),
    )
    .await;
    attack.world.done(&["chat", &format!("read {}/", attack.web.url)]).await;
    let made = std::fs::read_dir(attack.world.home.path().join("outside/notes")).unwrap().count();
    assert_eq!(made, 32);
    assert!(attack.sent().contains("368 calls were not run"));
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn as_many_calls_as_work_needs_run() {
        let write = |n: u32| ("write_file", json!({ "path": format!("{n}.txt"), "content": "x" }));
        let attack = Attack::new(|_| (0..12).map(write).collect(), |_| Vec::new(), |_| page("tea")).await;
        attack.world.done(&["chat", "write them"]).await;
        assert_eq!(std::fs::read_dir(attack.world.home.path().join("workspace")).unwrap().count(), 12);
    }
}
