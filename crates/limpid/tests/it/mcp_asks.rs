//! Questions that servers put to the owner in the middle of a call.

use std::sync::{Arc, Mutex};

use limpid_testkit::{McpScript, Recorded, Reply, Terminal, real_mcp_server};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::kit::World;

/// The program, and everything that its model was sent.
struct Asked {
    world: World,
    sent: Arc<Mutex<Vec<Recorded>>>,
}

/// The program with a server, whose tools a model calls one after the other, once for each message.
async fn world(words: &[String], tools: &[(&str, Value)]) -> Asked {
    let calls: Vec<Value> = tools
        .iter()
        .map(|(name, arguments)| json!({ "calls": [{ "name": format!("desk__{name}"), "arguments": arguments }] }))
        .collect();
    let sent = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&sent);
    let answer = move |request: &Recorded| -> Reply {
        kept.lock().unwrap().push(request.clone());
        let said = request.texts();
        let done = said.last().is_some_and(|last| last.role == "tool");
        let calls_made = said.iter().filter(|said| said.role == "tool").count();
        let reply = if done { json!({ "text": format!("Done {calls_made}.") }) } else { calls[calls_made].clone() };
        serde_json::from_value(reply).unwrap()
    };
    let mut world = World::answering(answer).await;
    world.set("PATH", &std::env::var("PATH").unwrap_or_default());
    world.write("limpid.toml", "[tools]\ndefer = false\n");
    let mut line: Vec<&str> = vec!["mcp", "add", "desk", "--yes", "--"];
    line.extend(words.iter().map(String::as_str));
    world.done(&line).await;
    let file = world.home.path().join("limpid.toml");
    let mut text = std::fs::read_to_string(&file).unwrap();
    for (name, _) in tools {
        text.push_str(&format!("\n[mcp.servers.desk.tools.{name}]\neffect = \"look\"\n"));
    }
    std::fs::write(file, text).unwrap();
    Asked { world, sent }
}

/// A server of the test's own that asks, in the revision of this way.
async fn asking(way: &str) -> (Asked, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let tool = |name: &str| json!({ "name": name, "description": "about it", "inputSchema": { "type": "object" } });
    let script = McpScript::write(folder.path(), &json!({ "tools": [tool("ask"), tool("visit")] })).unwrap();
    (world(&script.words(way), &[("ask", json!({})), ("visit", json!({}))]).await, folder)
}

/// The newest result of a tool that a model got to read.
fn result(asked: &Asked) -> String {
    let said = asked.sent.lock().unwrap().last().unwrap().texts();
    let result = said.iter().rfind(|said| said.role == "tool");
    result.unwrap_or_else(|| panic!("{said:?}")).text.clone()
}

async fn chat(asked: &Asked) -> Terminal {
    let mut terminal = asked.world.terminal(&["chat"], (50, 100));
    terminal.wait_for("> ").await.unwrap();
    terminal
}

/// Waits until a text stands on the screen and the newest row waits for an answer, and types one: what is typed before is none.
async fn type_after(terminal: &mut Terminal, wanted: &str, keys: &str) {
    let waits = |shown: &str| {
        let last = shown.trim_end().lines().last().unwrap_or_default();
        shown.contains(wanted) && ["y or n>", "answer>"].contains(&last.trim_end())
    };
    terminal.wait(wanted, waits).await.unwrap();
    terminal.keys(keys).await.unwrap();
}

// SUR-034
#[tokio::test(flavor = "multi_thread")]
async fn the_owner_answers_a_question_of_a_server_in_both_revisions() {
    for way in ["", "modern"] {
        let (world, _folder) = asking(way).await;
        let mut terminal = chat(&world).await;
        terminal.keys("begin\r").await.unwrap();
        terminal.wait_for("y or n").await.unwrap();
        let shown = terminal.shown();
        assert!(shown.contains("? the MCP server asks: desk"), "{shown}");
        assert!(shown.contains("│ Which one?   to      nobody\n"), "{shown}");
        assert!(shown.contains("outside text"), "{shown}");
        terminal.keys("y\r").await.unwrap();
        type_after(&mut terminal, "1 of 3\n│ Colour", "\r").await;
        type_after(&mut terminal, "2 of 3\n│ size", "10\r").await;
        type_after(&mut terminal, "that is not what is wanted: a whole number, 1 to 9", "7\r").await;
        type_after(&mut terminal, "3 of 3\n│ note", "\r").await;
        terminal.wait_for("Done 1.").await.unwrap();
        let given: Value = json!({ "action": "accept", "content": { "colour": "blue", "size": 7 } });
        let said = result(&world);
        let sent = said.split_once("answered ").unwrap().1;
        let sent: Value = serde_json::Deserializer::from_str(sent).into_iter().next().unwrap().unwrap();
        assert_eq!([&sent["action"], &sent["content"]], [&given["action"], &given["content"]], "{way}");
        assert!(said.contains("[untrusted "), "what the server makes of it is a stranger's text: {said}");
        let is_read = |request: &Recorded| request.texts().iter().any(|said| said.text.contains("Which one?"));
        assert!(!world.sent.lock().unwrap().iter().any(is_read), "no model reads the question");
        terminal.keys("again\r").await.unwrap();
        terminal.wait_for("  host    pay.example").await.unwrap();
        let shown = terminal.shown();
        assert!(shown.contains("│ https://pay.example/a?b=c"), "{shown}");
        type_after(&mut terminal, "visit   you open it yourself", "n\r").await;
        terminal.wait_for("Done 2.").await.unwrap();
        assert!(result(&world).contains("\"action\": \"decline\""), "{}", result(&world));
    }
}

// SUR-034
#[tokio::test(flavor = "multi_thread")]
async fn where_nobody_can_answer_a_question_of_a_server_is_declined() {
    for way in ["", "modern"] {
        let (world, _folder) = asking(way).await;
        for words in [&["chat", "begin"][..], &["chat", "--json", "again"]] {
            world.world.done(words).await;
            assert!(result(&world).contains("\"action\": \"decline\""), "{}", result(&world));
        }
    }
}

// SUR-034
#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_real_server_is_answered_with_its_defaults_and_an_address_agreed_to() {
    let Some(words) = real_mcp_server("everything") else { return };
    let address = json!({ "url": "https://login.example/x", "message": "Log in." });
    let tools = [("trigger-elicitation-request", json!({})), ("trigger-url-elicitation", address)];
    let world = world(&words, &tools).await;
    let mut terminal = chat(&world).await;
    terminal.keys("begin\r").await.unwrap();
    type_after(&mut terminal, "y or n", "y\r").await;
    let all = 13;
    for number in 1..=all {
        // The name is the one field that has to be said.
        let asks =
            |shown: &str| shown.contains(&format!("{number} of {all}\n")) && shown.trim_end().ends_with("answer>");
        terminal.wait("a field", asks).await.unwrap();
        let shown = terminal.shown();
        let is_name = shown.contains(&format!("{number} of {all}\n│ String\n"));
        type_after(&mut terminal, "answer>", if is_name { "Ada\r" } else { "\r" }).await;
    }
    terminal.wait_for("Done 1.").await.unwrap();
    let said = result(&world);
    assert!(said.contains("Ada") && said.contains("hero-1") && said.contains("42"), "{said}");
    terminal.keys("again\r").await.unwrap();
    terminal.wait_for("  host    login.example").await.unwrap();
    type_after(&mut terminal, "visit   you open it yourself", "y\r").await;
    terminal.wait_for("Done 2.").await.unwrap();
    assert!(result(&world).contains("accept"), "{}", result(&world));
}

// SUR-034
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_a_server_that_has_died_meanwhile_is_sent_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let tools = json!([{ "name": "ask_and_die", "description": "about it", "inputSchema": { "type": "object" } }]);
    let script = McpScript::write(folder.path(), &json!({ "tools": tools })).unwrap();
    let world = world(&script.words(""), &[("ask_and_die", json!({}))]).await;
    let mut terminal = chat(&world).await;
    terminal.keys("begin\r").await.unwrap();
    terminal.wait_for("y or n").await.unwrap();
    script.offer(&json!({ "tools": tools, "ends": true })).unwrap();
    // The answer of the model comes although nobody has answered the question.
    while world.sent.lock().unwrap().len() < 2 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert!(result(&world).contains("closed the connection"), "{}", result(&world));
    terminal.keys("n\r").await.unwrap();
    terminal.wait_for("It did not wait for your answer any more; nothing was sent.").await.unwrap();
    terminal.wait_for("Done 1.").await.unwrap();
}
