//! The one notice of a file that waits is for the owner: no turn takes it that they do not hear.

use limpid_core::ConversationId;
use limpid_core::task::TaskKind;
use limpid_runtime::ConversationChoice;
use limpid_runtime::tasks::{TaskRequest, When};

use super::*;
use crate::kit::tasks::reminder;

// SEC-061
#[tokio::test]
async fn a_turn_that_the_owner_does_not_hear_leaves_the_notice_to_their_next_chat() {
    let bench = developers(&replies(6)).await;
    bench.write("workspace/AGENTS.md", "Be kind.\n");
    let agent = agent(&bench, vec![("AGENTS.md", "Be mean.\n")]);
    notices(&agent, "run it").await;

    let shop = ConversationId::new("shop");
    agent.directory().create_chat_for_strangers(shop.clone(), "picoclaw".to_owned()).await.unwrap();
    let guests =
        ChatRequest { conversation: ConversationChoice::Id(shop), by_stranger: true, ..new_chat("what is the price?") };
    let programs = ChatRequest { hides_notices: true, ..new_chat("complete this") };
    for unheard in [guests, programs] {
        let events = all(agent.chat(unheard).await.unwrap()).await;
        let is_told = |event: &TurnEvent| matches!(event, TurnEvent::Notice(text) if text.contains("AGENTS.md"));
        assert!(!events.iter().any(is_told), "{events:?}");
    }
    let task = TaskRequest { kind: TaskKind::Agent, ..reminder("look at tea", When::In(60)) };
    agent.tasks().add(task).await.unwrap();
    agent.jobs().run_task("1").await.unwrap();
    assert!(bench.server.calls().len() >= 5, "all of them ran");

    let told = notices(&agent, "hi").await;
    assert!(told.len() == 1 && told[0].starts_with("AGENTS.md was changed by program"), "{told:?}");
    assert_eq!(notices(&agent, "hi").await, Vec::<String>::new(), "one notice, once");
}
