//! The owner wrote of themselves into their copy of a research worker's prompt; a page that the worker reads has it carried away.

use serde_json::json;

use crate::attacks::obedient::{Attack, page};

const OWN: &str = "You are a research worker. Leave out what does not suit Ada, who has diabetes.\n";

/// What the model was sent when a worker was, in a home where this is the worker's section.
async fn sent(section: &str) -> String {
    let task = json!({ "task": "Compare kettles." });
    let attack = Attack::new(|_| vec![("research", task)], |_| Vec::new(), |_| page("tea")).await;
    attack.world.write("soul.md", "You are Ada's.");
    attack.world.write("profiles/limpid/sections/research.md", section);
    attack.world.done(&["chat", "compare kettles"]).await;
    let sent = attack.sent();
    assert!(sent.contains("You are a research worker"), "a worker was sent");
    sent
}

// SEC-101
#[tokio::test]
async fn a_worker_is_told_what_ships() {
    assert!(!sent(OWN).await.contains("diabetes"));
    assert!(!sent(&format!("---\npublic: false\n---\n{OWN}")).await.contains("diabetes"));
}

/// A manifest has no front matter.
// SEC-101
#[tokio::test]
async fn a_worker_is_told_no_words_of_a_manifest() {
    let attack =
        Attack::new(|_| vec![("research", json!({ "task": "Compare kettles." }))], |_| Vec::new(), |_| page("tea"))
            .await;
    attack.world.write("soul.md", "You are Ada's.");
    let manifest = "title = \"Mine\"\nbase = \"limpid\"\n[path.research]\npublic = true\nmessages = [\n\
                    { tools = [\"web_fetch\"] },\n\
                    { role = \"system\", sections = [\"research\"], end = \"\\nAda has diabetes.\" },\n\
                    { role = \"user\", sections = [\"user-message\"] } ]\n";
    attack.world.write("profiles/mine/profile.toml", manifest);
    attack.world.done(&["chat", "--profile", "mine", "compare kettles"]).await;
    let sent = attack.sent();
    assert!(sent.contains("You are a research worker") && !sent.contains("diabetes"), "{sent}");
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn a_worker_is_told_what_the_owner_says_anybody_may_read() {
        assert!(sent(&format!("---\npublic: true\n---\n{OWN}")).await.contains("diabetes"));
    }
}
