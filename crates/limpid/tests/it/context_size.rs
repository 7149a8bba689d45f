//! The sizes that are shown are those of what is sent, and a revision names it.

use crate::kit::World;
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

/// A world whose model has a window of 4,096 tokens and answers every message at some length.
async fn small() -> World {
    let reply = "[[reply]]\ntext = \"".to_owned() + &"The pump runs and the gate is shut. ".repeat(25) + "\"\n";
    let world = World::new(&reply.repeat(30)).await;
    world.write("models.toml", "[[model]]\nnames = [\"openai/scripted\"]\nwindow = 4096\n");
    world
}

fn message(n: usize) -> String {
    format!("Message {n}: {}", "what of the pump and the gate? ".repeat(20))
}

// LES-080 OLLM-089
#[tokio::test]
async fn one_message_waits_for_the_compaction_that_its_answer_called_for() {
    let world = small().await;
    let mut compacted = None;
    for n in 1..=12 {
        let before = world.recorder.calls().len();
        let conversation = if n == 1 { "new" } else { "last" };
        world.done(&["chat", "--conversation", conversation, &message(n)]).await;
        let calls = world.recorder.calls();
        assert!(calls[before].user().starts_with(&message(n)), "the answer comes first, from the first request on");
        if let Some(summary) = calls.get(before + 1) {
            compacted = Some(summary.text());
            break;
        }
    }
    assert!(compacted.unwrap().contains("Summarise this part"));
    let context = &world.json(&["conversation", "context", "--json"]).await["context"];
    let attempt = &context["attempts"][0];
    assert_eq!((attempt["kind"].as_str(), &attempt["failure"]), (Some("compaction"), &Value::Null));
    assert_eq!(context["digests"].as_array().unwrap().len(), 1, "{context}");
}

// LES-080 LES-013 OLLM-102
#[tokio::test]
async fn off_a_full_window_is_an_error_that_names_the_sizes_and_no_summary_is_asked_for() {
    let world = small().await;
    world.write("limpid.toml", "[window]\ncompaction = \"off\"\n");
    world.done(&["chat", &message(1)]).await;
    let mut refused = None;
    for n in 2..=12 {
        let run = world.run(&["chat", "--conversation", "last", &message(n)]).await;
        if run.code != 0 {
            refused = Some(run.err);
            break;
        }
    }
    let refused = refused.unwrap();
    for part in ["system ", "recent ", "reserve ", "can use 3482", "compaction is off"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    assert!(world.recorder.calls().iter().all(|call| !call.text().contains("Summarise")));
    // What the person asks for is done all the same.
    world.done(&["conversation", "compact"]).await;
    world.done(&["chat", "--conversation", "last", "And now?"]).await;
}
