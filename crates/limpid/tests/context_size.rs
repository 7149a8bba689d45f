//! The sizes that are shown are those of what is sent, and a revision names it.
#![allow(clippy::unwrap_used)]

mod kit;

use kit::World;
use limpid_model::ExactCounter;
use limpid_prompt::TokenCounter as _;
use limpid_testkit::Recorded;
use serde_json::Value;

const MODEL: &str = "openai/gpt-5-mini";

const REPLIES: &str = r#"
[[reply]]
calls = [{ id = "t", name = "get_local_time" }]
[[reply]]
text = "Half past nine."
"#;

/// What a server that counts everything it is sent would count.
fn counted(call: &Recorded) -> u64 {
    let count = |text: &str| ExactCounter::O200K.count(text) as u64;
    let body = call.json();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut sum = list(&body["tools"]).iter().map(|tool| count(&tool["function"].to_string())).sum();
    for message in list(&body["messages"]) {
        sum += count(message["content"].as_str().unwrap_or_default());
        for made in list(&message["tool_calls"]) {
            let part = |name: &str| count(made["function"][name].as_str().unwrap());
            sum += part("name") + part("arguments");
        }
    }
    sum
}

// LES-001
#[tokio::test]
async fn the_tokens_that_are_shown_are_those_that_a_server_counts() {
    let world = World::new(REPLIES).await;
    for (said, conversation) in [("hi", "new"), ("and now?", "last")] {
        let mut words = vec!["prompt", "show", "--model", MODEL, "--say", said, "--json"];
        let mut chat = vec!["chat", "--model", MODEL];
        if conversation == "last" {
            words.extend(["--conversation", "last"]);
            chat.extend(["--conversation", "last"]);
        }
        let shown = world.json(&words).await;
        let before = world.recorder.calls().len();
        chat.push(said);
        world.done(&chat).await;
        let call = &world.recorder.calls()[before];
        assert_eq!(shown["tokens"]["counter"], "o200k_base");
        assert_eq!(shown["tokens"]["total"].as_u64(), Some(counted(call)), "{said}");

        // Per part: system text, history and message add up to it, but for tokens that a join is split into.
        let number = |value: &Value| value.as_u64().unwrap();
        let parts: Vec<u64> = shown["messages"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|message| message["parts"].as_array().unwrap().clone())
            .map(|part| number(&part["tokens"]))
            .collect();
        let sum = parts.iter().sum::<u64>() + number(&shown["tools"]["tokens"]);
        assert!(sum.abs_diff(counted(call)) <= 2 * parts.len() as u64, "{sum} of {}", counted(call));
    }
}

// PRO-051
#[tokio::test]
async fn revisions_are_compared_by_what_was_sent() {
    let world = World::new("[[reply]]\ntext = \"ok\"\n").await;
    world.done(&["chat", "hi"]).await;
    world.write("profiles/limpid/sections/honesty.md", "---\ntitle: H\nwhy: W\n---\nNever make things up.\n");
    world.done(&["chat", "hi"]).await;
    let log = world.json(&["prompt", "log", "--json"]).await;
    let shown = async |at: usize| {
        let shown = world.json(&["prompt", "show", log["requests"][at]["id"].as_str().unwrap(), "--json"]).await;
        shown["revision"].as_str().unwrap().to_owned()
    };
    let (newer, older) = (shown(0).await, shown(1).await);
    assert_ne!(newer, older);
    let diff = world.done(&["prompt", "diff", &older, &newer]).await;
    assert!(diff.contains("honesty") && diff.contains("+Never make things up."), "{diff}");
    assert_eq!(world.run(&["prompt", "diff", &older, "ffffffffffffffff"]).await.code, 2);
}
