//! Editors that send what they should not, and that go away at the worst moment.

use serde_json::{Value, json};

use crate::kit::{Bench, asked, call, count, text};

#[tokio::test]
async fn lines_that_are_no_messages_end_nothing() {
    let bench = Bench::new(&text("Still here.")).await;
    let mut editor = bench.editor().await;
    let session = bench.session(&mut editor).await;
    let deep = "[".repeat(100_000);
    let garbage: [&[u8]; 9] = [
        b"",
        b"not JSON",
        b"\xff\xfe\x00",
        b"[]",
        b"17",
        b"{\"jsonrpc\":\"2.0\",\"id\":1e999,\"method\":\"session/new\"}",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"nobody\"}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":900,\"result\":{}}",
        deep.as_bytes(),
    ];
    for line in garbage {
        editor.line(line).await;
    }
    for (method, params) in [
        ("session/prompt", json!({ "sessionId": session })),
        ("session/prompt", json!({ "sessionId": "nobody", "prompt": [{ "type": "text", "text": "hi" }] })),
        ("session/prompt", json!({ "sessionId": session, "prompt": [] })),
        ("session/prompt", json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "  " }] })),
        ("session/load", json!({ "sessionId": "../../etc/passwd", "cwd": bench.folder(), "mcpServers": [] })),
        ("session/load", json!({ "sessionId": "\u{1b}[2J", "cwd": bench.folder(), "mcpServers": [] })),
        ("session/close", json!({ "sessionId": "nobody" })),
        ("session/delete", json!({ "sessionId": "nobody" })),
        ("session/set_mode", json!({ "sessionId": "nobody", "modeId": "developer" })),
        ("session/set_config_option", json!({ "sessionId": session, "configId": "wings", "value": "two" })),
        ("fs/read_text_file", json!({ "sessionId": session, "path": "/etc/passwd" })),
        ("nothing/known", json!({})),
    ] {
        let error = editor.ask(method, params.clone()).await.expect_err(method);
        let message = error["message"].as_str().unwrap();
        assert!(!message.contains('\u{1b}'), "{message:?}");
    }
    assert_eq!(editor.prompt(&session, "Are you there?").await, "end_turn");
    assert_eq!(editor.said("agent_message_chunk"), "Still here.");
    editor.leave().await.unwrap();
}

#[tokio::test]
async fn a_line_without_an_end_is_not_kept() {
    let bench = Bench::new(&text("Still here.")).await;
    let mut editor = bench.editor().await;
    let session = bench.session(&mut editor).await;
    editor.line(&vec![b'x'; 33 * 1024 * 1024]).await;
    assert_eq!(editor.prompt(&session, "Are you there?").await, "end_turn");
}

#[tokio::test]
async fn a_closed_session_takes_no_prompt_and_closing_stops_what_runs() {
    let bench = Bench::new(&(call("slow", &json!({})) + &text("No."))).await;
    let mut editor = bench.editor().await;
    let session = bench.session(&mut editor).await;
    let running = editor.say(&session, "Wait.").await;
    editor.until(|editor| !editor.of("tool_call").is_empty()).await;
    editor.ask("session/close", json!({ "sessionId": session })).await.unwrap();
    assert_eq!(editor.end(running).await.unwrap()["stopReason"], "cancelled");
    let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "hi" }] });
    let error = editor.ask("session/prompt", prompt).await.unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("session/load"), "{error}");
    assert_eq!(count(&bench.slow.ended), 0);
}

// SEC-002
#[tokio::test]
async fn an_editor_that_goes_away_in_the_middle_of_a_question_has_said_no() {
    let bench = Bench::new(&(call("post", &json!({ "to": "ada", "text": "hi" })) + &text("No."))).await;
    let mut editor = bench.editor().await;
    let session = bench.session(&mut editor).await;
    editor.say(&session, "Tell Ada.").await;
    editor.until(|editor| editor.questions.len() == 1).await;
    editor.leave().await.unwrap();
    assert_eq!(count(&bench.post.sent), 0);
    // Nothing is left undone: no turn, no draft, and the next start of the program does not send it either.
    let agent = bench.agent();
    assert!(agent.store().unfinished_turns().await.unwrap().rows.is_empty());
    assert!(agent.drafts().list(true).await.unwrap().rows.is_empty());
    agent.conversations().resume().await.unwrap();
    let mut editor = bench.editor().await;
    let load = json!({ "sessionId": session, "cwd": bench.folder(), "mcpServers": [] });
    editor.ask("session/load", load).await.unwrap();
    assert_eq!(editor.of("tool_call")[0]["status"], "failed");
    assert_eq!(count(&bench.post.sent), 0);
}

#[tokio::test]
async fn an_editor_that_goes_away_in_the_middle_of_an_answer_stops_it() {
    let bench = Bench::new(&(call("slow", &json!({})) + &text("No."))).await;
    let mut editor = bench.editor().await;
    let session = bench.session(&mut editor).await;
    editor.say(&session, "Wait.").await;
    editor.until(|editor| !editor.of("tool_call").is_empty()).await;
    editor.leave().await.unwrap();
    asked(&bench, 1).await;
    assert_eq!((count(&bench.slow.begun), count(&bench.slow.ended)), (1, 0));
    assert!(bench.agent().store().unfinished_turns().await.unwrap().rows.is_empty());
}

/// Every text of a value.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().flat_map(texts).collect(),
        // Places of files are opened and not drawn.
        Value::Object(fields) => {
            fields.iter().filter(|(name, _)| *name != "locations").flat_map(|(_, value)| texts(value)).collect()
        }
        _ => Vec::new(),
    }
}

/// The letters of every text of a value, also of its paths.
fn letters(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(letters).collect(),
        Value::Object(fields) => fields.values().map(letters).collect(),
        _ => String::new(),
    }
}

// SEC-089
#[tokio::test]
async fn no_path_of_a_model_steers_what_an_editor_draws() {
    let name = "sh.\u{202e}fdp.\u{1b}]8;;x\u{7}\nreadme";
    let path = format!("WORK/{name}");
    let script = call("read_file", &json!({ "path": path }))
        + &call("edit_file", &json!({ "path": path, "old_text": "two", "new_text": "2" }))
        + &text("Done.");
    let bench = Bench::new(&script).await;
    bench.write(name, "one two three\n");
    let mut editor = bench.editor().await;
    let session = bench.session(&mut editor).await;
    editor.answers.push_back("no");
    assert_eq!(editor.prompt(&session, "Write 2 for two.").await, "end_turn");
    let load = json!({ "sessionId": session, "cwd": bench.folder(), "mcpServers": [] });
    editor.ask("session/load", load).await.unwrap();
    let steers = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
    for told in editor.updates.iter().chain(&editor.questions) {
        assert!(!letters(told).contains(steers), "{told}");
        assert!(told["locations"].is_null(), "{told}");
    }
    let change = &editor.questions[0]["toolCall"]["content"][1]["content"]["text"];
    assert!(change.as_str().is_some_and(|told| told.contains("cannot be shown here")), "{}", editor.questions[0]);
}

/// What is made elsewhere might not be a `Drawn`.
// SEC-005
#[test]
fn texts_of_the_protocol_are_made_in_one_place() {
    let makers = [
        "Error::new(",
        "PermissionOption::new(",
        ".title(",
        "Notice::new(",
        "ContentBlock::from(",
        "TextContent::new(",
        "ToolCall::new(",
        "ContentChunk::new(",
        "SelectOption::new(",
        "AvailableCommand::new(",
        "PlanEntry::new(",
        "Diff::new(",
        "ToolCallLocation::new",
    ];
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let listed = |folder: &std::path::Path| -> Vec<std::path::PathBuf> {
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect()
    };
    let mut paths = listed(&folder);
    while let Some(file) = paths.pop() {
        if file.is_dir() {
            paths.extend(listed(&file));
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let own = text.split("#[cfg(test)]").next().unwrap();
        let found: Vec<&str> = makers.into_iter().filter(|maker| own.contains(maker)).collect();
        assert!(file.ends_with("texts.rs") || found.is_empty(), "{}: {found:?}", file.display());
    }
}

// SEC-005
#[tokio::test]
async fn nothing_that_an_editor_draws_is_fetched_because_somebody_looks_at_it() {
    let picture = "![P](http://evil.example/a.png?x=4711) <img src=http://evil.example>";
    let path = json!({ "path": picture });
    let look = call("read_file", &path);
    let post = call("post", &json!({ "to": picture, "text": picture }));
    let reply = |fields: &str| format!("[[reply]]\nreasoning = {picture:?}\n{fields}");
    let script = look + &post + &reply(&format!("text = \"Look: {picture}\\n```\\nlet a = vec![1];\\n```\"\n"));
    let bench = Bench::new(&script).await;
    let mut editor = bench.editor().await;
    let session = bench.session(&mut editor).await;
    let asked = editor.say(&session, picture).await;
    editor.until(|editor| editor.questions.len() == 1).await;
    let question = editor.questions[0].clone();
    editor.reply("no").await;
    editor.end(asked).await.unwrap();
    let load = json!({ "sessionId": session, "cwd": bench.folder(), "mcpServers": [] });
    editor.ask("session/load", load).await.unwrap();
    let listed = editor.ask("session/list", json!({})).await.unwrap();
    assert!(editor.said("agent_thought_chunk").contains("! [P](http"), "{:?}", editor.updates);
    assert!(editor.said("agent_message_chunk").contains("Look: ! [P](http"), "{:?}", editor.updates);
    for told in editor.updates.iter().chain([&question, &listed]) {
        for text in texts(told) {
            let is_block = text.starts_with("```") || text.contains("\n```\n");
            assert!(is_block || !text.contains("![") && !text.contains("<img"), "{text:?} of {told}");
        }
    }
}
