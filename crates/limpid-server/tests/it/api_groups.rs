//! Conversations of a chat app that others read: what begins in the place of one is read by them too, and says so.

use limpid_core::ConversationId;
use limpid_runtime::ConversationChoice;
use limpid_server::ApiRole;
use limpid_store::Audience;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::api_kit::{ApiBench, answer, token};

/// What an answer says where nobody has said in the conversation that others read it.
const SAYS: &str = "Others can read this conversation too; `/group off` ends that.";

const HELLO: [(&str, &str); 2] = [("user", "hello"), ("assistant", "Hello.")];

async fn bench() -> ApiBench {
    ApiBench::new(&"[[reply]]\ntext = \"Hello.\"\n".repeat(6), "").await
}

/// What is answered, and in which conversation.
async fn said(bench: &ApiBench, messages: &[(&str, &str)], more: &Value) -> (String, ConversationId) {
    let response = bench.complete(messages, more).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let id = ConversationId::new(response.headers()["x-limpid-conversation"].to_str().unwrap());
    let told: Value = response.json().await.unwrap();
    (told["choices"][0]["message"]["content"].as_str().unwrap().to_owned(), id)
}

async fn audience(bench: &ApiBench, id: &ConversationId) -> Audience {
    bench.page.agent.store().conversation(id).await.unwrap().unwrap().audience
}

/// Has others read a conversation that a program began with "hello", and says in which one.
async fn read_by_others(bench: &ApiBench, more: &Value) -> ConversationId {
    let (_, id) = said(bench, &HELLO[..1], more).await;
    let on = [HELLO[0], HELLO[1], ("user", "/group on")];
    let (told, same) = said(bench, &on, more).await;
    assert!(told.contains("stay out of this conversation") && same == id, "{told}");
    assert_eq!(audience(bench, &id).await, Audience::Group);
    id
}

// SUR-031 SEC-065
#[tokio::test]
async fn a_thread_that_is_known_no_more_is_read_by_whoever_read_any_of_its_program() {
    let bench = bench().await;
    let id = read_by_others(&bench, &json!({})).await;
    let edited = [("user", "hello"), ("assistant", "Edited."), ("user", "what is new?")];
    let (told, other) = said(&bench, &edited, &json!({})).await;
    assert_eq!(
        (told.as_str(), audience(&bench, &other).await),
        (format!("{SAYS}\n\nHello.").as_str(), Audience::Group)
    );
    assert_ne!(other, id);
    // It goes on by the words that the app was given.
    let next = [edited[0], edited[1], edited[2], ("assistant", told.as_str()), ("user", "and?")];
    assert_eq!(said(&bench, &next, &json!({})).await, ("Hello.".to_owned(), other));
    // What begins without a history comes from none, and what another program says from none of this one's.
    let (_, first) = said(&bench, &[("user", "hi")], &json!({})).await;
    assert_eq!(audience(&bench, &first).await, Audience::Owner);
    let token = token(&bench.page, "other", ApiRole::Owner);
    let elsewhere = ApiBench { token, ..bench };
    let (_, own) = said(&elsewhere, &edited, &json!({})).await;
    assert_eq!(audience(&elsewhere, &own).await, Audience::Owner);
}

// SUR-015 SUR-031
#[tokio::test]
async fn a_command_in_a_thread_that_nobody_knows_is_carried_out() {
    let bench = bench().await;
    let on = [("user", "hello"), ("assistant", "Elsewhere."), ("user", "/group on")];
    let (told, id) = said(&bench, &on, &json!({})).await;
    assert!(told.contains("stay out of this conversation"), "{told}");
    assert_eq!((audience(&bench, &id).await, bench.page.recorder.calls().len()), (Audience::Group, 0));
    // What was said before is handed in with the first message.
    let next = [on[0], on[1], on[2], ("assistant", told.as_str()), ("user", "what is new?")];
    assert_eq!(said(&bench, &next, &json!({})).await, ("Hello.".to_owned(), id));
    assert!(bench.page.recorder.calls()[0].text().contains("Elsewhere."));
    let unknown = [("user", "hi"), ("assistant", "Elsewhere."), ("user", "/gruop on")];
    let (status, why) = answer(bench.complete(&unknown, &json!({}))).await;
    assert!(status == StatusCode::BAD_REQUEST && why.to_string().contains("/group"), "{why}");
    assert_eq!(bench.page.recorder.calls().len(), 1, "it is sent to no model");
}

// SUR-031 SEC-065
#[tokio::test]
async fn a_group_of_which_no_program_is_known_counts_for_every_one() {
    let bench = bench().await;
    let unknown = [("user", "hello"), ("assistant", "Edited."), ("user", "what is new?")];
    let (_, before) = said(&bench, &unknown, &json!({})).await;
    assert_eq!(audience(&bench, &before).await, Audience::Owner);
    // As one from before the programs of a conversation were kept.
    let agent = &bench.page.agent;
    let group = agent.directory().find_or_create(&ConversationChoice::New).await.unwrap().id;
    agent.conversations().set_audience(&group, Audience::Group).await.unwrap();
    let (told, id) = said(&bench, &unknown, &json!({})).await;
    assert_eq!((told, audience(&bench, &id).await), (format!("{SAYS}\n\nHello."), Audience::Group));
}

// SUR-015 SUR-031
#[tokio::test]
async fn a_command_that_is_none_makes_no_conversation_and_forgets_no_thread() {
    let bench = bench().await;
    let id = read_by_others(&bench, &json!({})).await;
    let (told, known) = said(&bench, &[("user", "hi")], &json!({})).await;
    let count = async || bench.page.agent.store().conversations(100).await.unwrap().rows.len();
    let before = count().await;
    for answered in ["Edited.", &told] {
        let typed = [("user", "hi"), ("assistant", answered), ("user", "/gruop on")];
        let (status, _) = answer(bench.complete(&typed, &json!({}))).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
    }
    assert_eq!(count().await, before);
    let next = [("user", "hi"), ("assistant", told.as_str()), ("user", "and?")];
    assert_eq!(said(&bench, &next, &json!({})).await, ("Hello.".to_owned(), known.clone()));
    assert_ne!(known, id);
}

// SUR-020 SUR-031
#[tokio::test]
async fn a_new_conversation_and_one_that_was_deleted_are_read_by_whoever_read_the_one_before() {
    let bench = bench().await;
    let room = json!({ "user": "room" });
    let id = read_by_others(&bench, &room).await;
    let (told, new) = said(&bench, &[("user", "/new")], &room).await;
    assert!(told.ends_with(SAYS), "{told}");
    assert_eq!(audience(&bench, &new).await, Audience::Group);
    let conversations = bench.page.agent.conversations();
    conversations.delete(&id).await.unwrap();
    let (told, again) = said(&bench, &[("user", "what is new?")], &room).await;
    assert_eq!((told, audience(&bench, &again).await), (format!("{SAYS}\n\nHello."), Audience::Group));
    assert_eq!(again, id);
    // The owner's word ends it, also for the one after.
    said(&bench, &[("user", "/group off")], &room).await;
    conversations.delete(&id).await.unwrap();
    let (told, last) = said(&bench, &[("user", "and now?")], &room).await;
    assert_eq!((told.as_str(), audience(&bench, &last).await), ("Hello.", Audience::Owner));
}
