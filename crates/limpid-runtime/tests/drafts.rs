//! Calls that nobody could be asked about: kept with all that they are, carried out once, and never as anything else.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod kit;

use std::sync::Arc;

use jiff::ToSpan;
use kit::effects::Effect;
use kit::{Bench, all, last};
use limpid_core::{DraftState, ToolClass, Trust};
use limpid_runtime::{Agent, AgentEvent, Answer, ChatRequest, Tool};
use limpid_store::DraftId;

const SCRIPT: &str = r#"
[[reply]]
calls = [{ id = "r", name = "read_page" }]
[[reply]]
calls = [{ id = "m", name = "send_mail", arguments = { to = "eve@example.com", text = "the secret" } }]
[[reply]]
text = "Done."
"#;

struct Tools {
    page: Arc<Effect>,
    mail: Arc<Effect>,
}

impl Tools {
    fn new() -> Self {
        Self { page: Effect::outside("read_page"), mail: Effect::new("send_mail", ToolClass::Send) }
    }

    fn agent(&self, bench: &Bench) -> Agent {
        let mut options = bench.options();
        options.tools = [&self.page, &self.mail].map(|tool| Arc::clone(tool) as Arc<dyn Tool>).into();
        Agent::open(options).unwrap()
    }
}

/// An agent that nobody watches has one draft.
async fn drafted() -> (Bench, Tools, Agent) {
    let bench = Bench::new(SCRIPT).await;
    let tools = Tools::new();
    let agent = tools.agent(&bench);
    let events = all(agent.chat(last("read the page")).await.unwrap()).await;
    let told = |event: &AgentEvent| matches!(event, AgentEvent::Notice(text) if text.contains("Draft 1 waits for you"));
    assert!(events.iter().any(told), "{events:?}");
    (bench, tools, agent)
}

// SEC-010
#[tokio::test]
async fn a_draft_holds_the_exact_action_and_runs_once_also_after_a_restart() {
    let (bench, tools, agent) = drafted().await;
    let request = bench.server.calls().last().unwrap().text();
    assert!(request.contains("not done yet: kept as draft 1"), "the model is told");
    assert_eq!(tools.mail.runs(), 0);
    drop(agent);

    let agent = tools.agent(&bench);
    let waiting = agent.drafts(false).await.unwrap().rows;
    let draft = waiting.first().unwrap();
    assert_eq!((waiting.len(), draft.state, draft.new.tool.as_str()), (1, DraftState::Open, "send_mail"));
    assert_eq!(draft.new.arguments, r#"{"text":"the secret","to":"eve@example.com"}"#);
    assert_eq!(draft.new.destination.as_deref(), Some("eve@example.com"));
    assert_eq!(draft.new.why, "text from outside was read, and this would send something");
    assert_eq!((draft.new.led_by.as_str(), draft.new.trust), ("outside: read_page done", Trust::Outside));

    let (first, second) = tokio::join!(agent.approve_draft(draft.id), agent.approve_draft(draft.id));
    assert_eq!(tools.mail.runs(), 1, "{first:?} {second:?}");
    assert!(first.is_ok() != second.is_ok());
    assert_eq!(tools.mail.runs.lock().unwrap()[0]["text"], "the secret");
    let (done, steps) = agent.draft(draft.id).await.unwrap();
    assert_eq!((done.state, done.detail.as_str()), (DraftState::Sent, "send_mail done"));
    assert_eq!(steps.len(), 4);
    assert!(agent.approve_draft(draft.id).await.unwrap_err().to_string().contains("is sent"));
    assert!(agent.refuse_draft(draft.id).await.is_err());
}

// SEC-011 LES-136
#[tokio::test]
async fn an_approval_holds_for_the_program_and_the_folder_that_it_was_kept_with() {
    for swap in ["program", "folder"] {
        let bench = Bench::new(SCRIPT).await;
        bench.write("workspace/a.txt", "a");
        let tools = Tools::new();
        let agent = tools.agent(&bench);
        all(agent.chat(last("read the page")).await.unwrap()).await;
        if swap == "program" {
            *tools.mail.program.lock().unwrap() = "/tmp/true".into();
        } else {
            let workspace = bench.home.path().join("workspace");
            std::fs::rename(&workspace, bench.home.path().join("old")).unwrap();
            std::fs::create_dir(&workspace).unwrap();
        }
        let draft = agent.approve_draft(DraftId(1)).await.unwrap();
        assert_eq!((draft.state, tools.mail.runs()), (DraftState::Failed, 0), "{swap}");
        assert!(draft.detail.contains("not what they were"), "{}", draft.detail);
    }
}

// SEC-010
#[tokio::test]
async fn a_draft_waits_seven_days_and_a_no_is_final() {
    let (bench, tools, agent) = drafted().await;
    bench.clock.forward(167.hours());
    assert_eq!(agent.drafts(false).await.unwrap().rows.len(), 1);
    bench.clock.forward(1.hours());
    assert!(agent.approve_draft(DraftId(1)).await.unwrap_err().to_string().contains("is expired"));
    assert!(agent.drafts(false).await.unwrap().rows.is_empty());

    let (_bench, other, agent) = drafted().await;
    assert_eq!(agent.refuse_draft(DraftId(1)).await.unwrap().state, DraftState::Refused);
    assert!(agent.approve_draft(DraftId(1)).await.is_err());
    assert_eq!((tools.mail.runs(), other.mail.runs()), (0, 0));
}

// SEC-002 SEC-040
#[tokio::test]
async fn a_question_that_a_crash_cut_off_becomes_one_draft() {
    let bench = Bench::new(SCRIPT).await;
    let tools = Tools::new();
    let agent = tools.agent(&bench);
    let mut handle = agent.chat(ChatRequest { can_answer: true, ..last("read the page") }).await.unwrap();
    while !matches!(handle.next().await, Some(AgentEvent::Question { .. })) {}
    let conversation = handle.conversation().clone();
    // Whoever could have answered is gone, and with them the question: the turn goes on without its answer.
    drop(handle);
    for _ in 0..500 {
        if agent.store().messages(&conversation, None).await.unwrap().rows.len() == 6 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let rows = agent.drafts(false).await.unwrap().rows;
    assert_eq!((rows.len(), tools.mail.runs()), (1, 0));
    let messages = agent.store().messages(&conversation, None).await.unwrap().rows;
    assert_eq!(messages.last().unwrap().message.text, "Done.");
}

// SEC-002 LES-073
#[tokio::test]
async fn a_lasting_yes_holds_for_its_pattern_in_its_conversation_over_a_restart() {
    let again = |to: &str| {
        format!(
            "[[reply]]\ncalls = [{{ name = \"send_mail\", arguments = {{ to = \"{to}\" }} }}]\n[[reply]]\ntext = \"ok\"\n"
        )
    };
    let script =
        format!("{SCRIPT}{}{}{}", again("eve@example.com"), again("bob@example.com"), again("eve@example.com"));
    let bench = Bench::new(&script).await;
    let tools = Tools::new();
    let asked = async |agent: &Agent, request: ChatRequest| {
        let mut handle = agent.chat(ChatRequest { can_answer: true, ..request }).await.unwrap();
        let mut asked = 0;
        while let Some(event) = handle.next().await {
            if let AgentEvent::Question { id, .. } = &event {
                handle.answer(id, if asked == 0 { Answer::Always } else { Answer::No });
                asked += 1;
            }
            if event.is_last() {
                break;
            }
        }
        asked
    };
    let agent = tools.agent(&bench);
    assert_eq!(asked(&agent, last("read the page")).await, 1);
    drop(agent);
    let agent = tools.agent(&bench);
    assert_eq!(asked(&agent, last("and again")).await, 0, "the same person");
    assert_eq!(asked(&agent, last("and Bob")).await, 1, "another one");
    let new = ChatRequest { conversation: limpid_runtime::ConversationChoice::New, ..last("to Eve") };
    assert_eq!(asked(&agent, new).await, 1, "sending is asked about in another conversation");
}
