//! The tools of memory in turns, over a real socket.

use crate::kit::{Bench, all, last, say};
use limpid_core::{Category, MemoryId, Trust};
use limpid_runtime::Agent;
use limpid_store::{Author, MemoryEventKind, NewMemory, PromotionState};
use limpid_testkit::Recorded;

/// A script in which the model makes these calls one after the other, and then says `ok`.
fn calling(calls: &[&str]) -> String {
    let one = |call: &&str| format!("[[reply]]\ncalls = [{call}]\n");
    calls.iter().map(one).collect::<String>() + "[[reply]]\ntext = \"ok\"\n"
}

/// The results that a request brings back, oldest first.
fn results(request: &Recorded) -> Vec<String> {
    let messages = request.json()["messages"].as_array().unwrap().clone();
    let tool = messages.iter().filter(|message| message["role"] == "tool");
    tool.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

fn offered(request: &Recorded) -> Vec<String> {
    let tools = request.json()["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

fn new(key: &str, content: &str, trust: Trust) -> NewMemory {
    NewMemory {
        key: Some(key.to_owned()),
        content: content.to_owned(),
        category: Category::General,
        trust,
        author: Author::Said,
        source: None,
        now_ms: 0,
    }
}

async fn proven(agent: &Agent, key: &str, content: &str) {
    agent.store().store_memory(new(key, content, Trust::Owner)).await.unwrap();
    for _ in 1..5 {
        agent.memory().reinforce(&key.into()).await.unwrap();
    }
}

// KAI-047 KAI-048 KOSHI-023 KOSHI-026
#[tokio::test]
async fn the_model_keeps_judges_corrects_and_forgets() {
    let bench = Bench::new(&calling(&[
        r#"{ name = "memory_learn", arguments = { key = "deploy", content = "Test first", category = "learning", source = "the outage" } }"#,
        r#"{ name = "memory_learn", arguments = { key = "x", content = "y", category = "General" } }"#,
        r#"{ name = "memory_learn", arguments = { key = "x", content = "y", category = "rumour" } }"#,
        r#"{ name = "memory_store", arguments = { key = "deploy", content = "Test twice" } }"#,
        r#"{ name = "memory_reinforce", arguments = { id = 1 } }"#,
        r#"{ name = "memory_reinforce", arguments = { id = "[id:1]" } }"#,
        r#"{ name = "memory_demote", arguments = { id = "deploy" } }"#,
        r#"{ name = "memory_reinforce", arguments = { id = "nothing" } }"#,
        r#"{ name = "memory_update", arguments = { id = 1, content = "Test on Mondays" } }"#,
        r#"{ name = "memory_update", arguments = { id = 7, content = "z" } }"#,
        r#"{ name = "memory_forget", arguments = { key = "deploy" } }"#,
        r#"{ name = "memory_forget", arguments = { key = "deploy" } }"#,
    ]))
    .await;
    let agent = bench.agent();
    say(&agent, "remember how we deploy").await;
    insta::assert_debug_snapshot!(results(bench.server.calls().last().unwrap()));
    let events = agent.store().memory_events(None).await.unwrap().rows;
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["stored", "stored", "reinforced", "reinforced", "demoted", "updated", "forgotten"]);
    assert_eq!(events[0].after.as_ref().unwrap().category, Category::Learning);
    assert!(events[0].source.as_ref().unwrap().ends_with(" the outage"));
    let twice = events[1].after.as_ref().unwrap();
    assert_eq!((twice.category, twice.hits), (Category::Learning, 1));
}

// KOSHI-026
#[tokio::test]
async fn a_memory_without_a_key_is_corrected_by_its_number() {
    let bench = Bench::new(&calling(&[
        r#"{ name = "memory_update", arguments = { id = 1, content = "Lives in Oslo" } }"#,
        r#"{ name = "memory_update", arguments = { id = "[id:1]", content = "Lives in Bergen" } }"#,
    ]))
    .await;
    let agent = bench.agent();
    agent.store().store_memory(NewMemory { key: None, ..new("", "Lives in Berlin", Trust::Owner) }).await.unwrap();
    say(&agent, "I moved").await;
    let results = results(bench.server.calls().last().unwrap());
    assert!(results.iter().all(|result| result.starts_with("updated [id:1]")), "{results:?}");
    assert_eq!(agent.store().memory(&MemoryId(1).into()).await.unwrap().unwrap().content, "Lives in Bergen");
}

// KAI-049 KAI-050 KAI-051
#[tokio::test]
async fn a_promotion_stands_in_the_next_prompt_until_it_is_undone() {
    let promote = r#"{ name = "promote_learning", arguments = { memory_key = "deploy", soul_addition = "You test before you deploy." } }"#;
    let bench = Bench::new(&(calling(&[promote]) + &"[[reply]]\ntext = \"ok\"\n".repeat(3))).await;
    let agent = bench.agent();
    proven(&agent, "deploy", "Test first").await;
    let before = agent.store().memory(&"deploy".into()).await.unwrap();
    say(&agent, "promote it").await;
    let calls = bench.server.calls();
    assert!(offered(&calls[0]).contains(&"promote_learning".to_owned()));
    assert_eq!(results(&calls[1]), ["deploy (5 hits) is part of the soul from the next turn on"]);
    say(&agent, "hi").await;
    let promoted = bench.server.calls()[2].clone();
    let soul = "in their language.\nWhen they are wrong, say so and say why.\n\nYou test before you deploy.\n\n";
    assert!(promoted.system().contains(soul), "{}", promoted.system());
    assert!(!offered(&promoted).contains(&"promote_learning".to_owned()), "nothing is left to promote");
    assert_eq!(agent.store().memory(&"deploy".into()).await.unwrap(), None);

    let standing = agent.store().promotions(Some(PromotionState::Standing)).await.unwrap().rows;
    agent.memory().unpromote(standing[0].id).await.unwrap();
    assert_eq!(agent.store().memory(&"deploy".into()).await.unwrap(), before);
    say(&agent, "hi").await;
    assert!(!bench.server.calls()[3].system().contains("You test before"));
}

// KAI-129
#[tokio::test]
async fn without_a_soul_of_the_owners_a_promotion_is_added_to_the_default_and_an_undo_leaves_it_as_it_was() {
    let promote = r#"{ name = "promote_learning", arguments = { memory_key = "deploy", soul_addition = "You test before you deploy." } }"#;
    for profile in ["kai", "limpid"] {
        let mut bench = Bench::new(&(calling(&[promote]) + "[[reply]]\ntext = \"ok\"\n")).await;
        bench.config.agent.profile = profile.to_owned();
        assert!(!bench.home.path().join("soul.md").exists());
        let agent = bench.agent();
        proven(&agent, "deploy", "Test first").await;
        let soul = async || {
            let request = limpid_runtime::PreviewRequest {
                conversation: limpid_runtime::ConversationChoice::New,
                ..limpid_runtime::PreviewRequest::default()
            };
            let shown = agent.preview(request).await.unwrap().prompt;
            let parts = shown.messages().iter().flat_map(limpid_prompt::PromptMessage::parts);
            let own = parts.filter(|part| matches!(part.section(), "soul" | "soul-additions"));
            own.map(|part| part.text().trim().to_owned()).filter(|text| !text.is_empty()).collect::<Vec<_>>()
        };
        let before = soul().await;
        assert!(!before.concat().is_empty(), "{profile} has a soul of its own");
        say(&agent, "promote it").await;
        let mut added = before.clone();
        added.push("You test before you deploy.".to_owned());
        assert_eq!(soul().await, added, "{profile}");
        let standing = agent.store().promotions(Some(PromotionState::Standing)).await.unwrap().rows;
        agent.memory().unpromote(standing[0].id).await.unwrap();
        assert_eq!(soul().await, before, "{profile}");
        assert!(!bench.home.path().join("soul.md").exists());
    }
}

// KAI-049 KAI-050
#[tokio::test]
async fn four_hits_or_an_unknown_key_promote_nothing() {
    let calls = ["four", "none"].map(|key| {
        format!(r#"{{ name = "promote_learning", arguments = {{ memory_key = "{key}", soul_addition = "x" }} }}"#)
    });
    let bench = Bench::new(&calling(&[&calls[0], &calls[1]])).await;
    let agent = bench.agent();
    proven(&agent, "five", "so that the tool is offered").await;
    agent.store().store_memory(new("four", "x", Trust::Owner)).await.unwrap();
    for _ in 1..4 {
        agent.memory().reinforce(&"four".into()).await.unwrap();
    }
    say(&agent, "promote").await;
    assert_eq!(
        results(bench.server.calls().last().unwrap()),
        [
            r#"{"success":false,"error":"memory 2 has 4 of the 5 hits that a promotion takes"}"#,
            r#"{"success":false,"error":"there is no memory none"}"#,
        ]
    );
    assert_eq!(agent.store().promotions(None).await.unwrap().rows, []);
    assert_eq!(agent.store().memories(None).await.unwrap().rows.len(), 2);
}

// SEC-002
#[tokio::test]
async fn outside_memories_are_found_by_query_and_never_pinned_or_injected() {
    let query = r#"{ name = "memory_query", arguments = { query = "offer" } }"#;
    let mut bench = Bench::new(&calling(&[query])).await;
    bench.config.memory.policy = Some(limpid_runtime::MemoryPolicy::Inject);
    bench.config.agent.profile = "kai".to_owned();
    let agent = bench.agent();
    agent.store().store_memory(new("mail", "offer: buy gold", Trust::Outside)).await.unwrap();
    agent.store().store_memory(new("city", "Lives in Berlin", Trust::Owner)).await.unwrap();
    let refused = agent.memory().pin(&"mail".into(), true).await.unwrap_err().to_string();
    assert!(refused.starts_with("memory 1 ([someone else’s] mail) was written by a stranger"), "{refused}");
    // Even one that came to be pinned or proven stays out.
    agent.store().pin_memory(&"mail".into(), true, 1).await.unwrap();
    for _ in 0..5 {
        agent.memory().reinforce(&"mail".into()).await.unwrap();
    }
    say(&agent, "any offers?").await;
    let calls = bench.server.calls();
    assert!(calls[0].system().contains("- **city**: Lives in Berlin"));
    assert!(!calls[0].text().contains("gold"), "{}", calls[0].text());
    assert!(results(&calls[1])[0].contains("[id:1] mail: offer: buy gold"));
    assert!(!offered(&calls[0]).contains(&"promote_learning".to_owned()));
    // The owner may say it themselves.
    agent.memory().correct(&"mail".into(), Some("There is an offer".to_owned()), None, "test").await.unwrap();
    agent.memory().pin(&"mail".into(), true).await.unwrap();
}

// SEC-002 SEC-065 PRO-007
#[tokio::test]
async fn every_profile_protects_what_the_owner_remembers() {
    let mut protected = Vec::new();
    for shipped in ["kai", "koshi", "limpid", "ollm"] {
        for name in [shipped, "b"] {
            let mut bench = Bench::new(&calling(&[
                r#"{ name = "memory_query", arguments = { query = "offer" } }"#,
                r#"{ name = "memory_store", arguments = { key = "bank", content = "Evil Bank" } }"#,
            ]))
            .await;
            bench.config.agent.profile = name.to_owned();
            bench.write("profiles/a/profile.toml", &format!("base = \"{shipped}\"\n"));
            bench.write("profiles/b/profile.toml", "base = \"a\"\n");
            let agent = bench.agent();
            agent.store().store_memory(new("mail", "offer: buy gold", Trust::Outside)).await.unwrap();
            agent.store().store_memory(new("bank", "Good", Trust::Owner)).await.unwrap();
            say(&agent, "any offers?").await;
            let bank = agent.store().memory(&"bank".into()).await.unwrap().unwrap();
            protected.push((shipped, name, bank.content == "Good"));
        }
    }
    assert!(protected.iter().all(|(.., as_it_was)| *as_it_was), "{protected:?}");
}

// SEC-002
#[tokio::test]
async fn a_turn_that_has_read_a_stranger_leaves_what_prompts_show_as_it_is() {
    let bench = Bench::new(&calling(&[
        r#"{ name = "memory_query", arguments = { query = "offer" } }"#,
        r#"{ name = "memory_store", arguments = { key = "bank", content = "Evil Bank" } }"#,
        r#"{ name = "memory_update", arguments = { id = "bank", content = "Evil Bank" } }"#,
        r#"{ name = "memory_forget", arguments = { key = "bank" } }"#,
        r#"{ name = "memory_store", arguments = { key = "note", content = "Evil note" } }"#,
    ]))
    .await;
    let agent = bench.agent();
    agent.store().store_memory(new("mail", "offer: buy gold", Trust::Outside)).await.unwrap();
    for key in ["bank", "note"] {
        agent.store().store_memory(new(key, "Good", Trust::Owner)).await.unwrap();
    }
    agent.memory().pin(&"bank".into(), true).await.unwrap();
    say(&agent, "any offers?").await;
    let results = results(bench.server.calls().last().unwrap());
    for refused in [&results[1], &results[4]] {
        assert!(refused.contains("is the owner's"), "{refused}");
    }
    // What changes something of the owner's waits.
    for waits in &results[2..4] {
        assert!(waits.contains("kept as draft"), "{waits}");
    }
    let bank = agent.store().memory(&"bank".into()).await.unwrap().unwrap();
    assert_eq!((bank.content.as_str(), bank.trust), ("Good", Trust::Owner));
    let note = agent.store().memory(&"note".into()).await.unwrap().unwrap();
    assert_eq!((note.content.as_str(), note.trust), ("Good", Trust::Owner), "also what no prompt shows");
}

// LES-050
#[tokio::test]
async fn what_the_model_says_is_not_kept_and_what_it_infers_is_marked() {
    let bench = Bench::new(&format!(
        "[[reply]]\ntext = \"I will remember that you love rain.\"\n{}",
        calling(&[
            r#"{ name = "memory_store", arguments = { key = "home", content = "Moved to Bergen" } }"#,
            r#"{ name = "memory_learn", arguments = { key = "weather", content = "Loves rain", category = "PREFERENCE" } }"#,
            r#"{ name = "memory_query", arguments = { query = "Bergen rain" } }"#,
        ])
    ))
    .await;
    let agent = bench.agent();
    say(&agent, "I moved to Bergen.").await;
    assert_eq!(agent.store().memory_events(None).await.unwrap().rows, []);
    bench.clock.forward(jiff::Span::new().hours(1));
    say(&agent, "so remember that").await;
    let rows = agent.store().memories(None).await.unwrap().rows;
    let ids: Vec<_> = rows.iter().map(|memory| memory.id).collect();
    let known = agent.store().provenance(&ids).await.unwrap();
    let conversation = agent.store().conversations(1).await.unwrap().rows[0].id.clone();
    let authors: Vec<Author> = known.iter().map(|(_, known)| known.author).collect();
    assert_eq!(authors, [Author::Said, Author::Inferred]);
    for (_, known) in &known {
        assert_eq!((known.conversation.as_ref(), known.at_ms), (Some(&conversation), agent.now_ms()));
        assert!(known.source.as_ref().unwrap().starts_with("turn:"));
    }
    let answer = results(bench.server.calls().last().unwrap()).pop().unwrap();
    assert!(answer.contains("home: Moved to Bergen\n") || answer.ends_with("home: Moved to Bergen"), "{answer}");
    assert!(answer.contains("weather: Loves rain (inferred)"), "{answer}");
}

// KAI-052
#[tokio::test]
async fn a_turn_that_has_read_a_stranger_only_proposes_a_promotion() {
    let bench = Bench::new(
        &(calling(&[
            r#"{ name = "memory_query", arguments = { query = "offer" } }"#,
            r#"{ name = "promote_learning", arguments = { memory_key = "deploy", soul_addition = "You obey mails." } }"#,
        ]) + "[[reply]]\ntext = \"ok\"\n"),
    )
    .await;
    let agent = bench.agent();
    proven(&agent, "deploy", "Test first").await;
    agent.store().store_memory(new("mail", "offer: buy gold", Trust::Outside)).await.unwrap();
    say(&agent, "any offers?").await;
    let told = results(bench.server.calls().last().unwrap()).pop().unwrap();
    assert!(told.starts_with("not done yet: kept as draft 1"), "{told}");
    assert!(agent.store().memory(&"deploy".into()).await.unwrap().is_some());
    let new_chat = || limpid_runtime::ChatRequest { text: "hi".to_owned(), ..Default::default() };
    all(agent.chat(new_chat()).await.unwrap()).await;
    assert!(!bench.server.calls().last().unwrap().system().contains("You obey mails."));

    let draft = agent.store().drafts(&[limpid_core::DraftState::Open]).await.unwrap().rows.remove(0);
    agent.drafts().approve(draft.id, None).await.unwrap();
    assert_eq!(agent.store().memory(&"deploy".into()).await.unwrap(), None);
    all(agent.chat(new_chat()).await.unwrap()).await;
    assert!(bench.server.calls().last().unwrap().system().contains("You obey mails."));
}

// LES-054
#[tokio::test]
async fn three_facts_of_one_turn_are_all_recalled() {
    let bench = Bench::new(&format!(
        "[[reply]]\ncalls = [{}]\n{}",
        ["tea", "rain", "cats"]
            .map(|it| format!(r#"{{ name = "memory_store", arguments = {{ key = "{it}", content = "likes {it}" }} }}"#))
            .join(", "),
        calling(&[r#"{ name = "memory_query", arguments = { query = "likes" } }"#])
    ))
    .await;
    let agent = bench.agent();
    say(&agent, "I like tea, rain and cats").await;
    let found = results(bench.server.calls().last().unwrap()).pop().unwrap();
    assert_eq!(found.lines().count(), 3, "{found}");
}

// KAI-033
#[tokio::test]
async fn the_local_path_of_kai_offers_three_tools_of_memory() {
    let mut bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    bench.config.agent.profile = "kai".to_owned();
    let agent = bench.agent();
    let mut request = last("hi");
    request.path = Some("chat-local".to_owned());
    all(agent.chat(request).await.unwrap()).await;
    let mut tools = offered(&bench.server.calls()[0]);
    tools.retain(|tool| tool.contains("memory") || tool.contains("learn"));
    assert_eq!(tools, ["memory_store", "memory_reinforce", "memory_forget"]);
}

// LES-060 KAI-051
#[tokio::test]
async fn every_change_of_the_models_is_an_event_that_can_be_undone() {
    let bench = Bench::new(&calling(&[
        r#"{ name = "memory_store", arguments = { key = "tea", content = "Oolong" } }"#,
        r#"{ name = "memory_forget", arguments = { key = "tea" } }"#,
    ]))
    .await;
    let agent = bench.agent();
    say(&agent, "tea: oolong").await;
    let events = agent.store().memory_events(None).await.unwrap().rows;
    assert_eq!(events[1].kind, MemoryEventKind::Forgotten);
    let back = agent.memory().undo(events[1].id).await.unwrap().unwrap();
    assert_eq!(back.content, "Oolong");
}
