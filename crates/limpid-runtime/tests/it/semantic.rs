//! Finding by meaning, when the owner has switched it on.

use crate::kit::{Bench, all, last, say};
use limpid_config::SemanticConfig;
use limpid_core::{Category, Memory};
use limpid_runtime::{Agent, AgentOptions, ChatRequest, ConversationChoice, Environment, EventKind, TurnEvent};
use limpid_store::VectorState;

/// Words that mean the same, and the model's replies.
const SCRIPT: &str = r#"
alike = [["sister", "family", "relatives"], ["kyoto", "japan"]]

[[reply]]
calls = [{ name = "memory_query", arguments = { query = "relatives in Japan" } }]

[[reply]]
text = "She lives there."
"#;

/// A bench with the index switched on; both models are the one server's.
async fn bench(script: &str) -> Bench {
    let mut bench = Bench::new(script).await;
    let model = Some("openai/meanings".to_owned());
    bench.config.memory.semantic = SemanticConfig { model, ..SemanticConfig::default() };
    bench
}

async fn keep(agent: &Agent, key: &str, content: &str) {
    agent.memory().remember(key, content, Category::General, "test").await.unwrap();
}

async fn found(agent: &Agent, query: &str) -> Vec<String> {
    agent.memory().recall(query, 10).await.unwrap().into_iter().map(|memory: Memory| memory.key).collect()
}

/// The result that the model read last.
fn result(bench: &Bench) -> String {
    let body = bench.server.calls().last().unwrap().json();
    let messages = body["messages"].as_array().unwrap().clone();
    let tool = messages.iter().rfind(|message| message["role"] == "tool").unwrap();
    tool["content"].as_str().unwrap().to_owned()
}

/// Every text that the model was shown.
fn asked(bench: &Bench) -> Vec<String> {
    let requests = bench.server.requests().into_iter().filter(|request| request.path == "/v1/embeddings");
    let texts = requests.flat_map(|request| request.json()["input"].as_array().unwrap().clone());
    texts.map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn notices(events: &[TurnEvent]) -> Vec<&str> {
    let all = events.iter().filter_map(|event| match event {
        TurnEvent::Notice(text) => Some(text.as_str()),
        _ => None,
    });
    all.filter(|text| text.contains("keywords were used")).collect()
}

// KOSHI-029
#[tokio::test]
async fn the_model_finds_by_meaning_what_has_none_of_its_words() {
    let bench = bench(SCRIPT).await;
    let agent = bench.agent();
    keep(&agent, "ana", "My sister moved to Kyoto").await;
    keep(&agent, "tap", "The tap drips").await;
    agent.memory().index_meanings(false, |_| {}).await.unwrap();
    let events = say(&agent, "who is there?").await;
    assert_eq!(result(&bench), "[id:1] ana: My sister moved to Kyoto");
    assert_eq!(notices(&events), [""; 0]);
    assert_eq!(found(&agent, "drips").await, ["tap"], "words still find");
}

// KOSHI-029
#[tokio::test]
async fn what_is_remembered_just_now_is_found_at_once() {
    let bench = bench(SCRIPT).await;
    let agent = bench.agent();
    for key in ["bo", "cy"] {
        keep(&agent, key, "Relatives").await;
        assert_eq!(found(&agent, "family").await[0], key);
    }
}

// KOSHI-029
#[tokio::test]
async fn history_is_searched_by_meaning_too() {
    let script =
        SCRIPT.replace("memory_query", "search_history").replacen("[[reply]]", "[[reply]]\nwhen = \"who was it\"", 1);
    let bench = bench(&format!("{script}\n[[reply]]\ntext = \"Yes.\"\n")).await;
    let agent = bench.agent();
    say(&agent, "My sister moved to Kyoto").await;
    agent.memory().index_meanings(false, |_| {}).await.unwrap();
    say(&agent, "who was it?").await;
    assert!(result(&bench).contains("My sister moved to Kyoto"), "{}", result(&bench));
}

// KOSHI-029
#[tokio::test]
async fn a_model_that_cannot_be_asked_costs_one_notice_and_no_turn() {
    let again = SCRIPT.split_once("\n\n").unwrap().1.repeat(2);
    let bench = bench(&format!("{SCRIPT}\n{again}\n[[reply]]\nstatus = 503\nbody = \"loading\"\n")).await;
    let agent = bench.agent();
    let mut bus = agent.subscribe();
    keep(&agent, "ana", "Japan is where my sister lives").await;
    let events = say(&agent, "who is there?").await;
    assert!(matches!(events.last(), Some(TurnEvent::Done { .. })));
    assert_eq!(result(&bench), "[id:1] ana: Japan is where my sister lives");
    let told = notices(&events);
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("semantic search is unavailable (openai/meanings: "), "{told:?}");
    assert!(agent.memory().index_meanings(false, |_| {}).await.is_err());
    for minutes in [0, 2] {
        bench.clock.forward(jiff::Span::new().minutes(minutes));
        assert_eq!(found(&agent, "Japan").await, ["ana"]);
        let again = ChatRequest { conversation: ConversationChoice::New, ..last("and now?") };
        assert_eq!(notices(&all(agent.chat(again).await.unwrap()).await), [""; 0], "told once");
    }
    let mut failures = 0;
    while let Ok(event) = bus.try_recv() {
        failures += usize::from(matches!(event.change, EventKind::SemanticSearchFailed { .. }));
    }
    assert_eq!(failures, 1);
}

// KOSHI-029
#[tokio::test]
async fn a_model_that_failed_rests_a_minute_and_one_that_fails_after_it_answered_is_told_again() {
    let bench = bench(&format!("{SCRIPT}\n[[reply]]\nwhen = \"poison\"\nstatus = 503\nbody = \"loading\"\n")).await;
    let agent = bench.agent();
    let mut bus = agent.subscribe();
    keep(&agent, "ana", "My sister moved to Kyoto").await;
    found(&agent, "poison").await;
    let failed = asked(&bench).len();
    bench.clock.forward(jiff::Span::new().seconds(59));
    assert_eq!(found(&agent, "family").await, [""; 0]);
    assert_eq!(asked(&bench).len(), failed, "it is left alone");
    bench.clock.forward(jiff::Span::new().seconds(1));
    assert_eq!(found(&agent, "family").await, ["ana"]);
    assert_eq!(agent.memory().semantic_state().await.unwrap().unwrap().failure, None);
    found(&agent, "poison").await;
    let failures = std::iter::from_fn(|| bus.try_recv().ok());
    assert_eq!(failures.filter(|event| matches!(event.change, EventKind::SemanticSearchFailed { .. })).count(), 2);
}

// KOSHI-029
#[tokio::test]
async fn a_text_that_the_model_refuses_does_not_keep_the_others_out() {
    let bench = bench(&format!("{SCRIPT}\n[[reply]]\nwhen = \"poison\"\nstatus = 400\nbody = \"too long\"\n")).await;
    let agent = bench.agent();
    for (key, content) in [("a", "sister"), ("b", "poison"), ("c", "Kyoto")] {
        keep(&agent, key, content).await;
    }
    let indexed = agent.memory().index_meanings(false, |_| {}).await.unwrap().unwrap();
    assert_eq!((indexed.kept, indexed.refused), (3, 1));
    let covers = agent.memory().semantic_state().await.unwrap().unwrap().covers;
    assert_eq!(covers, VectorState { memories: 3, memories_seen: 3, messages: 0, messages_seen: 0 });
    assert_eq!(found(&agent, "family").await, ["a"]);
    assert_eq!(found(&agent, "poison").await, ["b"]);
}

// KOSHI-029
#[tokio::test]
async fn a_refused_text_that_is_alone_is_told_from_a_model_that_refuses_all() {
    let refuses = |what: &str| format!("{SCRIPT}\n[[reply]]\n{what}status = 503\nbody = \"no\"\n");
    let one = bench(&refuses("when = \"poison\"\n")).await;
    let agent = one.agent();
    keep(&agent, "b", "poison").await;
    let indexed = agent.memory().index_meanings(false, |_| {}).await.unwrap().unwrap();
    assert_eq!((indexed.kept, indexed.refused), (1, 1));
    assert_eq!(agent.memory().semantic_state().await.unwrap().unwrap().failure, None);

    let every = bench(&refuses("")).await;
    let agent = every.agent();
    keep(&agent, "b", "poison").await;
    assert!(agent.memory().index_meanings(false, |_| {}).await.is_err());
    assert_eq!(
        agent.memory().semantic_state().await.unwrap().unwrap().covers.memories_seen,
        0,
        "none is marked as refused"
    );
}

// KOSHI-029
#[tokio::test]
async fn what_is_sent_is_cut_and_without_secrets_and_another_model_begins_anew() {
    let mut bench = bench(SCRIPT).await;
    bench.config.memory.semantic.text_prefix = "text: ".to_owned();
    bench.config.memory.semantic.query_prefix = "ask: ".to_owned();
    let url = ("OPENAI_BASE_URL".to_owned(), format!("{}/v1", bench.server.url()));
    let secret = ("HOUSE_TOKEN".to_owned(), "sk-secret-9f3kX2mQ7vB4tL8w".to_owned());
    let agent = Agent::open(AgentOptions { environment: Environment::new([secret, url]), ..bench.options() }).unwrap();
    keep(&agent, "long", &"ü".repeat(2000)).await;
    agent.memory().index_meanings(false, |_| {}).await.unwrap();
    found(&agent, "family sk-secret-9f3kX2mQ7vB4tL8w").await;
    let sent = asked(&bench);
    assert!(sent.contains(&"ask: family [secret HOUSE_TOKEN]".to_owned()), "{sent:?}");
    let long = sent.iter().find(|text| text.starts_with("text: long: ü")).unwrap();
    assert_eq!(long.len(), "text: ".len() + 1000);

    let covered = async |agent: &Agent| agent.memory().semantic_state().await.unwrap().unwrap().covers.memories_seen;
    assert_eq!(covered(&agent).await, 1);
    bench.config.memory.semantic.text_prefix = "passage: ".to_owned();
    let other = bench.agent();
    assert_eq!(covered(&other).await, 0, "what stood before the text was part of it");
    assert_eq!(other.memory().index_meanings(true, |_| {}).await.unwrap().unwrap().kept, 1);
}

/// What was remembered before it was known to be a secret is none of the model's business either, nor is a part of it at
/// the end of what the model gets to see; and what the model says of it is told without it.
// KOSHI-029
#[tokio::test]
async fn no_part_of_a_secret_is_sent_with_what_was_remembered_before_it_was_known() {
    let failure = "\n[[reply]]\nwhen = \"poison\"\nstatus = 503\nbody = \"no sk-secret-9f3kX2mQ7vB4tL8w here\"\n";
    let bench = bench(&format!("{SCRIPT}{failure}")).await;
    let agent = bench.agent();
    keep(&agent, "early", "The token is sk-secret-9f3kX2mQ7vB4tL8w").await;
    keep(&agent, "late", &format!("{} sk-secret-9f3kX2mQ7vB4tL8w", "n".repeat(982))).await;
    drop(agent);
    let url = ("OPENAI_BASE_URL".to_owned(), format!("{}/v1", bench.server.url()));
    let secret = ("HOUSE_TOKEN".to_owned(), "sk-secret-9f3kX2mQ7vB4tL8w".to_owned());
    let agent = Agent::open(AgentOptions { environment: Environment::new([secret, url]), ..bench.options() }).unwrap();
    assert_eq!(agent.memory().index_meanings(false, |_| {}).await.unwrap().unwrap().kept, 2);
    let sent = asked(&bench);
    assert!(sent.contains(&"early: The token is [secret HOUSE_TOKEN]".to_owned()), "{sent:?}");
    assert!(sent.iter().any(|text| text.len() == 1000 && text.ends_with("n [secret HOU")), "{sent:?}");
    assert!(!sent.iter().any(|text| text.contains("sk-secret")), "{sent:?}");
    found(&agent, "poison").await;
    let failure = agent.memory().semantic_state().await.unwrap().unwrap().failure.unwrap();
    assert!(failure.contains("no [secret HOUSE_TOKEN] here"), "{failure}");
}

/// After a turn nobody waits, so that the index is filled then, unless the model rests.
// KOSHI-029
#[tokio::test]
async fn the_index_is_filled_after_a_turn_and_a_model_that_failed_is_left_alone_then_too() {
    let ok = "[[reply]]\ntext = \"ok\"\n".repeat(2);
    let bench = bench(&format!("{ok}[[reply]]\nwhen = \"poison\"\nstatus = 503\nbody = \"loading\"\n")).await;
    let agent = bench.agent();
    // What is left to do when the index was filled as far as it fills by itself.
    let left = async || {
        let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap();
        agent.conversations().wait_idle(&conversation.id).await;
        tokio::task::yield_now().await;
        agent.memory().index_meanings(false, |_| {}).await.unwrap().unwrap().kept
    };
    keep(&agent, "ana", "My sister moved to Kyoto").await;
    say(&agent, "hi").await;
    assert_eq!(left().await, 0);
    let covers = agent.memory().semantic_state().await.unwrap().unwrap().covers;
    assert_eq!(covers, VectorState { memories: 1, memories_seen: 1, messages: 2, messages_seen: 2 });
    found(&agent, "poison").await;
    keep(&agent, "tap", "The tap drips").await;
    say(&agent, "and now?").await;
    assert_eq!(left().await, 3, "the memory and both messages");
    assert_eq!(agent.memory().index_meanings(true, |_| {}).await.unwrap().unwrap().kept, 6, "everything anew");
}

// KOSHI-029
#[tokio::test]
async fn it_is_off_unless_a_model_is_named() {
    let bench = Bench::new(SCRIPT).await;
    let agent = bench.agent();
    keep(&agent, "ana", "My sister moved to Kyoto").await;
    assert_eq!(agent.memory().semantic_state().await.unwrap(), None);
    assert_eq!(agent.memory().index_meanings(true, |_| {}).await.unwrap(), None);
    say(&agent, "who is there?").await;
    assert!(result(&bench).starts_with("none of 1 memories"), "{}", result(&bench));
    assert!(bench.server.requests().iter().all(|request| !request.path.ends_with("/embeddings")));
}
