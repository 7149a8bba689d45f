//! `limpid model update`: a newer table of models out of a public list, whatever that list holds.

use std::fs;
use std::path::PathBuf;

use limpid_testkit::{Recorder, Reply};

use crate::kit::World;

/// A list as models.dev publishes it, with a model that no table has and one that the shipped table knows otherwise.
const LIST: &str = r#"{
  "xai": { "models": { "grok-9": { "tool_call": true, "limit": { "context": 2000000, "output": 9000 },
    "cost": { "input": 1, "output": 4 } } } },
  "openai": { "models": { "gpt-4.1": { "limit": { "context": 77000 }, "cost": { "input": 9, "output": 8 } } } }
}"#;

async fn world() -> World {
    World::new("[[reply]]\ntext = \"ok\"\nusage = { input = 400, output = 5 }\n").await
}

fn table(world: &World) -> PathBuf {
    world.home.path().join("data/models.json")
}

/// A server whose list is this.
async fn list(text: &str) -> Recorder {
    let text = text.to_owned();
    let answer = move |_: &limpid_testkit::Recorded| Reply { raw: Some(text.clone()), ..Reply::default() };
    Recorder::answering(answer).await.unwrap()
}

// MOD-121
#[tokio::test]
async fn a_list_from_a_file_shows_what_changes_and_is_used_behind_the_owners_word() {
    let world = world().await;
    world.write("list.json", LIST);
    let file = world.home.path().join("list.json");
    let said = world.done(&["model", "update", "--from", file.to_str().unwrap()]).await;
    assert!(said.contains("new      xai/grok-9\n"), "{said}");
    assert!(said.contains("price input 2.0 → 9") && said.contains("→ 77000"), "{said}");
    assert!(said.contains("Models: 1 new, 1 changed, 0 gone, by "), "{said}");
    assert!(world.recorder.requests().is_empty(), "a file is enough");

    // The chat costs what the new list says, and no longer when the owner says otherwise.
    let cost = async || {
        world.done(&["chat", "--model", "openai/gpt-4.1", "hi"]).await;
        let log = world.json(&["prompt", "log", "--json"]).await;
        log["requests"][0]["end"]["cost_micro_usd"].clone()
    };
    let listed = cost().await;
    world.write("models.toml", "[[model]]\nnames = [\"openai/gpt-4.1\"]\nprice = { input = 0.0, output = 0.0 }\n");
    let owners = cost().await;
    assert!(listed.is_u64() && owners == 0 && listed != owners, "{listed} {owners}");

    let again = world.done(&["model", "update", "--from", file.to_str().unwrap()]).await;
    assert!(again.starts_with("Nothing changes by "), "{again}");
    let json = world.json(&["model", "update", "--json", "--from", file.to_str().unwrap()]).await;
    assert_eq!(json["update"]["added"], serde_json::json!([]));
}

// MOD-121
#[tokio::test]
async fn the_list_is_fetched_from_the_address_that_is_set_and_an_unreachable_one_changes_nothing() {
    let world = world().await;
    let server = list(LIST).await;
    world.write("limpid.toml", &format!("[catalogue]\nurl = \"{}/api.json?key=hidden\"\n", server.url()));
    let said = world.done(&["model", "update"]).await;
    assert!(said.contains("xai/grok-9") && !said.contains("hidden"), "{said}");
    let before = fs::read_to_string(table(&world)).unwrap();
    assert!(!before.contains("hidden"));
    drop(server);
    let run = world.run(&["model", "update"]).await;
    assert!(run.code == 1 && run.err.contains("cannot be fetched") && run.err.contains("--from"), "{}", run.err);
    assert_eq!(fs::read_to_string(table(&world)).unwrap(), before);
}

// MOD-121
#[tokio::test]
async fn broken_hostile_and_huge_lists_change_nothing() {
    let world = world().await;
    world.write("list.json", LIST);
    let file = world.home.path().join("list.json");
    let words = ["model", "update", "--from", file.to_str().unwrap()];
    world.done(&words).await;
    let before = fs::read_to_string(table(&world)).unwrap();
    let deep = format!("{}{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let many: Vec<String> = (0..20_000).map(|n| format!("\"grok-{n}-{}\":{{}}", "x".repeat(280))).collect();
    let many = format!("{{\"xai\":{{\"models\":{{{}}}}}}}", many.join(","));
    let huge = " ".repeat(33 * 1024 * 1024);
    for text in ["", "{", "<html>", "[1]", "{\"xai\":{\"models\":7}}", &deep, &many, &huge] {
        fs::write(&file, text).unwrap();
        let run = world.run(&words).await;
        assert_eq!((run.code, run.out.as_str()), (3, ""), "{}: {}", &text[..text.len().min(50)], run.err);
        assert!(run.err.len() < 600, "{}", run.err);
        assert_eq!(fs::read_to_string(table(&world)).unwrap(), before);
    }
    fs::write(&file, [0xff, 0xfe, 0x00]).unwrap();
    assert_eq!(world.run(&words).await.code, 3);
}

// MOD-121
#[tokio::test]
async fn names_that_command_a_terminal_and_absurd_numbers_are_left_out() {
    let world = world().await;
    let list = r#"{ "xai": { "models": {
        "ok": { "limit": { "context": 1e300 } },
        "red\u001b[31m": {}, "csi\u009b31m": {}, "bidi\u202e": {}, "tall\nname": {}, "a\"b": {},
        "dear": { "cost": { "input": 1e200, "output": 1 } },
        "negative": { "cost": { "input": -1, "output": 2 }, "limit": { "context": -5 } } } } }"#;
    world.write("list.json", list);
    let file = world.home.path().join("list.json");
    let run = world.run(&["model", "update", "--from", file.to_str().unwrap()]).await;
    assert_eq!(run.code, 0, "{}", run.err);
    let controls = |text: &str| text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}');
    assert!(!controls(&run.out) && !controls(&run.err), "{}", run.out);
    let new: Vec<&str> = run.out.lines().filter_map(|line| line.strip_prefix("new      ")).collect();
    assert_eq!(new, ["xai/ok"]);
    assert!(!fs::read_to_string(table(&world)).unwrap().contains("window"), "no window is that large");
}

// MOD-121
#[tokio::test]
async fn two_updates_at_once_leave_one_whole_table() {
    let world = world().await;
    world.write("one.json", LIST);
    world.write("two.json", &LIST.replace("grok-9", "grok-8"));
    let path = |name: &str| world.home.path().join(name).to_str().unwrap().to_owned();
    let (one, two) = (path("one.json"), path("two.json"));
    for _ in 0..3 {
        let (one, two) = (["model", "update", "--from", &one], ["model", "update", "--from", &two]);
        let (one, two) = tokio::join!(world.run(&one), world.run(&two));
        assert_eq!((one.code, two.code), (0, 0), "{} {}", one.err, two.err);
        let text = fs::read_to_string(table(&world)).unwrap();
        assert!(text.contains("grok-8") != text.contains("grok-9"), "{text}");
        limpid_model::catalogue::Table::read("table", text).unwrap();
    }
    let left: Vec<_> = fs::read_dir(world.home.path().join("data")).unwrap().map(|file| file.unwrap()).collect();
    assert!(!left.iter().any(|file| file.file_name().to_string_lossy().ends_with(".new")), "{left:?}");
}

// MOD-121
#[tokio::test]
async fn a_table_that_cannot_be_read_keeps_nobody_from_a_model_and_doctor_tells_it() {
    let world = world().await;
    world.write("data/models.json", "{\"form\":");
    assert_eq!(world.done(&["chat", "hi"]).await, "ok\n");
    let doctor = world.run(&["doctor"]).await;
    assert!(doctor.out.contains("models known") && doctor.out.contains("limpid model update"), "{}", doctor.out);
}

// MOD-121
#[tokio::test]
async fn nothing_is_fetched_unasked_but_weekly_when_that_is_set() {
    let world = world().await;
    let server = list(LIST).await;
    let url = format!("[catalogue]\nurl = \"{}/api.json\"\n", server.url());
    world.write("limpid.toml", &url);
    world.done(&["serve", "--once"]).await;
    world.done(&["chat", "hi"]).await;
    assert!(!table(&world).exists());
    world.write("limpid.toml", &format!("{url}update = \"weekly\"\n"));
    world.done(&["serve", "--once"]).await;
    let fetched = fs::metadata(table(&world)).unwrap().modified().unwrap();
    // A week has not passed.
    world.done(&["serve", "--once"]).await;
    assert_eq!(fs::metadata(table(&world)).unwrap().modified().unwrap(), fetched);
}
