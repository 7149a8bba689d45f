//! What memories and messages mean to a model of embeddings.

use limpid_core::recall::{Embedding, Meaning, query_words};
use limpid_core::{Message, MessageId, Role, Trust};

use super::Bench;
use super::sample::{begin, begun, calling, conversation, conversation_id, lease as lease_of, memory, message, result};
use crate::{
    ConversationKind, Missing, NewConversation, NewMemory, NewMessage, Seen, Store, TextOf, TurnWrite, VectorState,
};

/// The model of these cases.
const MODEL: &str = "pretended/meanings";

/// Every text has one embedding, until it changes or another model looks at it.
// KOSHI-029
pub async fn every_text_waits_for_its_embedding_once(bench: &Bench) {
    let store = bench.store.as_ref();
    talk(store).await;
    let number = remember(store, memory(None, "Lives in Berlin", 1)).await;
    let keyed = remember(store, memory(Some("tea"), "Likes oolong", 2)).await;
    let missing = store.without_vector(MODEL, None, 10).await.unwrap();
    let texts: Vec<&str> = missing.texts.iter().map(|unseen| unseen.text.as_str()).collect();
    assert_eq!(texts, ["tea: Likes oolong", "Lives in Berlin", "Noted.", "My sister lives in Kyoto"]);
    let few = store.without_vector(MODEL, None, 3).await.unwrap().texts;
    assert_eq!(few, missing.texts[..3]);
    let newest = missing.newest;
    assert!(newest.is_some());
    let later = store.without_vector(MODEL, newest, 10).await.unwrap().texts;
    assert_eq!(later, missing.texts[..2], "no message is later");

    assert_eq!(bench.other.without_vector(MODEL, None, 10).await.unwrap().texts, [], "none is another owner's");
    assert_eq!(store.keep_vectors(MODEL, look(missing.clone())).await.unwrap(), 4);
    assert_eq!(store.without_vector(MODEL, None, 10).await.unwrap(), Missing { texts: Vec::new(), newest });
    let all = VectorState { memories: 2, memories_seen: 2, messages: 2, messages_seen: 2 };
    assert_eq!(store.vector_state(MODEL).await.unwrap(), all);
    assert_eq!(bench.other.vector_state(MODEL).await.unwrap(), VectorState::default());
    assert_eq!(bench.other.without_vector(MODEL, None, 10).await.unwrap().texts, []);

    // Feedback changes no text; a correction does, and what was made of the text before is not kept for it.
    store.reinforce_memory(&number.into(), 3).await.unwrap();
    remember(store, memory(Some("tea"), "Likes rooibos", 4)).await;
    let stale = missing.texts.iter().filter(|unseen| unseen.of == TextOf::Memory(keyed)).cloned();
    let stale = Missing { texts: stale.collect(), newest };
    assert_eq!(store.keep_vectors(MODEL, look(stale)).await.unwrap(), 0);
    let missing = store.without_vector(MODEL, None, 10).await.unwrap();
    assert_eq!(missing.texts.iter().map(|unseen| unseen.text.as_str()).collect::<Vec<_>>(), ["tea: Likes rooibos"]);

    // Another model sees everything anew, and its embeddings take the place of the first one's.
    let anew = store.without_vector("pretended/other", None, 10).await.unwrap();
    assert_eq!(store.keep_vectors("pretended/other", look(anew)).await.unwrap(), 4);
    assert_eq!(store.vector_state(MODEL).await.unwrap(), VectorState { memories_seen: 0, messages_seen: 0, ..all });
    assert_eq!((bench.other.drop_vectors().await.unwrap(), store.drop_vectors().await.unwrap()), (0, 4));
}

/// What person and agent said to each other is looked at, as it was typed; neither what a tool gave, nor a call without
/// words, nor what stands in a run of a task.
// KOSHI-029
pub async fn only_what_was_said_in_a_chat_waits_for_its_embedding(bench: &Bench) {
    let store = bench.store.as_ref();
    let (lease, turn) = begun(store, "c", "t").await;
    let typed = NewMessage { typed: Some("When?".to_owned()), ..message(Role::User, "It is noon.\n\nWhen?") };
    let batch = vec![typed, calling(&["x"]), result("x"), message(Role::Assistant, "At noon.")];
    store.commit(&lease, &turn, vec![TurnWrite::Messages(batch)], 2).await.unwrap();
    let run = NewConversation { kind: ConversationKind::Run, ..conversation("r", 0) };
    store.create_conversation(run).await.unwrap();
    let lease = lease_of(store, "r", 0).await;
    let turn = begin(store, &lease, "u", &[]).await;
    let batch = vec![message(Role::User, "Look at the mail."), message(Role::Assistant, "There is none.")];
    store.commit(&lease, &turn, vec![TurnWrite::Messages(batch)], 2).await.unwrap();
    let missing = store.without_vector(MODEL, None, 10).await.unwrap();
    assert_eq!(missing.texts.iter().map(|unseen| unseen.text.as_str()).collect::<Vec<_>>(), ["At noon.", "When?"]);
    assert_eq!(store.keep_vectors(MODEL, look(missing)).await.unwrap(), 2);
    let state = VectorState { messages: 2, messages_seen: 2, ..VectorState::default() };
    assert_eq!(store.vector_state(MODEL).await.unwrap(), state);
}

/// What is near a query's meaning is found without its words, in the owner's memories and in one conversation alone.
// KOSHI-029
pub async fn a_meaning_finds_what_is_near_it(bench: &Bench) {
    let store = bench.store.as_ref();
    talk(store).await;
    let sister = remember(store, memory(Some("sister"), "Lives in Kyoto", 1)).await;
    remember(store, memory(Some("tap"), "Drips", 2)).await;
    let missing = store.without_vector(MODEL, None, 10).await.unwrap();
    store.keep_vectors(MODEL, look(missing)).await.unwrap();

    let words = query_words("drips");
    let found = store.candidates(&words, Some(&meaning(MODEL)), 9).await.unwrap();
    let keys: Vec<&str> = found.memories.iter().map(|memory| memory.key.as_str()).collect();
    assert_eq!(keys, ["sister", "tap"]);
    assert!(found.likeness[&sister] > 0.99, "{:?}", found.likeness);
    assert_eq!(found.likeness.len(), 2);
    let other = store.candidates(&words, Some(&meaning("pretended/other")), 9).await.unwrap();
    assert_eq!((other.memories.len(), other.likeness.len()), (1, 0), "embeddings of two models say nothing together");
    assert_eq!(bench.other.candidates(&words, Some(&meaning(MODEL)), 9).await.unwrap().memories, []);

    let (here, there) = (conversation_id("c"), conversation_id("d"));
    let found = store.search_messages(&here, &words, Some(&meaning(MODEL)), 9).await.unwrap();
    let texts: Vec<&str> = found.messages.iter().map(|(row, _)| row.message.text.as_str()).collect();
    assert_eq!(texts, ["My sister lives in Kyoto", "Noted."], "what stands beside it is found with it");
    assert!(found.likeness[&found.messages[0].0.id] > 0.99);
    assert_eq!(store.search_messages(&there, &words, Some(&meaning(MODEL)), 9).await.unwrap().messages, []);
    let other = store.search_messages(&here, &words, Some(&meaning("pretended/other")), 9).await.unwrap();
    assert_eq!(other.messages, [], "nor do those of messages");
}

/// However much others have that is nearer, it takes no room among what is found: neither another owner's memories nor
/// what was said in another conversation.
// KOSHI-029
pub async fn what_others_have_takes_no_room_near_a_meaning(bench: &Bench) {
    let store = bench.store.as_ref();
    remember(store, memory(None, "My sister paints", 1)).await;
    for n in 0..101 {
        remember(bench.other.as_ref(), memory(None, &format!("Sister {n}"), 1)).await;
    }
    let (lease, turn) = begun(store, "d", "u").await;
    let batch = (0..101).map(|n| message(Role::User, &format!("Sister {n}"))).collect();
    store.commit(&lease, &turn, vec![TurnWrite::Messages(batch)], 2).await.unwrap();
    talk(store).await;
    for owner in [bench.other.as_ref(), store] {
        let mut seen = look(owner.without_vector(MODEL, None, 500).await.unwrap());
        for own in seen.iter_mut().filter(|seen| seen.unseen.text.starts_with("My sister")) {
            own.embedding = Embedding::new(&[1.0, 0.5]);
        }
        owner.keep_vectors(MODEL, seen).await.unwrap();
    }
    let words = ["absent".to_owned()];
    let found = store.candidates(&words, Some(&meaning(MODEL)), 9).await.unwrap();
    assert_eq!(found.memories.iter().map(|memory| memory.content.as_str()).collect::<Vec<_>>(), ["My sister paints"]);
    let found = store.search_messages(&conversation_id("c"), &words, Some(&meaning(MODEL)), 9).await.unwrap();
    let texts: Vec<&str> = found.messages.iter().map(|(row, _)| row.message.text.as_str()).collect();
    assert_eq!(texts, ["My sister lives in Kyoto", "Noted."]);
}

/// However much strangers' texts left that is nearer to a meaning, the owner's is found beside it.
// SEC-102 KOSHI-029
pub async fn what_strangers_left_takes_no_room_near_a_meaning(bench: &Bench) {
    let store = bench.store.as_ref();
    remember(store, memory(None, "My sister paints", 1)).await;
    for n in 0..110 {
        let theirs = NewMemory { trust: Trust::Outside, ..memory(None, &format!("Sister {n}"), 1) };
        remember(store, theirs).await;
    }
    let (lease, turn) = begun(store, "c", "t").await;
    let theirs = |n: u32| NewMessage::new(Message::new(Role::User, format!("Sister {n}"), Trust::Outside));
    let batch = [message(Role::User, "My sister lives in Kyoto")].into_iter().chain((0..110).map(theirs)).collect();
    store.commit(&lease, &turn, vec![TurnWrite::Messages(batch)], 2).await.unwrap();
    let mut seen = look(store.without_vector(MODEL, None, 500).await.unwrap());
    for own in seen.iter_mut().filter(|seen| seen.unseen.text.starts_with("My sister")) {
        own.embedding = Embedding::new(&[1.0, 0.5]);
    }
    store.keep_vectors(MODEL, seen).await.unwrap();
    let words = ["absent".to_owned()];
    let found = store.candidates(&words, Some(&meaning(MODEL)), 9).await.unwrap();
    assert!(found.memories.iter().any(|memory| memory.content == "My sister paints"));
    assert_eq!(found.memories.len(), 101);
    let found = store.search_messages(&conversation_id("c"), &words, Some(&meaning(MODEL)), 9).await.unwrap();
    assert!(found.messages.iter().any(|(row, _)| row.message.text == "My sister lives in Kyoto"));
}

/// An embedding tells what its text said, so it goes with it, by whatever way that goes.
// KOSHI-029
pub async fn what_is_forgotten_leaves_no_embedding(bench: &Bench) {
    let store = bench.store.as_ref();
    let first = remember(store, memory(Some("sister"), "Lives in Kyoto", 1)).await;
    let second = remember(store, memory(Some("family"), "A sister", 2)).await;
    let missing = store.without_vector(MODEL, None, 10).await.unwrap();
    store.keep_vectors(MODEL, look(missing.clone())).await.unwrap();
    store.forget_memory(&first.into(), 3).await.unwrap();
    let events = store.memory_events(Some(second)).await.unwrap().rows;
    store.undo_memory(events[0].id, 4).await.unwrap();
    assert_eq!(store.vector_state(MODEL).await.unwrap(), VectorState::default());
    assert_eq!(store.keep_vectors(MODEL, look(missing)).await.unwrap(), 0, "nor does it come back late");
    assert_eq!(store.drop_vectors().await.unwrap(), 0);
}

/// A text that the model refused is not shown to it again, and is near nothing.
// KOSHI-029
pub async fn a_refused_text_is_not_asked_about_again(bench: &Bench) {
    let store = bench.store.as_ref();
    remember(store, memory(Some("sister"), "Lives in Kyoto", 1)).await;
    let texts = store.without_vector(MODEL, None, 10).await.unwrap().texts;
    let refused = texts.into_iter().map(|unseen| Seen { unseen, embedding: None }).collect();
    assert_eq!(store.keep_vectors(MODEL, refused).await.unwrap(), 1);
    assert_eq!(store.without_vector(MODEL, None, 10).await.unwrap().texts, []);
    let found = store.candidates(&["absent".to_owned()], Some(&meaning(MODEL)), 9).await.unwrap();
    assert_eq!(found.memories, []);
}

/// A conversation with two messages.
async fn talk(store: &dyn Store) {
    let (lease, turn) = begun(store, "c", "t").await;
    let batch = vec![message(Role::User, "My sister lives in Kyoto"), message(Role::Assistant, "Noted.")];
    store.commit(&lease, &turn, vec![TurnWrite::Messages(batch)], 2).await.unwrap();
    let first = store.messages(&conversation_id("c"), None).await.unwrap().rows[0].id;
    assert!(first > MessageId(0));
}

async fn remember(store: &dyn Store, new: NewMemory) -> limpid_core::MemoryId {
    store.store_memory(new).await.unwrap().memory.id
}

/// What a model makes of texts that knows but one thing: whether they are about a sister.
fn look(missing: Missing) -> Vec<Seen> {
    let seen = |unseen: crate::Unseen| {
        let sister = unseen.text.to_lowercase().contains("sister");
        let numbers = if sister { [1.0, 0.0] } else { [0.0, 1.0] };
        Seen { unseen, embedding: Embedding::new(&numbers) }
    };
    missing.texts.into_iter().map(seen).collect()
}

/// A query about a sister.
fn meaning(model: &str) -> Meaning {
    Meaning { model: model.to_owned(), embedding: Embedding::new(&[1.0, 0.0]).unwrap(), unlike: 0.0 }
}
