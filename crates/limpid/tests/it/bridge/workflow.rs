//! A client that has the agent work for it from beginning to end.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use limpid_testkit::Recorded;
use serde_json::{Value, json};

use super::client::Client;
use super::{is_fenced, worker};
use crate::kit::World;

/// The states of all agents, in the order of the alphabet.
async fn states(client: &mut Client) -> Vec<String> {
    let listed = client.call("list_agents", json!({})).await;
    let inside = listed.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{listed}"));
    let listed: Value = serde_json::from_str(inside).unwrap();
    let agents = listed["agents"].as_array().unwrap();
    let mut states: Vec<String> = agents.iter().map(|agent| agent["state"].as_str().unwrap().to_owned()).collect();
    states.sort_unstable();
    states
}

/// Waits until agents are in these states.
async fn until(client: &mut Client, wanted: &[&str]) {
    for _ in 0..3000 {
        if states(client).await == wanted {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?} is not {wanted:?}", states(client).await);
}

// KOSHI-050 KOSHI-017 KOSHI-043 KOSHI-044
#[tokio::test]
async fn a_client_drives_the_whole_workflow_and_goes_on_after_a_kill_in_the_middle() {
    let sent = Arc::new(Mutex::new(Vec::<Recorded>::new()));
    let kept = Arc::clone(&sent);
    let world = World::answering(move |request| {
        kept.lock().unwrap().push(request.clone());
        worker(request)
    })
    .await;
    let mut client = Client::without_handshake(&world);
    // Research, whose result the plan needs.
    let found = client.call("spawn_agent", json!({ "task": "Research kettles.", "run_in_background": false })).await;
    assert!(found.contains("Kettle K7 boils a litre"), "{found}");
    // A plan from it: the result is named, not repeated.
    let plan = json!({ "task": "Plan with [agent_result:1]", "run_in_background": false });
    let plan = client.call("spawn_agent", plan).await;
    assert!(plan.contains("1. Buy K7."), "{plan}");
    let planner = sent.lock().unwrap().last().unwrap().user();
    assert!(planner.contains("Kettle K7 boils a litre in three minutes."), "{planner}");
    // Specialists beside each other: two end, one does not. None is waited for.
    let mut waiting = Vec::new();
    for task in ["Find the price of K7.", "Find the colour of K7.", "hang over the shop of K7."] {
        let call = json!({ "name": "spawn_agent", "arguments": { "task": task } });
        waiting.push(client.begin("tools/call", call).await);
    }
    while !waiting.is_empty() {
        let answer = client.answer().await;
        let told = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(told.contains("works in the background") && told.contains("list_agents"), "{told}");
        waiting.retain(|id| answer["id"] != *id);
    }
    until(&mut client, &["done", "done", "done", "done", "running"]).await;
    let asked = async {
        while sent.lock().unwrap().len() < 5 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), asked).await.unwrap();
    // In the middle of it the program is killed.
    client.child.kill().await.unwrap();
    let mut client = Client::with_handshake(&world).await;
    until(&mut client, &["done", "done", "done", "done", "interrupted"]).await;
    let mut results = Vec::new();
    for id in 3..=5 {
        results.push(client.call("read_file", json!({ "path": format!("agent:{id}") })).await);
    }
    let of_price = results.iter().position(|result| result.contains("K7 costs 40."));
    let of_price = of_price.unwrap_or_else(|| panic!("{results:?}"));
    assert!(is_fenced(&results[of_price]), "{}", results[of_price]);
    let again =
        client.call("spawn_agent", json!({ "task": "Find the colour of the shop.", "run_in_background": false })).await;
    assert!(again.contains("K7 is red."), "{again}");
    // Curation: what was found is remembered, and found again.
    let kept = client.call("memory_store", json!({ "key": "kettle", "content": "K7 costs 40 and is red." })).await;
    assert!(kept.contains("stored [id:1]"), "{kept}");
    let recalled = client.call("memory_query", json!({ "query": "kettle price" })).await;
    assert!(recalled.contains("K7 costs 40 and is red."), "{recalled}");
    // The owner has an agent of the client's go on. Its end is for the client to ask for: nobody answers in its conversation.
    world.done(&["agent", "tell", &(3 + of_price).to_string(), "And the price of K8?"]).await;
    until(&mut client, &["done", "done", "done", "done", "done", "done", "interrupted"]).await;
    client.hang_up().await;
    // No model but those of workers was asked: the client is the one that thinks.
    let sent = sent.lock().unwrap();
    assert!(
        sent.iter().all(|request| request.text().contains("one task")),
        "{:?}",
        sent.iter().map(Recorded::system).collect::<Vec<_>>()
    );
    assert_eq!(sent.len(), 7);
}
