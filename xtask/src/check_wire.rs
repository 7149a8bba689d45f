//! `cargo xtask check-wire`: what we send and what our test server answers, held against things that nobody here wrote.
//!
//! 1. The bodies that the tests send are read with the types of the providers' own Python packages.
//! 2. Those packages read what the recording server answers.
//! 3. The tests with a real llama.cpp server, a real LiteLLM proxy, the conformance suite of the Model Context
//!    Protocol, a browser behind one of its servers, and the page in a browser run.
//!
//! Each part is skipped, and said to be, where it is not installed (`scripts/parts-real`).

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use limpid_testkit::kept::KEPT_BODIES;
use limpid_testkit::{Recorder, Script};
use serde_json::Value;

use crate::measure::program::block_on;

/// The environment variable that names a Python with the packages of the providers.
const SDKS: &str = "LIMPID_TEST_SDKS";

/// What the recording server answers; `scripts/sdk-streams.py` expects it once from each package.
const ANSWER: &str = "[[reply]]\ntext = [\"Hello \", \"there.\"]\nusage = { input = 5, output = 3 }\n\
                      calls = [{ name = \"look_up\", arguments = { query = \"tea\" } }]\n";

/// Tests that stand on a part: its variable, what it is, and where they are.
const PARTS: [(&str, &str, [&str; 2]); 7] = [
    ("LIMPID_TEST_PYTHON", "a llama.cpp server", ["limpid-runtime", "llama_server"]),
    ("LIMPID_TEST_CONFORMANCE", "the conformance suite of the Model Context Protocol", ["limpid", "conformance::"]),
    ("LIMPID_TEST_MCP_BROWSER", "a browser behind an MCP server", ["limpid", "mcp_real::"]),
    ("LIMPID_TEST_CHROMIUM", "the page in a browser", ["limpid-server", "browser::"]),
    ("LIMPID_TEST_OPENAI_NODE", "OpenAI's own clients", ["limpid-server", "api_clients::"]),
    ("LIMPID_TEST_SCHEMATHESIS", "requests made from the API's document", ["limpid-server", "api_fuzz::"]),
    ("LIMPID_TEST_LITELLM", "a LiteLLM proxy", ["limpid-model", "litellm"]),
];

/// Runs what can be run.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let mut skipped = Vec::new();
    match part(SDKS) {
        Some(python) => {
            sent_bodies_fit(root, &python)?;
            block_on(answers_are_read(root, &python))?;
        }
        None => skipped.push("the providers' own packages"),
    }
    for (variable, what, [package, filter]) in PARTS {
        match part(variable) {
            Some(_) => test(root, package, &[filter], None)?,
            None => skipped.push(what),
        }
    }
    #[expect(clippy::print_stdout, reason = "this is a command-line program")]
    if !skipped.is_empty() {
        println!("!! SKIPPED, not installed: {}", skipped.join(", "));
    }
    Ok(())
}

fn part(variable: &str) -> Option<OsString> {
    std::env::var_os(variable).filter(|value| !value.is_empty())
}

fn sent_bodies_fit(root: &Path, python: &OsString) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let kept = Some(folder.path());
    test(root, "limpid-model", &[], kept)?;
    test(root, "limpid-runtime", &["ledger::"], kept)?;
    let mut compare = Command::new(python);
    done(compare.arg(root.join("scripts/sdk-types.py")).arg(folder.path()))
}

async fn answers_are_read(root: &Path, python: &OsString) -> Result<(), String> {
    let script = Script::parse(&ANSWER.repeat(5)).map_err(|error| error.to_string())?;
    let recorder = Recorder::start(script).await.map_err(|error| error.to_string())?;
    let (python, script, url) = (python.clone(), root.join("scripts/sdk-streams.py"), recorder.url());
    let read = tokio::task::spawn_blocking(move || done(Command::new(python).arg(script).arg(url)));
    read.await.map_err(|error| error.to_string())?
}

/// Runs tests of a package's program for tests; with a folder, keeps what they send. The programs are those of the whole
/// workspace, so that nothing is built once more with other features.
fn test(root: &Path, package: &str, filters: &[&str], kept: Option<&Path>) -> Result<(), String> {
    let mut build = Command::new("cargo");
    build.args(["test", "--workspace", "--all-targets", "--locked", "--no-run", "--message-format", "json"]);
    let built = build.current_dir(root).output().map_err(|error| format!("cargo: {error}"))?;
    if !built.status.success() {
        return Err("the tests were not built".to_owned());
    }
    let folder = root.join("crates").join(package);
    let manifest = folder.join("Cargo.toml").display().to_string();
    let messages = String::from_utf8_lossy(&built.stdout);
    let program = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|message| {
        let is_it = message["manifest_path"] == manifest.as_str() && message["target"]["name"] == "it";
        message["executable"].as_str().filter(|_| is_it).map(str::to_owned)
    });
    let program = program.ok_or_else(|| format!("{package} has no program for tests"))?;
    let mut test = Command::new(program);
    test.arg("--quiet").args(filters).current_dir(folder);
    if let Some(folder) = kept {
        test.env(KEPT_BODIES, folder);
    }
    done(&mut test)
}

fn done(command: &mut Command) -> Result<(), String> {
    let name = format!("{command:?}");
    match command.status() {
        Err(error) => Err(format!("{name}: {error}")),
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name} ended with {status}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // MOD-190
    #[test]
    fn ci_runs_it_and_the_versions_are_written_down() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
        assert!(read(".ci/run").contains("./check real") && read("check").contains("check-wire"));
        let (parts, page) = (read("scripts/parts-real"), read("docs/models.md"));
        let packages = parts.lines().find_map(|line| line.strip_prefix("sdks=(")).unwrap().trim_end_matches(')');
        for package in packages.split_whitespace() {
            assert!(page.contains(&package.replace("==", " ")), "docs/models.md does not say {package}");
        }
    }
}
