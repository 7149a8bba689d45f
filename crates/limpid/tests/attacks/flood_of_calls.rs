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
    let made = std::fs::read_dir(attack.world.home.path().join("workspace")).unwrap().count();
    assert_eq!(made, 32);
    assert!(attack.sent().contains("368 calls were not run"));
}
