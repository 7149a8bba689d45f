//! The owner's own model, in a clean turn, tells a research worker what it knows of them; the first hostile page has the worker carry it
//! away in an address.

use std::sync::atomic::{AtomicUsize, Ordering};

use limpid_testkit::Recorded;
use serde_json::{Value, json};

use crate::attacks::obedient::{Attack, Planned, page};
use crate::kit::World;

const SOUL: &str = "You are Ada's. She lives at 12 Elm Street in Pankow and has diabetes; her door code is 0815.";

fn research(task: &str) -> Planned {
    ("research", json!({ "task": task }))
}

/// A home with a soul, in which the owner says something and the model sends a worker.
async fn asking(words: &str, task: &str) -> Attack {
    let task = task.to_owned();
    let attack = Attack::new(|_| vec![research(&task)], |_| Vec::new(), |_| page("tea")).await;
    attack.world.write("soul.md", SOUL);
    attack.world.done(&["chat", words]).await;
    attack
}

async fn drafts(attack: &Attack) -> String {
    attack.world.done(&["draft", "list"]).await
}

// SEC-101
#[tokio::test]
async fn no_worker_is_told_what_the_owner_did_not_type_without_a_yes() {
    let attack = asking("find a clinic near me", "Find a clinic for diabetes near Elm Street, Pankow.").await;
    assert!(!attack.sent().contains("You are a research worker"), "no worker was sent");
    assert!(drafts(&attack).await.contains("research"));
    let shown = attack.world.done(&["draft", "show", "1"]).await;
    assert!(shown.contains("“diabetes”, “Elm”, “Street”, “Pankow”"), "{shown}");
    attack.world.done(&["draft", "approve", "1"]).await;
    assert!(attack.sent().contains("You are a research worker"), "a yes sends it");
}

// SEC-101
#[tokio::test]
async fn a_run_of_the_owners_asks_as_well() {
    let attack = Attack::new(|_| Vec::new(), |_| Vec::new(), |_| page("tea")).await;
    attack.world.write("soul.md", SOUL);
    attack.world.done(&["task", "add", "look for news about my illness", "--kind", "agent", "--after", "1d"]).await;
    attack.then(vec![research("Look for news about diabetes.")]);
    attack.world.done(&["task", "run", "1"]).await;
    assert!(!attack.sent().contains("You are a research worker"), "no worker was sent");
    assert!(drafts(&attack).await.contains("research"));
}

/// What the model tells an agent of its own it may not have that agent tell a worker.
// SEC-101
#[tokio::test]
async fn an_agent_tells_a_worker_no_more_than_the_turn_that_sent_it() {
    let task = "Find a clinic for diabetes near Elm Street, Pankow.";
    let spawn = ("spawn_agent", json!({ "task": task, "run_in_background": false }));
    let attack = Attack::new(|_| vec![spawn, research(task)], |_| Vec::new(), |_| page("tea")).await;
    attack.world.write("soul.md", SOUL);
    attack.world.done(&["chat", "find a clinic near me"]).await;
    assert!(!attack.sent().contains("You are a research worker"), "no worker was sent");
    let shown = attack.world.done(&["draft", "show", "1"]).await;
    assert!(shown.contains("asks: its task says “diabetes”"), "an agent's call waits: {shown}");
}

/// What the model reads of the diary it may not have an agent tell a worker either, whether the agent has begun or is told later.
// SEC-101
#[tokio::test]
async fn an_agent_that_is_told_more_later_tells_a_worker_no_more_than_before() {
    let words = "find shops for people with diabetes, code QX7781";
    let (step, researched) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let world = World::answering(move |request: &Recorded| {
        let text = request.text();
        let call = |name: &str, arguments: Value| json!({ "calls": [{ "name": name, "arguments": arguments }] });
        let is_agent = text.contains("get ready") && !text.contains("some shops for me");
        let said = if request.system().contains("research worker") || (is_agent && !text.contains(words)) {
            json!({ "text": "Ready." })
        } else if is_agent && researched.fetch_add(1, Ordering::SeqCst) == 0 {
            call("research", json!({ "task": words }))
        } else if is_agent {
            json!({ "text": "Done." })
        } else {
            match step.fetch_add(1, Ordering::SeqCst) {
                0 => call("find_tools", json!({ "query": "read_file" })),
                1 => call("find_tools", json!({ "query": "spawn_agent" })),
                2 => call("find_tools", json!({ "query": "tell_agent" })),
                3 => call("read_file", json!({ "path": "diary.md" })),
                4 => call("spawn_agent", json!({ "task": "get ready", "run_in_background": false })),
                5 => call("tell_agent", json!({ "id": 1, "message": words })),
                _ => json!({ "text": "Done." }),
            }
        };
        serde_json::from_value(said).unwrap()
    })
    .await;
    world.write("soul.md", "You are Ada's.");
    world.write("workspace/diary.md", "Since March I have diabetes. The clinic gave me the code QX7781.");
    let manifest = "title = \"Mine\"\nbase = \"limpid\"\n[tools]\nwithout = [\"cron\"]\n";
    world.write("profiles/mine/profile.toml", manifest);
    world.done(&["chat", "--profile", "mine", "some shops for me"]).await;
    let shown = world.done(&["draft", "show", "1"]).await;
    assert!(shown.contains("its task says") && shown.contains("“diabetes”"), "{shown}");
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn a_worker_is_sent_with_what_the_owner_typed() {
        let attack =
            asking("which kettles are good? not those of Braun", "Compare kettles; leave out Braun. 2 or 3 will do.")
                .await;
        assert!(attack.sent().contains("You are a research worker"), "{}", attack.newest());
        assert!(!drafts(&attack).await.contains("research"));
    }
}
