//! What each call cost and what it shared with the one before, as the person sees it.

use crate::kit::World;
use serde_json::{Value, json};

const REPLIES: &str = r#"
[[reply]]
text = "One."
usage = { input = 100, cached = 40, cache_written = 30, output = 2 }
[[reply]]
text = "Two."
usage = { input = 250, cached = 120, cache_written = 7, output = 5, reasoning = 3 }
"#;

/// The cells of the first line of a table that holds a word.
fn cells(table: &str, word: &str) -> Vec<String> {
    let line = table.lines().find(|line| line.contains(word)).unwrap();
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
}

// LES-026 PRO-055 MOD-023
#[tokio::test]
async fn read_cached_written_and_made_tokens_are_shown_as_the_provider_counted_them() {
    let world = World::new(REPLIES).await;
    world.write("limpid.toml", "model = \"openai/gpt-5-mini\"\n");
    world.done(&["chat", "hi"]).await;
    world.done(&["chat", "--conversation", "last", "and now?"]).await;

    let log = world.json(&["prompt", "log", "--json"]).await;
    let counted: Vec<&Value> = log["requests"].as_array().unwrap().iter().map(|row| &row["end"]["tokens"]).collect();
    let tokens = |input: u64, cached: u64, written: u64, output: u64, reasoning: u64| json!({ "input": input, "cached": cached, "cache_written": written, "output": output, "reasoning": reasoning });
    assert_eq!(counted, [&tokens(250, 120, 7, 5, 3), &tokens(100, 40, 30, 2, 0)], "the newest first");
    let table = world.done(&["prompt", "log"]).await;
    assert_eq!(cells(&table, "input")[6..10], ["input", "cached", "written", "output"]);
    assert_eq!(cells(&table, " 250 ")[6..10], ["250", "120", "7", "5"]);
    assert_eq!(cells(&table, " 100 ")[6..10], ["100", "40", "30", "2"]);

    let cost = world.json(&["cost", "--json"]).await;
    let row = &cost["costs"][0];
    let sums = ["requests", "input", "cached", "cache_written", "output"].map(|name| row[name].as_u64().unwrap());
    assert_eq!(sums, [2, 350, 160, 37, 7]);
    let table = world.done(&["cost"]).await;
    assert_eq!(cells(&table, "requests")[..5], ["requests", "input", "cached", "written", "output"]);
    assert_eq!(cells(&table, "350")[1..7], ["2", "350", "160", "37", "7", "3"]);
    let told = world.pipe(&["chat", "--mine", "--conversation", "last"], "/cost\n").await;
    let sum = "2 requests, 350 tokens read (160 from a cache, 37 put into one), 7 written (3 of them reasoning)";
    assert!(told.out.contains(sum) || told.err.contains(sum), "{told:?}");
}

// LES-027
#[tokio::test]
async fn the_log_names_what_broke_the_common_beginning() {
    let world = World::new(REPLIES).await;
    // With every tool in each request, so that the soul alone makes the difference.
    world.write("limpid.toml", "[tools]\ndefer = false\n");
    world.write("soul.md", "You are Ada's agent.\n");
    world.done(&["chat", "hi"]).await;
    world.write("soul.md", "You are Eve's agent.\n");
    world.done(&["chat", "--conversation", "last", "and now?"]).await;
    let log = world.json(&["prompt", "log", "--json"]).await;
    let shared = |at: usize| log["requests"][at]["shared_prefix"].clone();
    assert_eq!(shared(0)["changed"], "soul");
    assert_eq!(shared(1)["changed"], Value::Null);
    let same = "You are ".len();
    assert_eq!((shared(0)["messages"].as_u64(), shared(0)["bytes"].as_u64()), (Some(0), Some(same as u64)));
    let table = world.done(&["prompt", "log"]).await;
    assert!(table.contains(&format!("  {same} until soul  ")), "{table}");
    let old = log["requests"][1]["id"].as_str().unwrap();
    let new = log["requests"][0]["id"].as_str().unwrap();
    let diff = world.done(&["prompt", "diff", old, new]).await;
    assert!(diff.contains("up to `soul`"), "{diff}");
}
