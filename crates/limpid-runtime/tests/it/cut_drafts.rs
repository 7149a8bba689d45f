//! Drafts whose process dies on the way: what is known of them is said, and nothing is sent twice.

#![cfg(target_os = "linux")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use limpid_core::policy::{Destination, Effect};
use limpid_core::{DraftState, Labelled, Sentence, ToolClass, Trust};
use limpid_runtime::{Agent, Tool, ToolContext};
use limpid_store::DraftId;
use serde_json::{Map, Value};

use crate::kit::{Bench, all, dead_holder, last};

const SCRIPT: &str = r#"
[[reply]]
calls = [{ id = "m", name = "parcel", arguments = { to = "eve@example.com" } }]
[[reply]]
text = "Done."
"#;

const ID: DraftId = DraftId(1);

/// Where a parcel comes to grief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grief {
    Nowhere,
    BeforeItLeaves,
    OnTheWay,
    AfterItArrived,
}

/// Something that is sent, and says how far it has come.
struct Parcel {
    grief: Grief,
    marks: bool,
    sent: AtomicUsize,
}

#[async_trait]
impl Tool for Parcel {
    fn name(&self) -> &'static str {
        "parcel"
    }

    fn group(&self) -> &'static str {
        "test"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Send
    }

    fn effect(&self, _: &Value) -> Effect {
        self.class().into()
    }

    fn schema(&self) -> Map<String, Value> {
        let schema = serde_json::json!({"type": "object", "properties": {"to": {"type": "string"}}});
        schema.as_object().cloned().unwrap()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn marks_send_state(&self) -> bool {
        self.marks
    }

    fn destination(&self, arguments: &Value) -> Option<Destination> {
        arguments["to"].as_str().map(|to| Destination::Place(to.to_owned()))
    }

    async fn run(&self, context: &ToolContext, _: Value) -> Result<Labelled<String>, Sentence> {
        let comes_to_grief = |at: Grief| -> Result<(), Sentence> {
            if self.grief == at { Err(Labelled::new(format!("{at:?}"), Trust::Owner).into()) } else { Ok(()) }
        };
        comes_to_grief(Grief::BeforeItLeaves)?;
        context.leaves().await?;
        self.sent.fetch_add(1, Ordering::SeqCst);
        comes_to_grief(Grief::OnTheWay)?;
        context.arrived("it is there").await;
        comes_to_grief(Grief::AfterItArrived)?;
        Ok(Sentence::from("it is there, and a copy is kept").into())
    }
}

/// An agent with one draft of a parcel.
async fn drafted(grief: Grief) -> (Bench, Arc<Parcel>, Agent) {
    drafted_as(grief, true).await
}

/// The same of a parcel that says how far it has come, or nothing.
async fn drafted_as(grief: Grief, marks: bool) -> (Bench, Arc<Parcel>, Agent) {
    let bench = Bench::new(SCRIPT).await;
    let parcel = Arc::new(Parcel { grief, marks, sent: AtomicUsize::new(0) });
    let mut options = bench.options();
    options.tools = vec![Arc::clone(&parcel) as Arc<dyn Tool>];
    let agent = Agent::open(options).unwrap();
    all(agent.chat(last("send it")).await.unwrap()).await;
    assert_eq!(agent.drafts().list(false).await.unwrap().rows.len(), 1);
    (bench, parcel, agent)
}

async fn told(agent: &Agent) -> Vec<String> {
    agent.conversations().deliver_waiting().await.unwrap();
    agent.deliveries().unread().await.unwrap().rows.into_iter().map(|delivery| delivery.new.text).collect()
}

// SEC-041
#[tokio::test]
async fn each_step_of_a_draft_is_written_down_before_the_next() {
    let mut seen = Vec::new();
    for grief in [Grief::Nowhere, Grief::BeforeItLeaves, Grief::OnTheWay, Grief::AfterItArrived] {
        let (_bench, parcel, agent) = drafted(grief).await;
        agent.drafts().approve(ID, None).await.unwrap();
        let (_, steps) = agent.drafts().get(ID).await.unwrap();
        let steps: Vec<String> = steps
            .iter()
            .map(|step| match step.state {
                DraftState::Approved | DraftState::Sending => step.state.to_string(),
                _ => format!("{}: {}", step.state, step.detail),
            })
            .collect();
        seen.push(format!("{grief:?}, sent {} times\n  {}", parcel.sent.load(Ordering::SeqCst), steps.join("\n  ")));
    }
    insta::assert_snapshot!(seen.join("\n"));
}

/// Nobody knows of such a call when it leaves, so that it counts as on its way before it begins.
// SEC-041
#[tokio::test]
async fn what_says_nothing_of_its_way_is_on_it_from_the_start() {
    let (_bench, parcel, agent) = drafted_as(Grief::OnTheWay, false).await;
    agent.drafts().approve(ID, None).await.unwrap();
    let steps = agent.drafts().get(ID).await.unwrap().1.into_iter().map(|step| step.state);
    let expected = [DraftState::Open, DraftState::Approved, DraftState::Sending, DraftState::Failed];
    assert_eq!(steps.collect::<Vec<_>>(), expected);
    assert_eq!(parcel.sent.load(Ordering::SeqCst), 1);
}

/// The program may die before anything left as often as it likes: the owner is asked again, and what they say yes to in
/// the end is sent once.
// SEC-040 SEC-041
#[tokio::test]
async fn a_draft_that_was_approved_and_not_begun_waits_again() {
    let (bench, parcel, agent) = drafted(Grief::Nowhere).await;
    let hash = agent.drafts().get(ID).await.unwrap().0.new.hash;
    for _ in 0..2 {
        agent.store().keep_approval(ID, &hash, &dead_holder(), agent.now_ms()).await.unwrap();
        agent.jobs().serve_once(|_| {}).await.unwrap();
        assert_eq!(agent.drafts().get(ID).await.unwrap().0.state, DraftState::Open);
        bench.clock.forward(jiff::ToSpan::minutes(1));
    }
    let again = "Draft 1 is open: the program stopped before anything left, so it waits for you again";
    let told = told(&agent).await;
    assert_eq!(told.iter().filter(|text| text.starts_with(again)).count(), 2, "{told:?}");
    assert_eq!(agent.drafts().approve(ID, None).await.unwrap().state, DraftState::Sent);
    assert_eq!(parcel.sent.load(Ordering::SeqCst), 1);
}

// SEC-040 SEC-041
#[tokio::test]
async fn a_draft_that_was_on_its_way_is_of_unknown_outcome_and_not_sent_again() {
    let (_bench, parcel, agent) = drafted(Grief::Nowhere).await;
    let hash = agent.drafts().get(ID).await.unwrap().0.new.hash;
    let (store, now_ms) = (agent.store(), agent.now_ms());
    store.keep_approval(ID, &hash, &dead_holder(), now_ms).await.unwrap();
    store.move_draft(ID, DraftState::Sending, &dead_holder(), now_ms).await.unwrap();
    agent.jobs().serve_once(|_| {}).await.unwrap();
    let draft = agent.drafts().get(ID).await.unwrap().0;
    assert_eq!(draft.state, DraftState::Failed);
    assert!(draft.detail.starts_with("outcome unknown"), "{}", draft.detail);
    assert!(told(&agent).await.iter().any(|text| text.starts_with("Draft 1 failed: outcome unknown")));
    assert!(agent.drafts().approve(ID, None).await.is_err());
    assert_eq!(parcel.sent.load(Ordering::SeqCst), 0);
}
