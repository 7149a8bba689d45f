//! What the model tells the owner apart from its answer.

use crate::kit::{Bench, say};
use jiff::ToSpan;
use limpid_core::task::TaskKind;
use limpid_core::{ConversationId, Role};
use limpid_runtime::tasks::{TaskRequest, When};
use limpid_runtime::{Agent, ApprovalAnswer, ChatRequest, ConversationChoice, HeartbeatResult, TurnEvent};
use limpid_store::{Audience, ConversationKind, DeliveryOrigin, NewConversation};

fn calling(arguments: &str) -> String {
    format!("[[reply]]\ncalls = [{{ name = \"message\", arguments = {{ {arguments} }} }}]\n")
}

fn saying(text: &str) -> String {
    format!("[[reply]]\ntext = {text:?}\n")
}

/// A bench with the profile that offers the tool.
async fn bench(script: &[String]) -> Bench {
    let mut bench = Bench::new(&script.concat()).await;
    bench.config.agent.profile = "picoclaw".to_owned();
    bench
}

async fn told(agent: &Agent) -> Vec<(DeliveryOrigin, String)> {
    agent.conversations().deliver_waiting().await.unwrap();
    let rows = agent.store().deliveries(50).await.unwrap().rows;
    let shown = rows.into_iter().rev().filter(|row| row.turn.is_some());
    shown.map(|row| (row.new.origin, row.new.text)).collect()
}

async fn texts(agent: &Agent, chat: &str) -> Vec<(Role, String)> {
    let rows = agent.store().messages(&ConversationId::new(chat), None).await.unwrap().rows;
    rows.into_iter().map(|row| (row.message.role, row.message.text)).collect()
}

// LES-097
#[tokio::test]
async fn a_job_that_also_sends_a_message_sends_one() {
    let script = [
        calling("content = \"The disk is full.\""),
        calling("content = \"And so is the other one.\""),
        saying("I have told you."),
        saying("All is well."),
    ];
    let bench = bench(&script).await;
    let agent = bench.agent();
    for _ in 0..2 {
        let task = TaskRequest {
            key: None,
            description: "Disks".to_owned(),
            prompt: "Tell me about the disks.".to_owned(),
            kind: TaskKind::Agent,
            when: When::In(60),
            zone: None,
            missed: None,
            conversation: None,
        };
        agent.tasks().add(task).await.unwrap();
        bench.clock.forward(2.minutes());
        agent.jobs().run_due().await.unwrap();
    }
    let said = [
        "**Disks**\n\nThe disk is full.\n\nAnd so is the other one.".to_owned(),
        "**Disks**\n\nAll is well.".to_owned(),
    ];
    assert_eq!(told(&agent).await, said.map(|text| (DeliveryOrigin::Task, text)));
}

// LES-097 PICO-075
#[tokio::test]
async fn what_a_heartbeat_sends_is_its_report_and_the_quiet_word_is_in_none() {
    let script = [
        calling("content = \"The disk is full. **heartbeat_ok**\""),
        saying("Heartbeat_OK."),
        calling("content = \"`HEARTBEAT_OK`\""),
        saying("**heartbeat_ok**"),
        saying("HEARTBEAT_OK. The disk is new."),
    ];
    let bench = bench(&script).await;
    bench.write("workspace/HEARTBEAT.md", "- Look at the disk\n");
    let agent = bench.agent();
    let mut outcomes = Vec::new();
    for _ in 0..3 {
        let HeartbeatResult::Ran(run) = agent.jobs().run_heartbeat().await.unwrap() else { panic!() };
        outcomes.push(run.outcome.as_str());
    }
    assert_eq!(outcomes, ["told", "quiet", "told"]);
    let said = ["The disk is full.", ". The disk is new."].map(|text| (DeliveryOrigin::Heartbeat, text.to_owned()));
    assert_eq!(told(&agent).await, said);
    assert!(texts(&agent, "heartbeat").await.iter().all(|(_, text)| !text.to_lowercase().contains("heartbeat_ok")));
}

// PICO-075 LES-035
#[tokio::test]
async fn a_message_of_a_chat_follows_its_answer_unless_that_says_the_same() {
    let script = [
        calling("content = \"Look outside. HEARTBEAT_OK\""),
        saying("Done."),
        calling("content = \"It rains.\""),
        saying("It rains. heartbeat_ok"),
        calling("content = \"_HEARTBEAT_OK_\""),
        saying("Nothing."),
    ];
    let bench = bench(&script).await;
    let agent = bench.agent();
    for text in ["tell me", "and?", "more?"] {
        say(&agent, text).await;
    }
    assert_eq!(told(&agent).await, [(DeliveryOrigin::Message, "Look outside. HEARTBEAT_OK".to_owned())]);
    let chat = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap();
    assert_eq!(chat.unread, 1);
    let said = texts(&agent, chat.id.as_str()).await;
    let delivered = said.iter().position(|(_, text)| text == "[message]").unwrap();
    assert_eq!(said[delivered + 1], (Role::Assistant, "Look outside.".to_owned()));
    assert_eq!(said.iter().filter(|(_, text)| text == "It rains.").count(), 0, "it was answered");
}

// LES-097
#[tokio::test]
async fn a_message_reaches_another_chat_of_the_owners_once_and_no_other_place() {
    let refused = [r#"chat_id = "c9", content = "a""#, r#"channel = "telegram", content = "a""#, r#"content = " ""#];
    let dinner = calling("chat_id = \"CHAT\", content = \"Dinner.\"");
    let script = [dinner.repeat(2), refused.map(calling).concat(), saying("Sent.")].concat();
    let bench = bench(&[saying("Hello.")]).await;
    let agent = bench.agent();
    say(&agent, "hi").await;
    let chat = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
    drop(agent);
    let other = self::bench(&[script.replace("CHAT", chat.as_str())]).await;
    let mut options = other.options();
    options.home = limpid_runtime::Home::new(bench.home.path());
    options.ids = bench.options().ids;
    let agent = Agent::open(options).unwrap();
    let new = ChatRequest { conversation: ConversationChoice::New, ..crate::kit::last("tell the others") };
    crate::kit::all(agent.chat(new).await.unwrap()).await;
    agent.conversations().deliver_waiting().await.unwrap();
    assert_eq!(texts(&agent, chat.as_str()).await.iter().filter(|(_, text)| text == "Dinner.").count(), 1);
    let request = other.server.calls().last().unwrap().text();
    for why in ["that was sent already", "has no chat `c9`", "no channel `telegram`", "`content` is blank"] {
        assert!(request.contains(why), "{why}: {request}");
    }
}

// SEC-005 SEC-077
#[tokio::test]
async fn a_message_reaches_no_strangers_and_is_asked_about_where_others_read_it() {
    let to = |chat: &str| calling(&format!("chat_id = {chat:?}, content = \"The PIN is 4711.\""));
    let bench = bench(&[to("shop"), to("family"), to("own"), saying("Sent.")]).await;
    let agent = bench.agent();
    for (id, audience) in [("shop", Audience::Strangers), ("family", Audience::Group), ("own", Audience::Owner)] {
        let new = NewConversation {
            id: ConversationId::new(id),
            kind: ConversationKind::Chat,
            title: format!("Of {id}"),
            profile: "picoclaw".to_owned(),
            mode: None,
            model: None,
            audience,
            now_ms: 0,
        };
        agent.store().create_conversation(new).await.unwrap();
    }
    let mut asked = Vec::new();
    let mut turn = agent.chat(ChatRequest { can_answer: true, ..crate::kit::last("tell them") }).await.unwrap();
    while let Some(event) = turn.next().await {
        if let TurnEvent::ApprovalRequested { parts, .. } = &event {
            for part in parts {
                asked.push((part.reason.clone(), part.about.clone().unwrap_or_default()));
                turn.answer(&part.id, ApprovalAnswer::Once);
            }
        }
        if event.is_last() {
            break;
        }
    }
    let said =
        ("this would write into a chat that others read too", "to the chat family, which others read too: Of family");
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].0.contains(said.0) && asked[0].1 == said.1, "{asked:?}");
    agent.conversations().deliver_waiting().await.unwrap();
    for (chat, count) in [("shop", 0), ("family", 1), ("own", 1)] {
        let said = texts(&agent, chat).await;
        assert_eq!(said.iter().filter(|(_, text)| text.contains("4711")).count(), count, "{chat}: {said:?}");
    }
    assert!(bench.server.calls().last().unwrap().text().contains("has no chat `shop`"));
}
