//! MEA-01: what "hi" costs on a fresh install.

use std::path::Path;

use limpid_model::tokens::ExactCounter;
use limpid_prompt::TokenCounter;
use serde_json::Value;

use super::Table;
use super::program::{Program, block_on};

const PROFILES: [&str; 5] = ["limpid", "kai", "koshi", "picoclaw", "ollm"];

pub(crate) fn measure(root: &Path) -> Result<Table, String> {
    let counter = ExactCounter::O200K;
    let mut rows = Vec::new();
    for profile in PROFILES {
        let body = block_on(first_body(root, profile))?;
        let system = body["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
        let user = body["messages"]
            .as_array()
            .and_then(|all| all.last())
            .and_then(|last| last["content"].as_str())
            .unwrap_or_default();
        let tools = body.get("tools").map(Value::to_string).unwrap_or_default();
        let count = body.get("tools").and_then(Value::as_array).map_or(0, Vec::len);
        let tokens = [system.as_str(), user, tools.as_str()].map(|text| counter.count(text));
        rows.push(vec![
            profile.to_owned(),
            system.len().to_string(),
            tokens[0].to_string(),
            tokens[1].to_string(),
            count.to_string(),
            tokens[2].to_string(),
            tokens.iter().sum::<usize>().to_string(),
        ]);
    }
    Ok(Table {
        title: "MEA-01 Input tokens of the first turn, message \"hi\"",
        how: "The release binary with an empty home sends `chat \"hi\"` to a recording server; the texts and the tool \
              schemas of the recorded request are counted (o200k)."
            .to_owned(),
        target: "`limpid`: total ≤ 1,000 tokens (leanest peer: 6,852), system text < 2,048 bytes",
        head: vec!["profile", "system bytes", "system tokens", "user tokens", "tools", "tool tokens", "total tokens"],
        rows,
    })
}

async fn first_body(root: &Path, profile: &str) -> Result<Value, String> {
    let program = Program::new(root, "[[reply]]\ntext = \"Hello.\"\n").await?;
    program.run(&["chat", "--profile", profile, "--model", "openai/gpt-5", "hi"])?;
    let calls = program.recorder.calls();
    calls.first().map(limpid_testkit::Recorded::json).ok_or_else(|| "no request arrived".to_owned())
}
