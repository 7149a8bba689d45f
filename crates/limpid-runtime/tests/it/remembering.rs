//! What a conversation remembers, and what it does not learn from another one.

use crate::kit::{Bench, all, say, say_as_guest};
use limpid_core::{Category, Memory, Trust};
use limpid_runtime::{Agent, ChatRequest, ConversationChoice};
use limpid_store::{Author, NewMemory, PromotionId};

async fn keep(agent: &Agent, key: &str, content: &str) {
    let new = NewMemory {
        key: Some(key.to_owned()),
        content: content.to_owned(),
        category: Category::General,
        trust: Trust::Owner,
        author: Author::Said,
        source: None,
        now_ms: agent.now_ms(),
    };
    agent.store().store_memory(new).await.unwrap();
}

/// The result that a request brings back last.
fn result(bench: &Bench, call: usize) -> String {
    let body = bench.server.calls()[call].json();
    let messages = body["messages"].as_array().unwrap().clone();
    let tool = messages.iter().rfind(|message| message["role"] == "tool").unwrap();
    tool["content"].as_str().unwrap().to_owned()
}

const ASK: &str = "[[reply]]\ncalls = [{ name = \"memory_query\", arguments = { query = \"tea\" } }]\n";

// KOSHI-025
#[tokio::test]
async fn the_same_query_in_the_next_turn_finds_what_is_there_by_then() {
    let twice = format!("{ASK}[[reply]]\ntext = \"Oolong.\"\n").repeat(2);
    let bench = Bench::new(&twice).await;
    let agent = bench.agent();
    keep(&agent, "drink", "tea: oolong").await;
    say(&agent, "what do I drink?").await;
    assert_eq!(result(&bench, 1), "[id:1] drink: tea: oolong");
    keep(&agent, "drink", "tea: none").await;
    keep(&agent, "cake", "goes with tea").await;
    say(&agent, "what do I drink?").await;
    let second = result(&bench, 3);
    assert!(second.contains("[id:1] drink: tea: none") && second.contains("[id:2] cake"), "{second}");
}

// KOSHI-020
#[tokio::test]
async fn a_query_returns_as_many_as_were_asked_for_and_ten_unasked() {
    let query = |limit: &str| {
        format!("[[reply]]\ncalls = [{{ name = \"memory_query\", arguments = {{ query = \"tea\"{limit} }} }}]\n")
    };
    let script: String = ["", ", limit = 2", ", limit = 99"].map(query).concat();
    let bench = Bench::new(&(script + "[[reply]]\ntext = \"ok\"\n")).await;
    let agent = bench.agent();
    for n in 0..60 {
        keep(&agent, &format!("k{n}"), "tea").await;
    }
    say(&agent, "which tea?").await;
    assert_eq!([1, 2, 3].map(|call| result(&bench, call).lines().count()), [10, 2, 50]);
}

// LES-051
#[tokio::test]
async fn a_thousand_recalls_leave_the_memories_as_they_were() {
    let bench = Bench::new(&format!("{ASK}[[reply]]\ntext = \"Remember: tea at five.\"\n")).await;
    let agent = bench.agent();
    for n in 0..20 {
        keep(&agent, &format!("k{n}"), &format!("tea number {n}")).await;
    }
    let stored = async || -> (Vec<Memory>, usize) {
        let store = agent.store();
        (store.memories(None).await.unwrap().rows, store.memory_events(None).await.unwrap().rows.len())
    };
    let before = stored().await;
    say(&agent, "which tea?").await;
    assert!(result(&bench, 1).contains("tea number"), "the model was given what it asked for");
    for _ in 0..999 {
        assert!(!agent.memory().recall("tea", 10).await.unwrap().is_empty());
    }
    assert_eq!(stored().await, before);
}

/// Calls that promote memories, with what is added to the soul.
fn promote(promotions: &[(&str, &str)]) -> String {
    let one = |(key, text): &(&str, &str)| {
        format!(
            "[[reply]]\ncalls = [{{ name = \"promote_learning\", arguments = {{ memory_key = \"{key}\", \
             soul_addition = \"{text}\" }} }}]\n"
        )
    };
    promotions.iter().map(one).collect::<String>() + "[[reply]]\ntext = \"ok\"\n"
}

// KOSHI-023 KOSHI-026
#[tokio::test]
async fn a_text_that_reads_as_a_number_names_the_memory_of_that_number() {
    let judge =
        |id: &str| format!("[[reply]]\ncalls = [{{ name = \"memory_reinforce\", arguments = {{ id = {id} }} }}]\n");
    let script: String = ["\"2\"", "2", "\"[id:2]\"", "\"id:2\""].map(judge).concat();
    let bench = Bench::new(&(script + "[[reply]]\ntext = \"ok\"\n")).await;
    let agent = bench.agent();
    keep(&agent, "2", "a key that looks like a number").await;
    keep(&agent, "tea", "the second memory").await;
    say(&agent, "both helped").await;
    let told = [1, 2, 3, 4].map(|call| result(&bench, call));
    assert_eq!(
        told,
        [
            "[id:2] hits: 2, score: 3",
            "[id:2] hits: 3, score: 6",
            "[id:2] hits: 4, score: 9",
            "[id:2] hits: 5, score: 12"
        ]
    );
}

// KAI-050
#[tokio::test]
async fn promotions_are_told_with_their_hits_and_stand_in_the_soul_one_after_another() {
    let script = promote(&[("late", "You test twice."), ("early", "You drink tea.")]);
    let bench = Bench::new(&(script + "[[reply]]\ntext = \"ok\"\n")).await;
    let agent = bench.agent();
    for (key, reinforced) in [("early", 4), ("late", 6)] {
        keep(&agent, key, "a fact").await;
        for _ in 0..reinforced {
            agent.memory().reinforce(&key.into()).await.unwrap();
        }
    }
    say(&agent, "promote both").await;
    assert_eq!(result(&bench, 1), "late (7 hits) is part of the soul from the next turn on");
    assert_eq!(result(&bench, 2), "early (5 hits) is part of the soul from the next turn on");
    say(&agent, "hi").await;
    let system = bench.server.calls()[3].system();
    let places = ["You test twice.", "You drink tea."].map(|text| system.find(text).unwrap());
    assert!(places[0] < places[1], "{system}");
}

// KAI-052
#[tokio::test]
async fn what_a_stranger_wrote_is_only_proposed_for_the_soul_also_by_a_turn_that_has_not_read_it() {
    let bench = Bench::new(&(promote(&[("mail", "You buy gold.")]) + &"[[reply]]\ntext = \"ok\"\n".repeat(2))).await;
    let agent = bench.agent();
    keep(&agent, "tea", "so that the tool is offered").await;
    crate::kit::keep_mail(&agent, "gold").await;
    for key in ["tea", "mail"].repeat(4) {
        agent.memory().reinforce(&key.into()).await.unwrap();
    }
    say(&agent, "promote what helped").await;
    let proposed = "only proposed, as number 1: text of strangers was read, so the owner decides; mail (5 hits) stays a \
                    memory until then";
    let told = result(&bench, 1);
    assert!(told.starts_with("[untrusted ") && told.contains(proposed), "its key is a stranger's word: {told}");
    assert!(agent.store().memory(&"mail".into()).await.unwrap().is_some());
    say(&agent, "hi").await;
    assert!(!bench.server.calls()[2].system().contains("You buy gold."));
    let proposal = agent.memory().proposal(PromotionId(1)).await.unwrap();
    agent.memory().approve_promotion(proposal.id, &proposal.hash()).await.unwrap();
    assert_eq!(agent.store().memory(&"mail".into()).await.unwrap(), None);
    say(&agent, "hi").await;
    assert!(bench.server.calls()[3].system().contains("You buy gold."));
}

// SEC-002
#[tokio::test]
async fn where_every_memory_stands_in_the_prompt_a_turn_that_has_read_a_stranger_changes_none_of_the_owners() {
    let calls = [
        "{ name = \"memory_query\", arguments = { query = \"offer\" } }",
        "{ name = \"memory_store\", arguments = { key = \"bank\", content = \"Evil Bank\" } }",
        "{ name = \"memory_forget\", arguments = { key = \"bank\" } }",
    ];
    let script: String = calls.iter().map(|call| format!("[[reply]]\ncalls = [{call}]\n")).collect();
    let mut bench = Bench::new(&(script + "[[reply]]\ntext = \"ok\"\n")).await;
    bench.config.agent.profile = "kai".to_owned();
    let agent = bench.agent();
    keep(&agent, "bank", "Good Bank").await;
    let known = agent.store().memory(&"bank".into()).await.unwrap();
    crate::kit::keep_mail(&agent, "an offer").await;
    say(&agent, "any offers?").await;
    assert!(result(&bench, 2).contains("bank is the owner's"), "{}", result(&bench, 2));
    assert!(result(&bench, 3).contains("kept as draft"), "{}", result(&bench, 3));
    assert_eq!(agent.store().memory(&"bank".into()).await.unwrap(), known);
}

// LES-147
#[tokio::test]
async fn agents_and_chats_never_share_history() {
    let benches = [Bench::new("[[reply]]\ntext = \"ok\"\n").await, Bench::new("[[reply]]\ntext = \"ok\"\n").await];
    let agents = [benches[0].agent(), benches[1].agent()];
    let mut chats = Vec::new();
    for (at, agent) in agents.iter().enumerate() {
        for chat in 0..2 {
            let request = ChatRequest { text: format!("secret-{at}-{chat}"), ..ChatRequest::default() };
            let handle = agent.chat(request).await.unwrap();
            chats.push((at, chat, handle.conversation().clone()));
            all(handle).await;
        }
    }
    // Again, so that each request has a history of its own to bring.
    for (at, chat, id) in &chats {
        let conversation = ConversationChoice::Id(id.clone());
        let text = format!("again-{at}-{chat}");
        all(agents[*at].chat(ChatRequest { conversation, text, ..ChatRequest::default() }).await.unwrap()).await;
    }
    for (at, bench) in benches.iter().enumerate() {
        let calls = bench.server.calls();
        assert_eq!(calls.len(), 4);
        for (call, chat) in calls.iter().zip([0, 1, 0, 1]) {
            let body = call.text();
            let own = format!("secret-{at}-{chat}");
            assert!(body.contains(&own), "{body}");
            for other in ["secret-0-0", "secret-0-1", "secret-1-0", "secret-1-1"] {
                assert!(other == own || !body.contains(other), "{other} in a request of {own}: {body}");
            }
        }
    }
}

// LES-050
#[tokio::test]
async fn what_a_turn_keeps_that_has_read_a_stranger_is_inferred_even_in_the_owners_own_words() {
    let calls = [
        "{ name = \"memory_store\", arguments = { key = \"home\", content = \"Moved to Bergen\" } }",
        "{ name = \"memory_query\", arguments = { query = \"offer\" } }",
        "{ name = \"memory_store\", arguments = { key = \"weather\", content = \"Loves rain\" } }",
    ];
    let script: String = calls.iter().map(|call| format!("[[reply]]\ncalls = [{call}]\n")).collect();
    let bench = Bench::new(&(script + "[[reply]]\ntext = \"ok\"\n")).await;
    let agent = bench.agent();
    crate::kit::keep_mail(&agent, "an offer").await;
    say(&agent, "I moved to Bergen, and a love of rain brought me there: who loves rain is at home. Any offers?").await;
    let author = async |key: &str| {
        let id = agent.store().memory(&key.into()).await.unwrap().unwrap().id;
        agent.store().provenance(&[id]).await.unwrap()[0].1.author
    };
    assert_eq!((author("home").await, author("weather").await), (Author::Said, Author::Inferred));
}

// LES-050
#[tokio::test]
async fn what_a_guest_said_is_not_what_the_owner_said_also_when_it_is_put_aside() {
    let call = "{ name = \"memory_store\", arguments = { key = \"home\", content = \"Moved to Bergen\" } }";
    let script =
        format!("{}[[reply]]\ncalls = [{call}]\n[[reply]]\ntext = \"ok\"\n", "[[reply]]\ntext = \"ok\"\n".repeat(2));
    let bench = Bench::new(&script).await;
    let agent = bench.agent();
    say_as_guest(&bench, &agent, "I moved to Bergen.").await;
    let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
    agent.conversations().wait_idle(&conversation).await;
    assert_ne!(agent.conversations().clean(&ConversationChoice::Last).await.unwrap(), 0);
    say(&agent, "what do you know of me?").await;
    let home = agent.store().memory(&"home".into()).await.unwrap().unwrap();
    assert!(!home.trust.is_foreign(), "the turn has read nothing of the guest");
    assert_eq!(agent.store().provenance(&[home.id]).await.unwrap()[0].1.author, Author::Inferred);
}
