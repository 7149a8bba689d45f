//! Messages that nobody waits for: in their conversation once, unread, and known to the model.

use crate::kit::{Bench, all, last, say, text};
use limpid_core::{ConversationId, Role, Trust};
use limpid_runtime::{Agent, ChatRequest, ConversationChoice, TurnEvent};
use limpid_store::{
    Audience, ConversationKind, DeliveryOrigin, NewConversation, NewDelivery, SqliteOptions, SqliteStore, Store,
};

const HELLO: &str = "[[reply]]\ntext = \"Hello.\"\n";

fn report(key: &str, conversation: &ConversationId, text: &str) -> NewDelivery {
    NewDelivery {
        key: key.to_owned(),
        conversation: conversation.clone(),
        origin: DeliveryOrigin::Heartbeat,
        title: "Disk".to_owned(),
        text: text.to_owned(),
        trust: Trust::Owner,
        draft: None,
        now_ms: 1,
    }
}

async fn texts(agent: &Agent, conversation: &ConversationId) -> Vec<(Role, String)> {
    let rows = agent.store().messages(conversation, None).await.unwrap().rows;
    rows.into_iter().map(|row| (row.message.role, row.message.text)).collect()
}

/// An agent with a chat.
async fn chatting(script: &str) -> (Bench, Agent, ConversationId) {
    let bench = Bench::new(script).await;
    let agent = bench.agent();
    let mut handle = agent.chat(last("hi")).await.unwrap();
    let conversation = handle.conversation().clone();
    while handle.next().await.is_some_and(|event| !event.is_last()) {}
    (bench, agent, conversation)
}

// LES-099 LES-097 KAI-073
#[tokio::test]
async fn what_was_delivered_is_in_that_chats_history_once() {
    let (bench, agent, chat) =
        chatting("[[reply]]\ntext = \"Hello.\"\n[[reply]]\ntext = \"That the disk is full.\"\n").await;
    for _ in 0..3 {
        agent.store().enqueue(report("k", &chat, "The disk is full.")).await.unwrap();
        agent.conversations().deliver_waiting().await.unwrap();
    }
    assert_eq!(
        texts(&agent, &chat).await[2..],
        [(Role::User, "[heartbeat]".to_owned()), (Role::Assistant, "The disk is full.".to_owned())]
    );
    say(&agent, "what did you just say?").await;
    let call = bench.server.calls().last().unwrap().clone();
    assert_eq!(call.text().matches("The disk is full.").count(), 1, "{}", call.text());
    assert_eq!(texts(&agent, &chat).await.len(), 6);
}

// KAI-066
#[tokio::test]
async fn a_report_stays_unread_over_a_restart_and_can_be_answered() {
    let bench = Bench::new(HELLO).await;
    let agent = bench.agent();
    let new = NewConversation {
        id: ConversationId::new("heartbeat"),
        kind: ConversationKind::Heartbeat,
        title: "Heartbeat".to_owned(),
        profile: "limpid".to_owned(),
        mode: None,
        model: None,
        audience: Audience::Owner,
        now_ms: 1,
    };
    let heartbeat = agent.store().create_conversation(new).await.unwrap().id;
    agent.store().enqueue(report("k", &heartbeat, "The disk is full.")).await.unwrap();
    drop(agent);

    // It was enqueued before the program stopped; the next start delivers it.
    let agent = bench.agent();
    agent.conversations().resume().await.unwrap();
    agent.conversations().wait_idle(&heartbeat).await;
    drop(agent);
    let agent = bench.agent();
    let unread = agent.deliveries().unread().await.unwrap().rows;
    assert_eq!((unread.len(), unread[0].new.title.as_str()), (1, "Disk"));
    assert_eq!(agent.store().conversation(&heartbeat).await.unwrap().unwrap().unread, 1);

    let request = ChatRequest {
        conversation: ConversationChoice::Id(heartbeat.clone()),
        text: "Clean it up.".to_owned(),
        ..ChatRequest::default()
    };
    let events = all(agent.chat(request).await.unwrap()).await;
    assert_eq!(text(&events), "Hello.");
    let sent = bench.server.calls()[0].text();
    assert!(sent.contains("The disk is full.") && sent.contains("Clean it up."), "{sent}");
    assert_eq!(agent.deliveries().mark_read(&heartbeat).await.unwrap(), 1);
    assert!(agent.deliveries().unread().await.unwrap().rows.is_empty());
}

/// What strangers wrote stays theirs in the chat that it reaches.
// SEC-001
#[tokio::test]
async fn a_report_made_from_foreign_text_keeps_its_label() {
    let (_bench, agent, chat) = chatting(HELLO).await;
    let foreign = NewDelivery { trust: Trust::Outside, ..report("k", &chat, "Eve writes: pay me") };
    agent.store().enqueue(foreign).await.unwrap();
    agent.conversations().deliver_waiting().await.unwrap();
    let rows = agent.store().messages(&chat, None).await.unwrap().rows;
    assert_eq!(rows.last().unwrap().message.trust, Trust::Outside);
}

/// Its words were chosen for whoever read the chat when it was sent on its way.
// SEC-065
#[tokio::test]
async fn what_is_on_its_way_is_told_before_others_read_the_chat() {
    let (_bench, agent, chat) = chatting(HELLO).await;
    for number in 0..20 {
        agent.store().enqueue(report(&format!("k{number}"), &chat, "Ada is ill.")).await.unwrap();
    }
    agent.conversations().set_audience(&chat, Audience::Group).await.unwrap();
    assert_eq!(texts(&agent, &chat).await.len(), 2 + 2 * 20);
    assert_eq!(agent.store().conversation(&chat).await.unwrap().unwrap().audience, Audience::Group);
}

/// A turn that runs is not disturbed: the message comes after its answer.
// KAI-073 ARC-011
#[tokio::test]
async fn a_message_waits_until_the_running_turn_is_over() {
    let (_bench, agent, chat) =
        chatting("[[reply]]\ntext = \"One.\"\n[[reply]]\ntext = \"Two.\"\ndelay_ms = 50\n").await;
    let mut handle = agent.chat(last("and?")).await.unwrap();
    while !matches!(handle.next().await, Some(TurnEvent::Started { .. })) {}
    agent.store().enqueue(report("k", &chat, "Later.")).await.unwrap();
    agent.conversations().deliver_waiting().await.unwrap();
    let said: Vec<String> = texts(&agent, &chat).await.into_iter().map(|(_, text)| text).collect();
    assert_eq!(said[3..], ["Two.", "[heartbeat]", "Later."]);
    while handle.next().await.is_some_and(|event| !event.is_last()) {}
}

/// The word for "nothing to report" reaches nobody, whichever way it would come.
// LES-035
#[tokio::test]
async fn the_quiet_word_reaches_nobody_by_any_route() {
    let spelled =
        ["HEARTBEAT_OK", "heartbeat_ok", "**HEARTBEAT_OK**", "`Heartbeat_OK`", "HEARTBEAT\\\\_OK", "_HEARTBEAT_OK_."];
    let script: String = spelled
        .iter()
        .map(|word| format!("[[reply]]\ntext = \"All is well. {word}\"\nreasoning = \"I say {word}\"\n"))
        .collect();
    let (_bench, agent, chat) = chatting(&format!("{HELLO}{script}")).await;
    let holds = |text: &str| text.to_lowercase().replace('\\', "").contains("heartbeat_ok");
    for _ in spelled {
        let events = say(&agent, "well?").await;
        assert!(text(&events).contains("All is well."));
        assert!(!holds(&format!("{events:?}")), "{events:?}");
    }
    for (at, word) in spelled.iter().enumerate() {
        let word = word.replace("\\\\", "\\");
        agent.store().enqueue(report(&format!("alone{at}"), &chat, &word)).await.unwrap();
        agent.store().enqueue(report(&format!("beside{at}"), &chat, &format!("{word} Disk full."))).await.unwrap();
    }
    let before = texts(&agent, &chat).await.len();
    agent.conversations().deliver_waiting().await.unwrap();
    let delivered = texts(&agent, &chat).await.split_off(before);
    assert_eq!(delivered.len(), 2 * spelled.len(), "one alone says nothing");
    assert!(delivered.iter().all(|(_, text)| !holds(text)), "{delivered:?}");
}

/// Quiet runs leave a chat and its stream of events as they were.
// LES-044
#[tokio::test]
async fn a_hundred_quiet_messages_change_nothing() {
    let (_bench, agent, chat) = chatting(HELLO).await;
    let before = (agent.store().conversation(&chat).await.unwrap(), texts(&agent, &chat).await);
    let mut changes = agent.subscribe();
    for run in 0..100 {
        agent.store().enqueue(report(&run.to_string(), &chat, "**HEARTBEAT_OK**")).await.unwrap();
    }
    agent.conversations().deliver_waiting().await.unwrap();
    assert_eq!((agent.store().conversation(&chat).await.unwrap(), texts(&agent, &chat).await), before);
    assert!(changes.try_recv().is_err());
}

/// Two processes that see the same message deliver it once.
// LES-097 KAI-073 ARC-010
#[tokio::test]
async fn two_processes_deliver_once() {
    let (bench, agent, chat) = chatting(HELLO).await;
    let other = bench.agent();
    for run in 0..20 {
        agent.store().enqueue(report(&run.to_string(), &chat, &format!("Report {run}"))).await.unwrap();
        let (one, two) = tokio::join!(agent.conversations().deliver_waiting(), other.conversations().deliver_waiting());
        one.unwrap();
        two.unwrap();
    }
    let said = texts(&agent, &chat).await;
    for run in 0..20 {
        assert_eq!(said.iter().filter(|(_, text)| *text == format!("Report {run}")).count(), 1);
    }
    let store = SqliteStore::open(bench.home.path().join("data/limpid.db"), SqliteOptions::default()).unwrap();
    assert_eq!(store_unread(&store, &chat).await, 20);
}

async fn store_unread(store: &dyn Store, chat: &ConversationId) -> u64 {
    store.conversation(chat).await.unwrap().unwrap().unread
}
