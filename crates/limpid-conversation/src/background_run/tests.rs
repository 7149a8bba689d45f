//! Runs that nobody waits for.

use std::sync::Arc;

use limpid_core::FailureClass;
use limpid_model::script::Script;
use limpid_model::scripted::ScriptedModel;
use limpid_store::{ConversationKind, Conversations, SqliteOptions, SqliteStore};

use super::*;
use crate::test_kit::conversations;

fn model(script: &str) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::new("one", Script::parse(script).unwrap()))
}

fn agent(home: &tempfile::TempDir, model: &Arc<ScriptedModel>) -> crate::Conversations {
    conversations(home, Arc::clone(model) as Arc<dyn limpid_model::Model>, &[], "")
}

fn task(key: &str) -> BackgroundRun {
    BackgroundRun {
        key: key.to_owned(),
        path: "task".to_owned(),
        mode: None,
        spender: Spender::Background,
        profile: None,
        model: None,
        audience: Audience::Owner,
        text: "Water the plants.".to_owned(),
        trust: Trust::Outside,
    }
}

// KAI-073 SEC-041
#[tokio::test]
async fn the_same_key_is_the_same_run_and_stands_in_no_list() {
    let home = tempfile::tempdir().unwrap();
    let model = model("[[reply]]\ntext = \"Watered.\"\nusage = { input = 7, output = 2 }\n");
    let first = agent(&home, &model);
    let (one, two) = tokio::join!(first.run(task("a-1")), first.run(task("a-1")));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!((one.answer.as_deref(), one.requests, one.usage.input), (Some("Watered."), 1, 7));
    assert_eq!((one.conversation == two.conversation, one.trust, one.decision), (true, Trust::Outside, None));
    assert!(!one.inputs.unwrap().interactive);
    drop(first);

    let again = agent(&home, &model).run(task("a-1")).await.unwrap();
    assert_eq!((&again.conversation, again.answer.as_deref()), (&one.conversation, Some("Watered.")));
    assert_eq!(model.sent().len(), 1);

    let store = SqliteStore::open(home.path().join("data/limpid.db"), SqliteOptions::default()).unwrap();
    assert!(store.conversations(50).await.unwrap().rows.is_empty());
    let run = store.conversation(&one.conversation).await.unwrap().unwrap();
    assert_eq!((run.kind, run.messages), (ConversationKind::Run, 2));
}

// LES-034
#[tokio::test]
async fn a_failure_is_told_with_its_class() {
    let home = tempfile::tempdir().unwrap();
    let model = model("[[reply]]\nstatus = 401\n");
    let end = agent(&home, &model).run(task("b-1")).await.unwrap();
    assert!(matches!(end.outcome, Outcome::Failed { class: FailureClass::Key, .. }), "{:?}", end.outcome);
    assert_eq!(end.answer, None);
}

// KAI-073 SEC-041
#[tokio::test]
async fn a_run_whose_message_was_kept_and_that_never_began_is_answered_by_no_chat() {
    let home = tempfile::tempdir().unwrap();
    let model = model("[[reply]]\ntext = \"Watered.\"\n");
    let agent = agent(&home, &model);
    let run = task("c-1");
    let conversation = agent.run_conversation(&run).await.unwrap().id;
    let kept = NewInbound {
        conversation: conversation.clone(),
        key: Some(conversation.to_string()),
        text: run.text.clone(),
        trust: run.trust,
        typed: false,
        base: limpid_store::Base::Workspace,
        now_ms: 1,
    };
    agent.deps.store().accept(kept).await.unwrap();
    agent.wake(&conversation);
    agent.wait_idle(&conversation).await;
    assert_eq!(model.sent().len(), 0);
    let end = agent.run(run).await.unwrap();
    assert_eq!((end.answer.as_deref(), model.sent().len()), (Some("Watered."), 1));
    assert!(!end.inputs.unwrap().interactive);
}
