//! Conversations that are put away, and how conversations are found.

use limpid_core::{ConversationId, Message, Role, Trust};

use super::Bench;
use super::sample::{begin, begun, conversation, conversation_id, inbound, lease, message};
use crate::{
    Audience, Conversation, ConversationChange, ConversationKind, DeliveryOrigin, NewConversation, NewDelivery,
    NewMessage, PendingNotifications, Store, TurnWrite,
};

async fn archive(store: &dyn Store, id: &str, is_archived: bool) -> Conversation {
    let change = vec![ConversationChange::Archived(is_archived)];
    store.change_conversation(&conversation_id(id), change, 0).await.unwrap()
}

fn ids(listed: &[Conversation]) -> Vec<&str> {
    listed.iter().map(|own| own.id.as_str()).collect()
}

/// It is read by its id, found among the archived ones, and back in its place as soon as it is brought back.
// SUR-020
pub async fn an_archived_conversation_is_whole_and_in_no_list_but_its_own(bench: &Bench) {
    let store = bench.store.as_ref();
    for (id, at) in [("a", 1), ("b", 2), ("c", 3)] {
        store.create_conversation(conversation(id, at)).await.unwrap();
    }
    bench.other.create_conversation(conversation("b", 2)).await.unwrap();
    let before = store.conversation(&conversation_id("c")).await.unwrap().unwrap();
    assert_eq!(archive(store, "c", true).await, Conversation { is_archived: true, ..before.clone() });
    archive(store, "a", true).await;
    assert_eq!(ids(&store.conversations(9).await.unwrap().rows), ["b"]);
    assert_eq!(ids(&store.archived_conversations(9).await.unwrap().rows), ["c", "a"]);
    assert_eq!(ids(&store.archived_conversations(1).await.unwrap().rows), ["c"]);
    assert_eq!(bench.other.archived_conversations(9).await.unwrap().rows, []);
    assert_eq!(store.last_conversation(ConversationKind::Chat).await.unwrap().unwrap().id, conversation_id("b"));
    assert_eq!(archive(store, "c", false).await, before);
    assert_eq!(ids(&store.conversations(9).await.unwrap().rows), ["c", "b"]);
}

/// A message and a delivery bring it back; what a turn writes that was under way does not.
// SUR-020
pub async fn what_is_said_in_an_archived_conversation_brings_it_back(bench: &Bench) {
    let store = bench.store.as_ref();
    let (held, turn) = begun(store, "c", "t").await;
    let is_archived = || async { store.conversation(&conversation_id("c")).await.unwrap().unwrap().is_archived };
    archive(store, "c", true).await;
    let said = TurnWrite::Messages(vec![message(Role::Assistant, "Done.")]);
    store.commit(&held, &turn, vec![said], 2).await.unwrap();
    assert!(is_archived().await);

    store.accept(inbound("c", Some("k"), "hi")).await.unwrap();
    assert!(!is_archived().await);

    archive(store, "c", true).await;
    let again = store.accept(inbound("c", Some("k"), "hi")).await.unwrap();
    assert!(!again.fresh && is_archived().await, "a message that came before says nothing new");

    let delivery = NewDelivery {
        key: "report".to_owned(),
        conversation: conversation_id("c"),
        origin: DeliveryOrigin::Task,
        title: "Task".to_owned(),
        text: "The disk is full.".to_owned(),
        trust: Trust::Owner,
        draft: None,
        now_ms: 3,
    };
    store.enqueue(delivery).await.unwrap();
    assert!(is_archived().await, "nothing is there to be read yet");
    let id = store.pending_deliveries(None).await.unwrap().rows[0].id;
    let told = vec![message(Role::Assistant, "The disk is full.")];
    store.deliver(&held, id, told, PendingNotifications::default(), 4).await.unwrap();
    assert!(!is_archived().await);
    archive(store, "c", true).await;
    store.mark_read(&conversation_id("c"), 5).await.unwrap();
    assert!(is_archived().await, "reading brings nothing back");
}

async fn say(store: &dyn Store, id: &str, messages: Vec<NewMessage>) {
    let held = lease(store, id, 0).await;
    let turn = begin(store, &held, &format!("turn of {id}"), &[]).await;
    store.commit(&held, &turn, vec![TurnWrite::Messages(messages)], 2).await.unwrap();
}

async fn found(store: &dyn Store, query: &str, limit: u32) -> Vec<(String, Option<String>)> {
    let words: Vec<String> = query.split(' ').map(str::to_owned).collect();
    let listed = store.find_conversations(&words, limit).await.unwrap();
    let text =
        |row: crate::FoundConversation| (row.conversation.id.to_string(), row.message.map(|row| row.message.text));
    listed.rows.into_iter().map(text).collect()
}

/// All words have to be in the title or in one message; the newest such message is the one that is shown.
// SUR-020
pub async fn conversations_are_found_by_title_and_by_what_was_said(bench: &Bench) {
    let store = bench.store.as_ref();
    let named = |id: &str, title: &str, at| NewConversation { title: title.to_owned(), ..conversation(id, at) };
    store.create_conversation(named("tea", "Green tea", 10)).await.unwrap();
    store.create_conversation(named("trip", "A trip", 20)).await.unwrap();
    store
        .create_conversation(NewConversation { kind: ConversationKind::Run, ..named("run", "train", 30) })
        .await
        .unwrap();
    bench.other.create_conversation(named("theirs", "train", 40)).await.unwrap();
    let by_tool = NewMessage::new(Message::new(Role::System, "The train of a tool", Trust::Outside));
    let quoted = NewMessage {
        typed: Some("When do we go?".to_owned()),
        ..message(Role::User, "When do we go?\n\n[context] a train")
    };
    let said = vec![
        message(Role::User, "Is there a train to Zürich?"),
        message(Role::Assistant, "The trains to Zürich run at ten."),
        quoted,
        by_tool,
        message(Role::Assistant, "我们明天去北京。"),
    ];
    say(store, "trip", said).await;
    say(store, "run", vec![message(Role::User, "a train")]).await;

    let trip = |text: &str| vec![("trip".to_owned(), Some(text.to_owned()))];
    assert_eq!(found(store, "train", 9).await, trip("The trains to Zürich run at ten."));
    assert_eq!(found(store, "zürich train there", 9).await, trip("Is there a train to Zürich?"));
    assert_eq!(
        found(store, "zür", 9).await,
        trip("The trains to Zürich run at ten."),
        "the last word is not whole yet"
    );
    assert_eq!(found(store, "北京", 9).await, trip("我们明天去北京。"));
    assert_eq!(found(store, "tea gree", 9).await, [("tea".to_owned(), None)]);
    assert_eq!(found(store, "t", 9).await.len(), 2);
    for nothing in ["context", "train tea", "…", "\"", "AND", "tool*"] {
        assert_eq!(found(store, nothing, 9).await, [], "{nothing}");
    }
    archive(store, "trip", true).await;
    assert_eq!(found(store, "trains", 9).await.len(), 1, "what is archived is found");
}

/// However many conversations of strangers have the words.
// SUR-020 SEC-030
pub async fn strangers_push_nothing_out_of_what_is_found(bench: &Bench) {
    let store = bench.store.as_ref();
    store.create_conversation(conversation("own", 1)).await.unwrap();
    say(store, "own", vec![message(Role::User, "the needle")]).await;
    for n in 0..30 {
        let new = NewConversation { audience: Audience::Strangers, ..conversation(&format!("s{n}"), 100 + n) };
        store.create_conversation(new).await.unwrap();
        say(store, &format!("s{n}"), vec![message(Role::User, "needle")]).await;
    }
    let found = store.find_conversations(&["needle".to_owned()], 25).await.unwrap().rows;
    assert_eq!(found.len(), 21);
    assert!(found.iter().any(|row| row.conversation.id == ConversationId::new("own")));
}

/// However often a chat of the owner's repeats a stranger's words, another one with these words is found, and what no stranger's text led
/// to is shown of a chat that has both.
// SUR-020 SEC-102
pub async fn what_a_strangers_text_led_to_pushes_nothing_out_of_what_is_found(bench: &Bench) {
    let store = bench.store.as_ref();
    let led_to = |text: &str| NewMessage::new(Message::new(Role::Assistant, text, Trust::Outside));
    for (id, at, messages) in [
        ("own", 1, vec![message(Role::User, "the needle"), message(Role::User, "我们明天去北京。")]),
        ("repeats", 2, vec![led_to("needle"); 3001]),
        ("other", 3, vec![led_to("needle, 北京")]),
    ] {
        store.create_conversation(conversation(id, at)).await.unwrap();
        say(store, id, messages).await;
    }
    let ids = async |query: &str, limit: u32| {
        let found = found(store, query, limit).await;
        found.into_iter().map(|(id, _)| id).collect::<std::collections::BTreeSet<_>>()
    };
    for limit in [1, 2] {
        let found = ids("needle", limit).await;
        assert!(found.contains("own") && found.len() == 2, "{found:?}");
    }
    assert!(ids("needle", 25).await.contains("own"));
    // The index has the word of the one only.
    assert!(ids("北京", 25).await.contains("own"));

    store.create_conversation(conversation("both", 4)).await.unwrap();
    say(store, "both", vec![led_to("the thread, at first"), message(Role::User, "my thread"), led_to("thread")]).await;
    let shown = |text: &str| vec![("both".to_owned(), Some(text.to_owned()))];
    assert_eq!(found(store, "thread", 25).await, shown("my thread"));
    assert_eq!(found(store, "thread first", 25).await, shown("the thread, at first"));
}
