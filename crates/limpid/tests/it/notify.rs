//! Being told something, as a person sets it up: the program, and a browser behind a push service on loopback.

use crate::kit::World;
use limpid_testkit::Browser;
use limpid_testkit::browser::signed_claims;

// KAI-070 SUR-010
#[tokio::test]
async fn a_browser_subscribes_is_told_and_unsubscribes() {
    let world = World::new("[[reply]]\ntext = \"Hello.\"\n").await;
    let nowhere = world.run(&["notify", "test"]).await;
    assert_eq!((nowhere.code, nowhere.out.as_str()), (2, ""), "{}", nowhere.err);
    assert!(world.run(&["notify", "list"]).await.err.contains("You are told nowhere."));
    let key = world.done(&["notify", "key"]).await;
    let wrong = world.pipe(&["notify", "subscribe"], "{}").await;
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("this is no push subscription"), "{}", wrong.err);

    let browser = Browser::new();
    let endpoint = format!("{}/push/1", world.recorder.url());
    let subscribed = world.pipe(&["notify", "subscribe"], &browser.subscription(&endpoint)).await;
    assert_eq!(subscribed.code, 0, "{}", subscribed.err);
    let listed = world.json(&["notify", "list", "--json"]).await["notify"].clone();
    assert_eq!(listed["browsers"][0]["service"], world.recorder.url());
    let id = listed["browsers"][0]["id"].as_str().unwrap().to_owned();
    world.recorder.will_answer(201, "");
    assert_eq!(world.done(&["notify", "test"]).await, "OK  web push\n");
    let pushed = world.recorder.requests().remove(0);
    assert_eq!(signed_claims(pushed.header("authorization").unwrap()).1, key.trim());
    let told = r#"{"id":"test","title":"Limpid","body":"This is what a notice looks like."}"#;
    assert_eq!(browser.read(&pushed.body), told);

    world.recorder.will_answer(500, "");
    let failed = world.run(&["notify", "test"]).await;
    assert_eq!((failed.code, failed.out.starts_with("!!  web push: ")), (6, true), "{}", failed.out);
    assert_eq!(world.run(&["notify", "unsubscribe", &id]).await.code, 0);
    assert_eq!(world.run(&["notify", "unsubscribe", &id]).await.code, 2);
    let data = world.home.path().join("data/push");
    let left: Vec<_> = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["vapid.key"]);
}
