//! Finding by meaning, through the program as a person runs it.

use crate::kit::World;
use serde_json::json;

const ALIKE: &str = "alike = [[\"sister\", \"family\"], [\"kyoto\", \"japan\"]]\n";
const CONFIG: &str = "[memory.semantic]\nmodel = \"openai/meanings\"\n";

async fn remembered(script: &str) -> World {
    let world = World::new(script).await;
    world.write("limpid.toml", CONFIG);
    for (key, content) in [("ana", "My sister moved to Kyoto."), ("tap", "It drips.")] {
        world.run(&["memory", "add", key, content]).await;
    }
    world
}

// KOSHI-029
#[tokio::test]
async fn the_index_is_filled_shown_and_searched() {
    let world = remembered(ALIKE).await;
    let before = world.run(&["memory", "index", "--status"]).await;
    assert_eq!(before.out, "words: 2 of 2 memories\nmeaning (openai/meanings): 0 of 2 memories, 0 of 0 messages\n");
    let filled = world.run(&["memory", "index"]).await;
    assert_eq!(filled.out, "words: 2 of 2 memories\nmeaning (openai/meanings): 2 of 2 memories, 0 of 0 messages\n");
    assert!(filled.err.contains("2 texts were looked at."), "{}", filled.err);
    let again = world.run(&["memory", "index", "--json"]).await;
    let covers = json!({ "model": "openai/meanings", "memories": 2, "memories_indexed": 2, "messages": 0, "messages_indexed": 0 });
    let words = json!({ "memories": 2, "memories_indexed": 2 });
    let index = json!({ "version": 1, "index": { "words": words, "meaning": covers } });
    assert_eq!(serde_json::from_str::<serde_json::Value>(&again.out).unwrap(), index);
    assert!(!again.err.contains("looked at"), "nothing was missing: {}", again.err);
    assert!(world.run(&["memory", "index", "--anew"]).await.err.contains("2 texts were looked at."));

    let found = world.run(&["memory", "search", "family", "in", "Japan"]).await;
    assert!(found.out.contains("My sister moved to Kyoto.") && !found.out.contains("drips"), "{}", found.out);
    let doctor = world.run(&["doctor"]).await;
    assert!(doctor.out.contains("OK  semantic index: openai/meanings, 512 numbers a text"), "{}", doctor.out);
}

// KOSHI-029
#[tokio::test]
async fn words_find_alone_when_the_model_cannot_be_asked() {
    let world = remembered("[[reply]]\nstatus = 404\nbody = \"no such model\"\n").await;
    let found = world.run(&["memory", "search", "Kyoto"]).await;
    assert!(found.out.contains("My sister moved to Kyoto."), "{}", found.out);
    assert_eq!(found.err.matches("semantic search is unavailable (openai/meanings: ").count(), 1, "{}", found.err);
    let filled = world.run(&["memory", "index"]).await;
    assert!(filled.code != 0 && filled.err.contains("no such model"), "{filled:?}");
    let doctor = world.run(&["doctor"]).await;
    assert!(doctor.out.contains("semantic index: openai/meanings answered 404"), "{}", doctor.out);
    assert!(doctor.out.contains("Until then words alone find what is remembered."), "{}", doctor.out);
}
