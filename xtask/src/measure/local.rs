//! MEA-15: the local engine beside the reference, llama.cpp's own server, on the same file with the same threads.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::{Value, json};

use super::Table;
use super::table::median;

const ROUNDS: usize = 7;
/// Tokens that are written in each turn.
const OUTPUT: u32 = 64;
/// Bytes of the text that is read.
const TEXT: usize = 4000;
const ADDED: &str = "\n\nAnd then";

pub(crate) fn measure(root: &Path) -> Result<Table, String> {
    let part = |name: &str| {
        std::env::var_os(name)
            .and_then(|value| value.into_string().ok())
            .ok_or_else(|| format!("{name} is not set; run: . scripts/parts"))
    };
    let (model, python) = (part("LIMPID_TEST_GGUF")?, part("LIMPID_TEST_PYTHON")?);
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (prompt, text) = prompt(root, folder.path())?;

    let threads = "1";
    let reference = Reference::start(root, &python, &model, threads)?;
    let (mut ours, mut theirs, mut read, mut write) = (Speeds::default(), Speeds::default(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(&limpid(root, &model, &prompt, threads)?);
        theirs.push(&reference.turns(&text)?);
        // Ratios of neighbours: what else the machine does changes slowly.
        read.extend(ours.read.last().zip(theirs.read.last()).map(|(a, b)| a / b));
        write.extend(ours.write.last().zip(theirs.write.last()).map(|(a, b)| a / b));
    }
    let ratio = ["ratio".to_owned(), format!("{:.2}", median(read)), format!("{:.2}", median(write)), "-".to_owned()];
    Ok(Table {
        title: "MEA-15 The local engine beside the reference",
        how: format!(
            "SmolLM2-135M-Instruct Q4_1, {threads} thread, {ROUNDS} rounds in turn with llama.cpp's own server (the Python \
             package xllamacpp); medians, and the median of the ratios of neighbours. The first turn reads {} tokens and \
             writes {OUTPUT}; the second has the first one, its answer and some words more. The reference's times are its \
             own, Limpid's are from the call to the last piece of the answer.",
            theirs.input
        ),
        target: "≥ 0.95 of the reference; only the new tokens are evaluated",
        head: vec!["engine", "prompt tokens/s", "written tokens/s", "second turn: tokens evaluated of all"],
        rows: vec![ours.row("limpid"), theirs.row("reference"), ratio.into()],
    })
}

/// A text to be read, and the file that has it.
pub(super) fn prompt(root: &Path, folder: &Path) -> Result<(PathBuf, String), String> {
    let text = fs::read_to_string(root.join("docs/spec/prompts.md")).map_err(|error| error.to_string())?;
    let text: String = text.chars().take(TEXT).collect();
    let file = folder.join("prompt.txt");
    fs::write(&file, &text).map_err(|error| error.to_string())?;
    Ok((file, text))
}

/// The speeds of several rounds.
#[derive(Default)]
struct Speeds {
    read: Vec<f64>,
    write: Vec<f64>,
    /// Tokens of the first prompt.
    input: u64,
    second: String,
}

impl Speeds {
    fn push(&mut self, turns: &Value) {
        let number = |path| turns.pointer(path).and_then(Value::as_f64).unwrap_or(f64::NAN);
        self.read.push(number("/first/read_per_second"));
        self.write.push(number("/first/write_per_second"));
        self.input = number("/first/input") as u64;
        let (input, reused) = (number("/second/input"), number("/second/reused"));
        self.second = format!("{} of {input}", input - reused);
    }

    fn row(&self, name: &str) -> Vec<String> {
        let shown = |rates: &Vec<f64>| format!("{:.1}", median(rates.clone()));
        vec![name.to_owned(), shown(&self.read), shown(&self.write), self.second.clone()]
    }
}

/// Limpid's engine in a process of its own: two turns, and the memory that they took.
pub(super) fn limpid(root: &Path, model: &str, prompt: &Path, threads: &str) -> Result<Value, String> {
    let ran = Command::new("cargo")
        .current_dir(root)
        .args(["run", "--release", "--quiet", "--package", "limpid-model", "--example", "local_speed", "--", model])
        .arg(prompt)
        .args([&OUTPUT.to_string(), threads])
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !ran.status.success() {
        return Err(format!("local_speed: {}", String::from_utf8_lossy(&ran.stderr)));
    }
    serde_json::from_slice(&ran.stdout).map_err(|error| format!("local_speed: {error}"))
}

/// A running reference server; it ends when this is dropped.
struct Reference {
    process: Child,
    _input: Option<ChildStdin>,
    address: String,
}

impl Reference {
    fn start(root: &Path, python: &str, model: &str, threads: &str) -> Result<Self, String> {
        let mut process = Command::new(python)
            .arg(root.join("scripts/llama-server.py"))
            .args([model, "8192", threads])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{python}: {error}"))?;
        let (input, mut line) = (process.stdin.take(), String::new());
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(|error| error.to_string())?;
        }
        match line.trim().strip_prefix("http://") {
            Some(address) => Ok(Self { address: address.to_owned(), process, _input: input }),
            None => Err("the reference server did not start".to_owned()),
        }
    }

    /// Two turns as `local_speed` runs them, in its form.
    fn turns(&self, text: &str) -> Result<Value, String> {
        self.complete("warm up", 1, false)?;
        let first = self.complete(text, OUTPUT, false)?;
        let answer = first["content"].as_str().unwrap_or_default();
        let second = self.complete(&format!("{text}{answer}{ADDED}"), OUTPUT, true)?;
        let turn = |reply: &Value| {
            let (read, reused) = (reply["timings"]["prompt_n"].as_u64(), reply["timings"]["cache_n"].as_u64());
            json!({
                "input": read.unwrap_or_default() + reused.unwrap_or_default(),
                "reused": reused,
                "read_per_second": reply["timings"]["prompt_per_second"],
                "write_per_second": reply["timings"]["predicted_per_second"],
            })
        };
        Ok(json!({"first": turn(&first), "second": turn(&second)}))
    }

    fn complete(&self, prompt: &str, tokens: u32, reuse: bool) -> Result<Value, String> {
        let call = json!({"prompt": prompt, "n_predict": tokens, "temperature": 0, "cache_prompt": reuse}).to_string();
        let lost = |error: std::io::Error| format!("reference server: {error}");
        let mut stream = TcpStream::connect(&self.address).map_err(lost)?;
        let head =
            format!("POST /completion HTTP/1.0\r\nHost: {}\r\nContent-Length: {}\r\n\r\n", self.address, call.len());
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(call.as_bytes())).map_err(lost)?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply).map_err(lost)?;
        let body = reply.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        serde_json::from_str(body).map_err(|error| format!("reference server: {error}: {body}"))
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
