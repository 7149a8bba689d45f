//! Messages that come to a turn which has them already.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass, Trust};
use limpid_model::Model;
use limpid_model::script::Script;
use limpid_model::scripted::ScriptedModel;
use limpid_services::directory::ConversationChoice;
use limpid_services::tools::{Tool, ToolContext};
use limpid_store::NewInbound;
use limpid_turn::Outcome;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use super::*;
use crate::ChatRequest;
use crate::actors::Command;
use crate::test_kit::conversations;

/// A tool that tells when it runs and waits to be let go on.
struct Step {
    running: Semaphore,
    go_on: Semaphore,
}

#[async_trait]
impl Tool for Step {
    fn name(&self) -> &'static str {
        "step"
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

    async fn run(&self, _: &ToolContext, _: Value) -> Result<Labelled<String>, Sentence> {
        self.running.add_permits(1);
        self.go_on.acquire().await.unwrap().forget();
        Ok(Sentence::from("done").into())
    }
}

/// Two deliveries of a message may both be accepted before a border places it, and the turn may hear of the second one
/// behind that border.
// LES-145
#[tokio::test]
async fn a_second_delivery_that_is_heard_of_behind_the_border_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let call = |id: &str| format!("[[reply]]\ncalls = [{{ id = \"{id}\", name = \"step\" }}]\n");
    let script = format!("{}{}[[reply]]\ntext = \"Done.\"\n", call("a"), call("b"));
    let model = Arc::new(ScriptedModel::new("one", Script::parse(&script).unwrap()));
    let step = Arc::new(Step { running: Semaphore::new(0), go_on: Semaphore::new(0) });
    let agent = conversations(
        &home,
        Arc::clone(&model) as Arc<dyn Model>,
        &[Arc::clone(&step) as Arc<dyn Tool>],
        "[tools]\ndefer = false\n",
    );
    let mut first = agent.chat(ChatRequest { text: "do it".to_owned(), ..ChatRequest::default() }).await.unwrap();
    step.running.acquire().await.unwrap().forget();

    let conversation = first.conversation().clone();
    let key = Some("update 1".to_owned());
    let text = "and quickly".to_owned();
    let new = NewInbound {
        conversation: conversation.clone(),
        key: key.clone(),
        text: text.clone(),
        trust: Trust::Owner,
        typed: true,
        base: limpid_store::Base::Workspace,
        now_ms: 0,
    };
    let inbound = agent.deps().store().accept(new).await.unwrap().inbound;
    let here = ConversationChoice::Id(conversation.clone());
    agent.chat(ChatRequest { conversation: here, text, key, ..ChatRequest::default() }).await.unwrap();
    step.go_on.add_permits(1);
    step.running.acquire().await.unwrap().forget();
    agent.command(&conversation, Command::Message { inbound, listener: None, path: None });
    step.go_on.add_permits(1);

    let mut last = None;
    while let Some(event) = first.next().await {
        last = Some(event);
    }
    assert!(matches!(last, Some(TurnEvent::Done { outcome: Outcome::Answered { .. }, .. })), "{last:?}");
    let rows = agent.deps().store().messages(&conversation, None).await.unwrap().rows;
    let said: Vec<&str> = rows.iter().map(|row| row.typed.as_deref().unwrap_or(&row.message.text)).collect();
    assert_eq!(said, ["do it", "", "done", "and quickly", "", "done", "Done."]);
    assert_eq!(model.sent().len(), 3);
}
