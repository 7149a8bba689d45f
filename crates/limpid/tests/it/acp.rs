//! `limpid acp` with editors that nobody here wrote: the Python package `agent-client-protocol` and the program `acpx`.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

use crate::kit::World;

/// How long a test waits for a client.
const PATIENCE: Duration = Duration::from_secs(120);

/// A part that a variable names; none where it is not there, which is said.
#[expect(clippy::print_stderr, reason = "whoever runs the tests is to know")]
fn part(variable: &str) -> Option<String> {
    let found = std::env::var(variable).ok();
    if found.is_none() {
        eprintln!("skipped: {variable} is not set, so the real client of the Agent Client Protocol is not there");
    }
    found
}

/// A folder with a file, and a program whose model reads it, changes it, answers, and then tells something without an end.
async fn world() -> (World, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap().display().to_string();
    std::fs::write(folder.path().join("a.txt"), "one two\n").unwrap();
    let call = |name: &str, arguments: &str| {
        format!("[[reply]]\ncalls = [{{ name = \"{name}\", arguments = {arguments} }}]\n")
    };
    let path = format!("{real}/a.txt");
    let script = call("read_file", &format!("{{ path = \"{path}\" }}"))
        + &call("edit_file", &format!("{{ path = \"{path}\", old_text = \"two\", new_text = \"2\" }}"))
        + "[[reply]]\nreasoning = \"It is done.\"\ntext = \"Changed.\"\n"
        + "[[reply]]\ntext = \"Once upon a time\"\nhang = \"end\"\n"
        + "[[reply]]\ntext = \"Still here.\"\n";
    let mut world = World::new(&script).await;
    world.write("limpid.toml", "[tools]\ndefer = false\n");
    world.set("PATH", &std::env::var("PATH").unwrap());
    let home = world.home.path().display().to_string();
    world.set("HOME", &home);
    (world, folder)
}

/// A client that is started in the folder; it starts the program in the environment of the test.
fn command(world: &World, folder: &Path, program: &str, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(words).env_clear().envs(world.variables()).env("LIMPID_HOME", world.home.path()).env("TZ", "UTC");
    command.current_dir(folder).kill_on_drop(true);
    command
}

/// Runs a client in the folder to its end.
async fn client(world: &World, folder: &Path, program: &str, words: &[&str]) -> String {
    let (out, err) = ended(world, folder, program, words).await;
    assert!(!out.is_empty(), "{words:?} said nothing: {err}");
    out
}

/// What a client printed to its end, and its errors.
async fn ended(world: &World, folder: &Path, program: &str, words: &[&str]) -> (String, String) {
    let running = command(world, folder, program, words).output();
    let ended = tokio::time::timeout(PATIENCE, running).await.expect("the client ends").unwrap();
    let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(!err.contains("panicked"), "{err}");
    (out.into_owned(), err.into_owned())
}

fn of<'a>(seen: &'a Value, kind: &str) -> Vec<&'a Value> {
    seen.as_array().unwrap().iter().filter(|update| update["sessionUpdate"] == kind).collect()
}

#[tokio::test]
async fn the_python_client_holds_a_chat_with_a_tool_a_difference_a_question_and_a_cancel() {
    let Some(python) = part("LIMPID_TEST_ACP_PYTHON") else { return };
    let (world, folder) = world().await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/acp-client.py");
    let words = [
        script,
        ".",
        "allow_once",
        "Write 2 for two.",
        "cancel:Tell me more.",
        "Are you there?",
        "--",
        env!("CARGO_BIN_EXE_limpid"),
        "acp",
    ];
    let real = folder.path().canonicalize().unwrap();
    let words = words.map(|word| if word == "." { real.to_str().unwrap() } else { word });
    let report: Value = serde_json::from_str(&client(&world, folder.path(), &python, &words).await).unwrap();
    assert_eq!(report["agent"], "limpid");
    assert_eq!(report["stops"], json!(["end_turn", "cancelled", "end_turn"]));
    assert_eq!(report["options"], json!(["mode", "model", "effort"]));
    let questions: Vec<&Value> =
        report["seen"].as_array().unwrap().iter().filter(|seen| seen["question"].is_object()).collect();
    assert_eq!(questions[0]["kinds"], json!(["allow_once", "allow_once", "reject_once"]));
    let calls = of(&report["seen"], "tool_call");
    assert_eq!((&calls[0]["kind"], &calls[1]["kind"]), (&json!("read"), &json!("edit")));
    assert_eq!((&calls[1]["content"][0]["oldText"], &calls[1]["content"][0]["newText"]), (&json!("two"), &json!("2")));
    assert_eq!(std::fs::read_to_string(folder.path().join("a.txt")).unwrap(), "one 2\n");
    assert_eq!(of(&report["seen"], "agent_thought_chunk").last().unwrap()["content"]["text"], "It is done.");
    let again: Vec<&Value> = of(&report["loaded"], "user_message_chunk");
    assert_eq!(again[0]["content"]["text"], "Write 2 for two.");
    assert_eq!(of(&report["loaded"], "tool_call").len(), 2);
    assert_eq!(report["listed"], true);
}

#[tokio::test]
async fn acpx_holds_a_chat_with_a_tool_a_difference_and_a_question() {
    let Some(acpx) = part("LIMPID_TEST_ACPX") else { return };
    for (policy, expected) in [("--deny-all", "one two\n"), ("--approve-all", "one 2\n")] {
        let (world, folder) = world().await;
        let program = format!("{} acp", env!("CARGO_BIN_EXE_limpid"));
        let words = ["--agent", &program, policy, "--format", "json", "exec", "Write 2 for two."];
        let said = client(&world, folder.path(), &acpx, &words).await;
        let messages: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let last = messages.iter().rev().find(|message| message.get("result").is_some()).unwrap();
        assert_eq!(last["result"]["stopReason"], "end_turn", "{said}");
        assert!(messages.iter().any(|message| message["method"] == "session/request_permission"), "{said}");
        assert_eq!(std::fs::read_to_string(folder.path().join("a.txt")).unwrap(), expected, "{policy}");
    }
}

#[tokio::test]
async fn acpx_cancels_an_answer() {
    let Some(acpx) = part("LIMPID_TEST_ACPX") else { return };
    let (world, folder) = world().await;
    let program = format!("{} acp", env!("CARGO_BIN_EXE_limpid"));
    let session = ["--agent", &program, "--deny-all"];
    let with = |more: &[&'static str]| [&session[..], more].concat();
    client(&world, folder.path(), &acpx, &with(&["sessions", "new"])).await;
    client(&world, folder.path(), &acpx, &with(&["prompt", "Write 2 for two."])).await;
    let words = [&session[..], &["--format", "json", "prompt", "Tell me more."]].concat();
    let telling = ended(&world, folder.path(), &acpx, &words);
    let cancelling = async {
        world.recorder.wait_for(4).await;
        loop {
            let said = client(&world, folder.path(), &acpx, &with(&["cancel"])).await;
            if !said.contains("nothing to cancel") {
                break;
            }
        }
    };
    let cancelling = async { tokio::time::timeout(PATIENCE, cancelling).await.expect("the answer can be cancelled") };
    let ((said, err), ()) = tokio::join!(telling, cancelling);
    // On a machine with much work `acpx` can end well without a word of what was cancelled; what it says is true.
    assert!(said.is_empty() || said.contains("\"stopReason\":\"cancelled\""), "{said}{err}");
    close(&world, folder.path(), &acpx, &with(&["sessions", "close"])).await;
}

/// Ends what `acpx` left running for its session. On a machine with much work it can find its own background process still at the
/// cancelled answer, and fails; that is nothing of ours, and it is asked again.
async fn close(world: &World, folder: &Path, program: &str, words: &[&str]) {
    for _ in 0..10 {
        let running = command(world, folder, program, words).output();
        if let Ok(ended) = tokio::time::timeout(PATIENCE / 4, running).await
            && ended.unwrap().status.success()
        {
            return;
        }
    }
}

#[tokio::test]
async fn standard_output_is_the_protocol_only_and_its_end_ends_the_program() {
    let world = World::new("[[reply]]\ntext = \"Hi.\"\n").await;
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": 1 } }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "session/list", "params": {} }),
    ];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let run = world.pipe(&["acp", "--profile", "limpid"], &input).await;
    assert_eq!(run.code, 0, "{}", run.err);
    let said: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).expect("a message")).collect();
    assert_eq!(said[0]["result"]["agentInfo"]["name"], "limpid");
}
