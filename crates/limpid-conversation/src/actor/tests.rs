//! What becomes of a conversation whose actor fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use limpid_core::ToolClass;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence};
use limpid_model::Model;
use limpid_model::script::Script;
use limpid_model::scripted::ScriptedModel;
use limpid_services::directory::ConversationChoice;
use limpid_services::tools::{Tool, ToolContext};
use limpid_turn::Outcome;
use serde_json::{Map, Value};

use crate::test_kit::conversations;
use crate::{ChatRequest, Conversations, TurnEvent};

/// A tool whose calls bring down whoever looks at them, so many times.
struct Faulty(AtomicU32);

#[async_trait]
impl Tool for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn group(&self) -> &'static str {
        "test"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        self.class().into()
    }

    fn schema(&self) -> Map<String, Value> {
        Map::from_iter([("type".to_owned(), "object".into())])
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn check(&self, _: &Value) -> Result<(), Sentence> {
        let left = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        assert!(left.is_err(), "a fault of the tool");
        Ok(())
    }

    async fn run(&self, _: &ToolContext, _: Value) -> Result<Labelled<String>, Sentence> {
        Ok(Sentence::from("done").into())
    }
}

async fn last_event(conversations: &Conversations, conversation: ConversationChoice, text: &str) -> Option<TurnEvent> {
    let request = ChatRequest { conversation, text: text.to_owned(), ..ChatRequest::default() };
    let mut turn = conversations.chat(request).await.unwrap();
    let mut last = None;
    while let Some(event) = turn.next().await {
        last = Some(event);
    }
    // Far longer than it takes; without an end it would be for ever.
    let idle = conversations.wait_idle(turn.conversation());
    tokio::time::timeout(Duration::from_secs(20), idle).await.expect("nobody waits for an actor that is gone");
    last
}

async fn answers_after(faults: u32) -> Vec<String> {
    let home = tempfile::tempdir().unwrap();
    let says = |text: &str| format!("[[reply]]\ntext = \"{text}\"\n");
    let script = format!("[[reply]]\ncalls = [{{ id = \"a\", name = \"faulty\" }}]\n{}{}", says("One."), says("Two."));
    let model = Arc::new(ScriptedModel::new("one", Script::parse(&script).unwrap()));
    let tool = Arc::new(Faulty(AtomicU32::new(faults))) as Arc<dyn Tool>;
    let conversations = conversations(&home, model as Arc<dyn Model>, &[tool], "[tools]\ndefer = false\n");
    let mut seen = Vec::new();
    for (choice, text) in [(ConversationChoice::New, "do it"), (ConversationChoice::Last, "and now?")] {
        seen.push(match last_event(&conversations, choice, text).await {
            Some(TurnEvent::Interrupted(why)) => why,
            Some(TurnEvent::Done { outcome: Outcome::Answered { .. }, .. }) => "answered".to_owned(),
            other => format!("{other:?}"),
        });
    }
    let here = conversations.deps().directory.find(&ConversationChoice::Last).await.unwrap().unwrap().id;
    let rows = conversations.deps().store().messages(&here, None).await.unwrap().rows;
    seen.extend(rows.iter().map(|row| row.typed.as_deref().unwrap_or(&row.message.text).to_owned()));
    seen
}

#[tokio::test]
async fn a_turn_that_panics_is_over_for_whoever_waits_and_the_next_message_carries_it_on() {
    assert_eq!(
        answers_after(1).await,
        [
            "internal error; the message is kept, and the next one carries on from here",
            "answered",
            "do it",
            "",
            "done",
            "One.",
            "and now?",
            "Two.",
        ]
    );
}

#[tokio::test]
async fn a_turn_that_panics_again_when_it_is_carried_on_is_given_up_and_the_next_message_is_answered() {
    let seen = answers_after(2).await;
    assert_eq!(seen[1], "answered", "{seen:?}");
    assert_eq!(seen[2], "do it");
}
