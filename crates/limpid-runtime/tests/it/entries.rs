//! One builder serves every way in: a message of the chat, one that another process accepted, and a later start of the
//! program make the same request.

use crate::kit::{Bench, say};
use limpid_core::Trust;
use limpid_runtime::{Agent, ConversationChoice};
use limpid_store::NewInbound;

const REPLIES: &str = "[[reply]]\ntext = \"One.\"\n[[reply]]\ntext = \"Two.\"\n[[reply]]\ntext = \"Three.\"\n";

/// How the second message of a conversation comes in.
#[derive(Clone, Copy, PartialEq)]
enum Entry {
    /// Somebody waits for the answer.
    Chat,
    /// Another process has accepted it and is gone; whoever serves answers it.
    Accepted,
}

/// A conversation of three messages: the second comes in by this entry, the third after another start.
async fn requests(entry: Entry) -> Vec<String> {
    let mut bench = Bench::new(REPLIES).await;
    bench.config.tools.defer = true;
    let agent = bench.agent();
    say(&agent, "hi").await;
    let id = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
    match entry {
        Entry::Chat => {
            say(&agent, "remember this").await;
        }
        Entry::Accepted => {
            let text = "remember this".to_owned();
            let now_ms = agent.now_ms();
            let new = NewInbound {
                conversation: id.clone(),
                key: None,
                text,
                trust: Trust::Owner,
                typed: true,
                base: limpid_store::Base::Workspace,
                now_ms,
            };
            agent.store().accept(new).await.unwrap();
            let serving: Agent = bench.agent();
            serving.conversations().resume().await.unwrap();
            serving.conversations().wait_idle(&id).await;
        }
    }
    agent.conversations().wait_idle(&id).await;
    say(&bench.agent(), "and now?").await;
    bench.server.calls().iter().map(limpid_testkit::Recorded::text).collect()
}

/// The schemas of a request, byte for byte.
fn tools(body: &str) -> &str {
    &body[body.find("\"tools\":").unwrap()..]
}

// LES-014 LES-022
#[tokio::test]
async fn equal_inputs_make_equal_requests_whichever_way_a_message_comes_in() {
    let chat = requests(Entry::Chat).await;
    let accepted = requests(Entry::Accepted).await;
    assert_eq!(chat.len(), 3);
    assert_eq!(chat, accepted);
    assert!(chat.iter().all(|body| tools(body) == tools(&chat[0])), "one order of tools for the whole session");
}
