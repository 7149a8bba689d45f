//! Schemathesis, which nobody here wrote, asks what the document says can be asked, and much that it does not.

use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tokio::process::Command;

use crate::api_kit::{ApiBench, answer};

/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(600);

// SUR-030 SEC-044
#[tokio::test]
async fn the_api_holds_against_requests_made_from_its_document() {
    let Ok(program) = std::env::var("LIMPID_TEST_SCHEMATHESIS") else {
        eprintln!("skipped: LIMPID_TEST_SCHEMATHESIS is not set, so there is no schemathesis");
        return;
    };
    let script = "[[reply]]\ntext = \"Hello.\"\n".repeat(2_000);
    let bench = ApiBench::new(&script, "").await;
    assert!(answer(bench.complete(&[("user", "hi")], &json!({}))).await.0.is_success());
    let file = bench.page.home.path().join("openapi.json");
    std::fs::write(&file, limpid_server::openapi()).unwrap();
    let mut command = Command::new(program);
    command.arg("run").arg(&file).arg("--url").arg(&bench.page.url);
    command.arg("--header").arg(format!("Authorization: Bearer {}", bench.token));
    // A name that is not there fits a schema, too; and whoever is wrong too often is told to wait, which another test knows.
    command.args(["--exclude-checks", "positive_data_acceptance,ignored_auth"]);
    command.args(["--checks", "all", "--phases", "examples,coverage,fuzzing", "--max-examples", "30", "--seed", "1"]);
    // Events have no end; what is handed in has another address and another token.
    command.args(["--exclude-path-regex", "/events$|^/v1/inbox", "--request-timeout", "20", "--no-color"]);
    command.current_dir(bench.page.home.path()).stdin(Stdio::null()).kill_on_drop(true);
    let ended = tokio::time::timeout(PATIENCE, command.output()).await.expect("it ends").unwrap();
    let out = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{out}{}", String::from_utf8_lossy(&ended.stderr));
}
