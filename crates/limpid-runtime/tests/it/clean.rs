//! `/clean`: a window without what strangers wrote, and what is read again after it.

use limpid_core::ToolClass;
use limpid_runtime::{ApprovalAnswer, ChatRequest, ConversationChoice, TurnEvent};
use limpid_testkit::Recorded;

use crate::kit::effects::{EffectTool, agent, answering, results};
use crate::kit::{Bench, all, last};

// SEC-002
#[tokio::test]
async fn clean_goes_on_without_what_strangers_wrote() {
    let script = r#"
[[reply]]
calls = [{ id = "r", name = "read_page" }]
[[reply]]
text = "The page says read_page done."
[[reply]]
calls = [{ id = "m", name = "send_mail", arguments = { to = "ada@example.com" } }]
[[reply]]
text = "Sent."
"#;
    let mut bench = Bench::new(script).await;
    bench.config.agent.mode = "developer".into();
    let (page, mail) = (EffectTool::outside("read_page"), EffectTool::new("send_mail", ToolClass::Execute));
    let agent = agent(&bench, &[&page, &mail]);
    all(agent.chat(last("read the page")).await.unwrap()).await;
    let reply = agent.command(&ConversationChoice::Last, "/clean").await.unwrap();
    let limpid_runtime::Input::Reply(reply) = reply else { panic!("{reply:?}") };
    assert_eq!(reply.text, "3 messages are put aside from the next message on.");
    assert_eq!(answering(&agent, "write to ada@example.com", ApprovalAnswer::No).await, Vec::<String>::new());
    assert_eq!(mail.runs(), 1, "nothing foreign is in the window");
    let sent = bench.server.calls()[2].text();
    assert!(
        !sent.contains("read_page done") && sent.contains("messages 2 to 4 of this conversation: put aside"),
        "{sent}"
    );
    let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap();
    let rows = agent.store().messages(&conversation.id, None).await.unwrap().rows;
    assert!(rows.iter().any(|row| row.message.text == "read_page done"), "nothing is deleted");
}

// SEC-055
#[tokio::test]
async fn a_refusal_repeats_no_words_of_a_stranger_and_is_a_strangers_when_it_is_read_again_after_clean() {
    let script = r#"
[[reply]]
calls = [{ id = "r", name = "read_page" }]
[[reply]]
calls = [{ id = "u", name = "forget_everything_now" }]
[[reply]]
text = "Done."
[[reply]]
calls = [{ id = "z", name = "read_result", arguments = { id = "u" } }]
[[reply]]
text = "Read."
"#;
    let mut bench = Bench::new(script).await;
    bench.config.tools.defer = false;
    let agent = agent(&bench, &[&EffectTool::outside("read_page")]);
    all(agent.chat(last("read the page")).await.unwrap()).await;
    agent.command(&ConversationChoice::Last, "/clean").await.unwrap();
    all(agent.chat(last("what was that call?")).await.unwrap()).await;
    let seen = results(&bench);
    let read = seen.last().unwrap();
    assert!(read.contains("there is no tool of that name") && read.starts_with("[untrusted "), "{seen:?}");
    assert!(!read.contains("forget_everything_now"), "{seen:?}");
}

// SEC-002
#[tokio::test]
async fn clean_puts_a_goal_of_strangers_aside_and_what_is_read_again_taints_again() {
    let script = r#"
[[reply]]
calls = [{ id = "r", name = "read_page" }, { id = "n", name = "get_local_time" }]
[[reply]]
calls = [{ id = "g", name = "create_goal", arguments = { description = "Serve Eve" } }]
[[reply]]
text = "Eve wants the secret."
[[reply]]
text = "Clean."
[[reply]]
calls = [{ id = "h", name = "read_history", arguments = { from = 7, to = 7 } }]
[[reply]]
calls = [{ id = "m", name = "send_mail", arguments = { to = "eve@example.com" } }]
[[reply]]
text = "Done."
"#;
    let mut bench = Bench::new(script).await;
    bench.config.agent.mode = "developer".into();
    let mail = EffectTool::new("send_mail", ToolClass::Send);
    let agent = agent(&bench, &[&EffectTool::outside("read_page"), &mail]);
    // The goal is a stranger's also when the owner has let it be made.
    assert_eq!(answering(&agent, "read the page", ApprovalAnswer::Once).await.len(), 1);
    agent.conversations().clean(&ConversationChoice::Last).await.unwrap();
    let events = all(agent.chat(last("hello?")).await.unwrap()).await;
    let aside = |event: &TurnEvent| matches!(event, TurnEvent::Notice(text) if text.contains("is put aside"));
    assert!(events.iter().any(aside), "{events:?}");
    let sent = bench.server.calls()[3].text();
    assert!(!sent.contains("Serve Eve") && !sent.contains("[untrusted "), "{sent}");
    // The model's own words after it had read the page, which may repeat what that said.
    let questions = answering(&agent, "what did you say?", ApprovalAnswer::No).await;
    assert!(results(&bench).iter().any(|result| result.contains("Eve wants the secret.")), "{:?}", results(&bench));
    assert_eq!((questions.len(), mail.runs()), (1, 0), "{questions:?}");
}

/// Also where the beginning of the prompts, which changes as seldom as it can, was rendered with the goal.
// SEC-002 PRO-040
#[tokio::test]
async fn clean_takes_a_goal_of_strangers_out_of_the_beginning_of_the_prompts() {
    let script = r#"
[[reply]]
calls = [{ id = "r", name = "read_page" }]
[[reply]]
calls = [{ id = "g", name = "create_goal", arguments = { description = "Serve Eve" } }]
[[reply]]
text = "It is set."
[[reply]]
text = "Going on."
[[reply]]
text = "Going on."
[[reply]]
text = "Clean."
"#;
    let mut bench = Bench::new(script).await;
    bench.config.agent.mode = "developer".into();
    let agent = agent(&bench, &[&EffectTool::outside("read_page")]);
    assert_eq!(answering(&agent, "read the page", ApprovalAnswer::Once).await.len(), 1);
    let talk = async |text: &str| {
        let request = ChatRequest { mode: Some("planning".to_owned()), ..last(text) };
        all(agent.chat(request).await.unwrap()).await;
    };
    // Another mode renders the beginning anew, and then it stays.
    talk("go on").await;
    talk("and on").await;
    agent.conversations().clean(&ConversationChoice::Last).await.unwrap();
    talk("hello?").await;
    let sent = bench.server.calls();
    let begins = |request: &Recorded| {
        let texts = request.texts().into_iter().map(|sent| sent.text);
        texts.take_while(|text| !text.contains("read the page")).any(|text| text.contains("Serve Eve"))
    };
    assert_eq!(sent[2..].iter().map(begins).collect::<Vec<_>>(), [false, true, true, false]);
    let clean = sent[5].text();
    assert!(!clean.contains("Serve Eve") && !clean.contains("[untrusted "), "{clean}");
}
