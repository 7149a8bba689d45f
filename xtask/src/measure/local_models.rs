//! Which local model is fetched unasked: tool calls, answers, speed and memory of each candidate.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde::Deserialize;
use serde_json::Value;

use super::Table;
use super::program::release_folder;

const CASES: &str = include_str!("local_models/cases.toml");
/// Seconds that one case may take.
const PATIENCE: &str = "600";
/// Tokens of an answer.
const OUTPUT: u32 = 256;

#[derive(Args, Debug)]
pub(crate) struct LocalModels {
    /// The candidates' files (GGUF)
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Threads that each uses
    #[arg(long, default_value_t = 4)]
    threads: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    tool: Vec<ToolCase>,
    answer: Vec<AnswerCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolCase {
    ask: String,
    /// Tools of which one has to be called; none may be called when this is empty.
    calls: Vec<String>,
    #[serde(default)]
    with: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerCase {
    ask: String,
    says: Vec<String>,
}

pub(crate) fn measure(root: &Path, wanted: &LocalModels) -> Result<Table, String> {
    let cases: Cases = toml::from_str(CASES).map_err(|error| error.to_string())?;
    let rows = wanted.files.iter().map(|file| row(root, &cases, file, wanted.threads)).collect::<Result<_, _>>()?;
    Ok(Table {
        title: "Local models beside each other",
        how: format!(
            "Each file answers as the model of the release binary, one conversation a case, greedily, at most {OUTPUT} tokens: \
             {} cases in which the right tool has to be called or none, {} questions (`xtask/src/measure/local_models/cases.toml`). \
             Speed and the second turn as in MEA-15, with {} threads; memory is the most that the process had while it \
             read and wrote.",
            cases.tool.len(),
            cases.answer.len(),
            wanted.threads
        ),
        target: "the model that is fetched unasked is the best for 8 GB of free memory; its entry asks for no less memory than is seen here",
        head: vec![
            "model",
            "tool cases",
            "answers",
            "prompt tokens/s",
            "written tokens/s",
            "second turn: tokens evaluated of all",
            "memory, MB",
        ],
        rows,
    })
}

fn row(root: &Path, cases: &Cases, file: &Path, threads: u32) -> Result<Vec<String>, String> {
    let lost = |error: std::io::Error| format!("{}: {error}", file.display());
    let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let home = tempfile::tempdir().map_err(lost)?;
    let models = home.path().join("models");
    fs::create_dir(&models).map_err(lost)?;
    std::os::unix::fs::symlink(fs::canonicalize(file).map_err(lost)?, models.join(format!("{name}.gguf")))
        .map_err(lost)?;
    let settings = format!(
        "model = \"local/{name}\"\n[local]\nthreads = {threads}\n[limits]\noutput_tokens = {OUTPUT}\ncalls_with_tools = 1\n"
    );
    fs::write(home.path().join("limpid.toml"), settings).map_err(lost)?;
    fs::write(home.path().join("models.toml"), "[[model]]\nnames = [\"local/*\"]\ntemperature = 0.0\n")
        .map_err(lost)?;

    let ask = |text: &str| Reply::of(root, home.path(), text);
    let mut right = (0, 0);
    for case in &cases.tool {
        right.0 += u32::from(ask(&case.ask)?.is_right_call(case));
    }
    for case in &cases.answer {
        right.1 += u32::from(ask(&case.ask)?.is_right_answer(case));
    }
    let (prompt, _) = super::local::prompt(root, home.path())?;
    let speed = super::local::limpid(root, &file.to_string_lossy(), &prompt, &threads.to_string())?;
    let number = |path: &str| speed.pointer(path).and_then(Value::as_f64).unwrap_or(f64::NAN);
    let evaluated = number("/second/input") - number("/second/reused");
    Ok(vec![
        name,
        format!("{} of {}", right.0, cases.tool.len()),
        format!("{} of {}", right.1, cases.answer.len()),
        format!("{:.1}", number("/first/read_per_second")),
        format!("{:.1}", number("/first/write_per_second")),
        format!("{evaluated} of {}", number("/second/input")),
        format!("{:.0}", number("/peak_bytes") / 1e6),
    ])
}

/// What came of a case.
#[derive(Debug, Default)]
struct Reply {
    /// The tools that were called, with their arguments.
    calls: Vec<(String, String)>,
    answer: String,
}

impl Reply {
    /// Asks in a new conversation.
    fn of(root: &Path, home: &Path, text: &str) -> Result<Self, String> {
        let binary = release_folder(root).join("limpid");
        let ran = Command::new("timeout")
            .arg(PATIENCE)
            .arg(&binary)
            .args(["chat", "--json", "--conversation", "new", text])
            .env("LIMPID_HOME", home)
            .output()
            .map_err(|error| format!("{}: {error}", binary.display()))?;
        let events: Vec<Value> =
            String::from_utf8_lossy(&ran.stdout).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if events.is_empty() {
            return Err(format!("{}: {}", binary.display(), String::from_utf8_lossy(&ran.stderr)));
        }
        Ok(Self::read(&events))
    }

    fn read(events: &[Value]) -> Self {
        let mut reply = Self::default();
        for event in events {
            let word = |name: &str| event[name].as_str().unwrap_or_default().to_lowercase();
            match event["type"].as_str() {
                Some("tool-started") => reply.calls.push((word("name"), word("arguments"))),
                Some("text") => reply.answer += &word("text"),
                _ => {}
            }
        }
        reply
    }

    fn is_right_call(&self, case: &ToolCase) -> bool {
        if case.calls.is_empty() {
            return self.calls.is_empty();
        }
        let has = |arguments: &str| case.with.iter().all(|word| arguments.contains(word.as_str()));
        self.calls.iter().any(|(name, arguments)| case.calls.contains(name) && has(arguments))
    }

    fn is_right_answer(&self, case: &AnswerCase) -> bool {
        self.calls.is_empty() && case.says.iter().any(|word| self.answer.contains(word.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // MOD-153
    #[test]
    fn forty_tool_cases_and_twenty_answers_name_tools_that_exist() {
        let cases: Cases = toml::from_str(CASES).unwrap();
        assert_eq!((cases.tool.len(), cases.answer.len()), (40, 20));
        let tools = include_str!(
            "../../../crates/limpid-context/src/tool_selection/snapshots/limpid_context__tool_selection__tests__every_tool_of_the_profile_fits_the_first_turn@developer.snap"
        );
        let unknown: Vec<_> =
            cases.tool.iter().flat_map(|case| &case.calls).filter(|name| !tools.contains(*name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    // MOD-153
    #[test]
    fn a_case_is_right_by_its_call_or_its_answer() {
        let called = Reply::read(&[
            json!({"type": "tool-started", "name": "memory_store", "arguments": "{\"content\":\"Lives in Kyoto\"}"}),
            json!({"type": "text", "text": "Done: PARIS"}),
        ]);
        let spoke = Reply { calls: Vec::new(), ..Reply::read(&[json!({"type": "text", "text": "It is PARIS."})]) };
        let tool = |calls: &[&str], with: &str| ToolCase {
            ask: String::new(),
            calls: calls.iter().map(|name| (*name).to_owned()).collect(),
            with: vec![with.to_owned()],
        };
        let paris = AnswerCase { ask: String::new(), says: vec!["paris".to_owned()] };
        assert!(called.is_right_call(&tool(&["memory_store"], "kyoto")));
        assert!(!called.is_right_call(&tool(&["memory_store"], "oslo")));
        assert!(!called.is_right_call(&tool(&["memory_query"], "kyoto")));
        assert!(!called.is_right_call(&tool(&[], "")) && spoke.is_right_call(&tool(&[], "")));
        assert!(spoke.is_right_answer(&paris) && !called.is_right_answer(&paris));
    }
}
