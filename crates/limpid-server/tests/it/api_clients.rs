//! Clients that nobody here wrote: the packages `openai` for Python and for Node.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::Command;

use crate::api_kit::ApiBench;

/// How long a test waits for a client.
const PATIENCE: Duration = Duration::from_secs(120);

const SCRIPT: &str = "[[reply]]\ntext = [\"Hello \", \"you.\"]\nusage = { input = 9, output = 2 }\n\
                      [[reply]]\ntext = [\"Sec\", \"ond.\"]\nusage = { input = 9, output = 2 }\n[[reply]]\ntext = \"Third.\"\n";

/// A part that a variable names; none where it is not there, which is said.
#[expect(clippy::print_stderr, reason = "whoever runs the tests is to know")]
fn part(variable: &str) -> Option<String> {
    let found = std::env::var(variable).ok();
    if found.is_none() {
        eprintln!("skipped: {variable} is not set, so a real client is not there");
    }
    found
}

/// What a client saw.
async fn seen(program: &str, script: &str, words: &[&str]) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts").join(script);
    let running = Command::new(program).arg(script).args(words).stdin(Stdio::null()).kill_on_drop(true).output();
    let ended = tokio::time::timeout(PATIENCE, running).await.expect("the client ends").unwrap();
    let out = String::from_utf8_lossy(&ended.stdout);
    serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{}", String::from_utf8_lossy(&ended.stderr)))
}

// SUR-031
#[tokio::test]
async fn the_client_for_python_chats() {
    let Some(python) = part("LIMPID_TEST_SDKS") else { return };
    let bench = ApiBench::new(SCRIPT, "").await;
    let seen = seen(&python, "openai-client.py", &[&bench.page.url, &bench.token]).await;
    assert_eq!(seen["models"][0], "agent");
    assert_eq!(seen["model"], *seen["models"].as_array().unwrap().last().unwrap());
    assert_eq!(seen["first"], json!(["Hello you.", "stop", true]));
    assert_eq!(seen["ignored"], "messages.system, temperature");
    assert_eq!(seen["same"], true);
    assert_eq!(seen["stream"], json!(["Second.", "stop", true]));
    assert_eq!(seen["helper"], "Third.");
    assert_eq!(seen["unknown"], json!(["NotFoundError", "model_not_found", "model"]));
    assert_eq!(seen["form"], json!(["BadRequestError", null, "response_format"]));
    assert_eq!(seen["wrong"], json!(["AuthenticationError", "invalid_api_key"]));
}

// SUR-031
#[tokio::test]
async fn the_client_for_node_chats() {
    let Some(modules) = part("LIMPID_TEST_OPENAI_NODE") else { return };
    let bench = ApiBench::new(SCRIPT, "").await;
    let seen = seen("node", "openai-client.mjs", &[&modules, &bench.page.url, &bench.token]).await;
    assert_eq!(seen["models"][0], "agent");
    assert_eq!(seen["first"], json!(["Hello you.", "stop", true]));
    assert_eq!(seen["same"], true);
    assert_eq!(seen["stream"], json!(["Second.", "stop", true]));
    assert_eq!(seen["helper"], "Third.");
    assert_eq!(seen["unknown"], json!(["NotFoundError", "model_not_found", "model"]));
}
