//! Two equal keys in the arguments of a call: the first is shown, the last one runs.

use serde_json::json;

use crate::attacks::obedient::{Attack, page};

// SEC-074
#[tokio::test]
async fn a_call_that_can_be_read_in_two_ways_does_not_run() {
    let twice = r#"{"path":"harmless.md","content":"a","p\u0061th":"evil.md"}"#;
    let attack = Attack::new(|_| vec![("write_file", json!(twice))], |_| Vec::new(), |_| page("tea")).await;
    attack.world.done(&["chat", "write it"]).await;
    let workspace = attack.world.home.path().join("workspace");
    assert!(!workspace.join("evil.md").exists() && !workspace.join("harmless.md").exists());
    assert!(attack.sent().contains("comes twice"), "{}", attack.sent());
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn a_call_that_can_be_read_in_one_way_runs() {
        let once = r#"{"p\u0061th":"tea.md","content":"a"}"#;
        let attack = Attack::new(|_| vec![("write_file", json!(once))], |_| Vec::new(), |_| page("tea")).await;
        attack.world.done(&["chat", "write it"]).await;
        let written = std::fs::read_to_string(attack.world.home.path().join("workspace/tea.md")).unwrap();
        assert_eq!(written, "a");
    }
}
