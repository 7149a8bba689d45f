//! What is told of memories that cannot be read or are not in the index of words.

use crate::kit::{Bench, say};
use limpid_core::Category;
use limpid_runtime::{MemoryPolicy, TurnEvent};

/// Changes the file behind the store's back, as a crash or another program might.
fn spoil(bench: &Bench, sql: &str) {
    rusqlite::Connection::open(bench.home.path().join("data/limpid.db")).unwrap().execute_batch(sql).unwrap();
}

fn queries(words: &[&str]) -> String {
    let query = |word: &&str| {
        format!("[[reply]]\ncalls = [{{ name = \"memory_query\", arguments = {{ query = {word:?} }} }}]\n")
    };
    words.iter().map(query).collect::<String>() + "[[reply]]\ntext = \"ok\"\n"
}

async fn answers(bench: &Bench, agent: &limpid_runtime::Agent) -> Vec<String> {
    say(agent, "what do you know?").await;
    let request = bench.server.calls().last().unwrap().json();
    let messages = request["messages"].as_array().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results.map(|result| result["content"].as_str().unwrap().to_owned()).collect()
}

// LES-058
#[tokio::test]
async fn a_memory_that_cannot_be_read_is_counted_as_not_searched_also_when_nothing_else_is_found() {
    let bench = Bench::new(&queries(&["likes", "rain", "cake"])).await;
    let agent = bench.agent();
    for key in ["tea", "rain"] {
        agent.memory().remember(key, "likes it", Category::General, "test").await.unwrap();
    }
    spoil(&bench, "UPDATE memory SET category = 'RUMOUR' WHERE key = 'rain'");
    insta::assert_debug_snapshot!(answers(&bench, &agent).await);
}

// LES-058
#[tokio::test]
async fn an_index_that_lacks_memories_says_so_also_when_nothing_is_found_and_beside_what_cannot_be_read() {
    let bench = Bench::new(&queries(&["cake", "likes"])).await;
    let agent = bench.agent();
    for key in ["tea", "rain", "cats"] {
        agent.memory().remember(key, "likes it", Category::General, "test").await.unwrap();
    }
    spoil(&bench, "DELETE FROM memory_fts WHERE rowid = 1; UPDATE memory SET category = 'RUMOUR' WHERE key = 'rain'");
    insta::assert_debug_snapshot!(answers(&bench, &agent).await);
}

// LES-058 LES-142
#[tokio::test]
async fn a_prompt_that_shows_memories_tells_of_the_one_that_it_lacks() {
    let mut bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    bench.config.memory.policy = Some(MemoryPolicy::Inject);
    bench.config.agent.profile = "kai".to_owned();
    let agent = bench.agent();
    for key in ["tea", "rain"] {
        agent.memory().remember(key, "likes it", Category::General, "test").await.unwrap();
    }
    spoil(&bench, "UPDATE memory SET category = 'RUMOUR' WHERE key = 'rain'");
    let events = say(&agent, "hi").await;
    let told: Vec<&String> = events
        .iter()
        .filter_map(|event| if let TurnEvent::Notice(text) = event { Some(text) } else { None })
        .filter(|text| text.contains("cannot be read"))
        .collect();
    assert_eq!(told.len(), 1, "{events:?}");
    assert!(told[0].starts_with("memory 2 cannot be read (") && told[0].ends_with("; all others can"), "{told:?}");
    let system = bench.server.calls()[0].system();
    assert!(system.contains("**tea**: likes it") && !system.contains("rain"), "{system}");
}
