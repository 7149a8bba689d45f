//! What is looked at is what is sent: the bytes of the next request, and what is different from the last one.

use crate::kit::{Bench, say};
use limpid_runtime::{Agent, ConversationChoice, EventKind, Input, Preview, PreviewRequest};

const REPLIES: &str = "[[reply]]\ntext = \"Hello.\"\n[[reply]]\ntext = \"Again.\"\n";

async fn next(agent: &Agent, text: &str) -> Preview {
    let conversation = ConversationChoice::Last;
    agent.preview(PreviewRequest { conversation, text: text.to_owned(), ..PreviewRequest::default() }).await.unwrap()
}

async fn slash(agent: &Agent, text: &str) -> String {
    match agent.command(&ConversationChoice::Last, text).await.unwrap() {
        Input::Reply(reply) => reply.text,
        Input::Message(text) => panic!("{text} is no command"),
    }
}

// OLLM-114 PRO-050
#[tokio::test]
async fn the_payload_that_is_shown_is_the_payload_that_is_sent() {
    for profile in ["limpid", "ollm", "kai", "koshi", "picoclaw"] {
        let mut bench = Bench::new(REPLIES).await;
        bench.config.agent.profile = profile.to_owned();
        bench.write("workspace/SOUL.md", "Calm.\n");
        let agent = bench.agent();
        agent.memory().remember("tea", "Likes oolong", limpid_core::Category::Preference, "test").await.unwrap();
        say(&agent, "hi").await;
        let mut bus = agent.subscribe();
        let shown = next(&agent, "what tea?").await;
        say(&agent, "what tea?").await;
        let sent = &bench.server.calls()[1];
        let payload = shown.payload.unwrap();
        assert_eq!(payload.body, sent.text(), "{profile}");
        assert!(payload.target.ends_with("/v1/chat/completions"), "{}", payload.target);
        let texts: Vec<String> = sent.texts().into_iter().map(|sent| sent.text).collect();
        let read = shown.prompt.messages().iter().map(limpid_prompt::PromptMessage::text);
        assert_eq!(read.collect::<Vec<_>>(), texts);
        // The hash is the one that events and the store go by.
        while let Ok(event) = bus.try_recv() {
            if let EventKind::SystemPromptUpdated { hash, .. } = event.change {
                assert_eq!(hash, shown.prompt.system_hash(), "{profile}");
            }
        }
    }
}

// OLLM-114
#[tokio::test]
async fn a_look_says_what_is_different_from_the_last_turn() {
    let mut bench = Bench::new(REPLIES).await;
    bench.config.agent.profile = "ollm".to_owned();
    let agent = bench.agent();
    let first = next(&agent, "hi").await;
    assert_eq!(first.since, None, "nothing was sent yet");
    say(&agent, "hi").await;
    let unchanged = next(&agent, "and?").await.since.unwrap().to_string();
    slash(&agent, "/goal create Build a login").await;
    let with_goal = next(&agent, "and?").await.since.unwrap().to_string();
    let summary = agent.preview(PreviewRequest {
        conversation: ConversationChoice::Last,
        path: Some("summarize".to_owned()),
        ..PreviewRequest::default()
    });
    assert_eq!(summary.await.unwrap().since, None, "nothing was sent on that path");
    let told = |text: &str| text.split_once(": ").unwrap().1.to_owned();
    insta::assert_snapshot!([&unchanged, &with_goal].map(|text| told(text)).join("\n"));
    let shown = slash(&agent, "/prompt").await;
    assert!(shown.contains("; revision of its fixed parts: "), "{shown}");
    assert!(shown.contains("message 0 (system) of path chat-remote: "), "the budget and its parts: {shown}");
    assert!(shown.lines().last().unwrap().starts_with("Since request r"), "{shown}");
    let payload = slash(&agent, "/prompt payload").await;
    assert!(payload.contains("/v1/chat/completions\n{"), "{payload}");
}
