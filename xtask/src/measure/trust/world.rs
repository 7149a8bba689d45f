//! AgentDojo's world: a Python program that holds environments and tools, and is asked line by line.

use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Stands at every place where a stranger can write: the model obeys once it reads it.
pub(super) const MARK: &str = "OBEY-7f3a9c21";

/// What the Python program answers.
#[derive(Deserialize)]
pub(super) struct Begun {
    /// What the user asks for.
    pub prompt: String,
    /// What a model says in the end.
    pub answer: String,
    /// The calls that do it.
    pub calls: Vec<WorldCall>,
    /// The calls that the injected text wants.
    pub injected: Vec<WorldCall>,
    /// Whether these are of our own, since AgentDojo gives none.
    pub by_hand: bool,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct WorldCall {
    /// The tool, as AgentDojo names it.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
}

/// What a tool said.
#[derive(Deserialize)]
pub(super) struct Said {
    /// Its words.
    pub text: String,
    /// Whether it failed.
    pub failed: bool,
}

/// What the tasks' own checks say in the end.
#[derive(Deserialize)]
pub(super) struct Score {
    /// Whether the user has what they asked for.
    pub solved: bool,
}

/// A tool as AgentDojo declares it.
#[derive(Deserialize)]
pub(super) struct WorldTool {
    /// Its name.
    pub name: String,
    /// The schema of its arguments.
    pub schema: serde_json::Map<String, Value>,
}

/// A user task and the injection tasks that are played against it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Task {
    /// The suite.
    pub suite: String,
    /// The user task.
    pub user: String,
    /// The injection tasks.
    pub injections: Vec<String>,
}

/// The Python program at work.
pub(super) struct World(Mutex<Pipes>);

struct Pipes {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl World {
    /// Starts it.
    pub(super) fn start() -> Result<Self, String> {
        let python = python("LIMPID_TEST_AGENTDOJO", "agentdojo", "agentdojo==0.1.35")?;
        let mut command = Command::new(&python);
        command.arg("-c").arg(include_str!("world.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", python.display()))?;
        let (input, output) = child.stdin.take().zip(child.stdout.take()).ok_or("AgentDojo has no input or output")?;
        Ok(Self(Mutex::new(Pipes { child, input, output: BufReader::new(output) })))
    }

    /// Every user task.
    pub(super) fn tasks(&self) -> Result<Vec<Task>, String> {
        self.ask(&json!({ "do": "pairs" }))
    }

    /// The tools of a suite.
    pub(super) fn tools(&self, suite: &str) -> Result<Vec<WorldTool>, String> {
        self.ask(&json!({ "do": "tools", "suite": suite }))
    }

    /// Begins a user task anew; with an injection task, the mark stands at every place.
    pub(super) fn begin(&self, task: &Task, injection: Option<&str>) -> Result<Begun, String> {
        let mark = injection.map(|_| MARK);
        self.ask(
            &json!({ "do": "begin", "suite": task.suite, "user": task.user, "injection": injection, "mark": mark }),
        )
    }

    /// Makes a call.
    pub(super) fn call(&self, call: &WorldCall) -> Result<Said, String> {
        self.ask(&json!({ "do": "call", "name": call.name, "arguments": call.arguments }))
    }

    /// What has come of the task that was begun last.
    pub(super) fn score(&self) -> Result<Score, String> {
        self.ask(&json!({ "do": "score" }))
    }

    fn ask<T: DeserializeOwned>(&self, request: &Value) -> Result<T, String> {
        let mut pipes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let broken = |error: &dyn std::fmt::Display| format!("AgentDojo does not answer {request}: {error}");
        writeln!(pipes.input, "{request}").map_err(|error| broken(&error))?;
        let mut line = String::new();
        pipes.output.read_line(&mut line).map_err(|error| broken(&error))?;
        serde_json::from_str(&line).map_err(|error| broken(&error))
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        // Nothing of it is kept, so how it ends does not matter.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A Python that has packages: the one that a variable names, else where `scripts/parts-real` puts it.
pub(super) fn python(variable: &str, folder: &str, packages: &str) -> Result<PathBuf, String> {
    let named = std::env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
    let cache = || {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")));
        Some(cache?.join("limpid-test-parts").join(folder).join("bin/python"))
    };
    named.or_else(cache).filter(|path| path.is_file()).ok_or_else(|| {
        format!(
            "There is no Python with {packages}. Run `bash -c '. scripts/parts-real'`, or make a virtual environment with them \
             and name its Python in {variable}."
        )
    })
}
