//! What a file holds, what it is called and where it leads, in a place where strangers' text may be.

use serde_json::json;

use super::{CANARY, Caller, everything, told};

// SEC-051
#[tokio::test]
async fn whatever_a_low_place_holds_is_read_in_a_boundary() {
    let theirs = tempfile::tempdir().unwrap();
    let folder = theirs.path().display().to_string();
    let config = everything("http://127.0.0.1:9") + &format!("[files]\nread = [\"{folder}\"]\n");
    let caller = Caller::new(&config).await;
    let agent = caller.bench.agent();
    caller.bench.write("outside/text.md", CANARY);
    caller.bench.write(&format!("outside/named/{CANARY}"), "");
    caller.bench.write("outside/binary", &format!("\0{CANARY}"));
    std::fs::write(theirs.path().join(CANARY), CANARY).unwrap();
    #[cfg(unix)]
    for (link, to) in [("loop", "loop"), ("away", "/etc/canary7731"), ("none", CANARY), ("in", "named/canary7731/x")] {
        std::os::unix::fs::symlink(to, caller.bench.home.path().join("outside").join(link)).unwrap();
    }
    let mut rows = Vec::new();
    for name in ["text.md", "named", "binary", "loop", "away", "none", "in", "nothing"] {
        let path = format!("outside/{name}");
        let calls = [
            ("read_file", json!({ "path": path })),
            ("list_dir", json!({ "path": path })),
            ("edit_file", json!({ "path": path, "old_text": "not there", "new_text": "x" })),
            ("append_file", json!({ "path": format!("{path}/x.txt"), "content": "x" })),
            ("write_file", json!({ "path": format!("{path}/x.txt"), "content": "x" })),
            ("record_artifact", json!({ "path": path, "action": "created" })),
        ];
        for (tool, arguments) in calls {
            rows.push((format!("{tool} of {name}"), caller.shows(&agent, tool, arguments).await));
        }
    }
    rows.push((
        "list_dir of a folder of others".to_owned(),
        caller.shows(&agent, "list_dir", json!({ "path": folder })).await,
    ));
    insta::assert_snapshot!(told(&rows));
}
