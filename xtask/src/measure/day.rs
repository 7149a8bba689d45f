//! MEA-18: what a day's work of one person costs, beside the leanest peer: thirty messages about mail, files, pages and reminders, with
//! one job that is handed on.
//!
//! Both are asked the same things in one conversation, read the same files and pages, and hear the same from their model. What a
//! provider can read from its cache is counted by one rule: as much of a request as it has in common, from the first byte on, with
//! any request before it.

mod play;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use limpid_model::script::Reply;
use limpid_model::tokens::ExactCounter;
use limpid_prompt::TokenCounter as _;
use limpid_testkit::{Recorded, Recorder};
use serde_json::{Value, json};

use super::Table;
use super::program::{Program, block_on};
use play::{Day, Dialect, text_of};

/// Where files and pages of the day are.
const PARTS: &str = "xtask/src/measure/day";

/// What the person has, and what the model does.
#[derive(Debug, clap::Args)]
pub(crate) struct DayOptions {
    /// A Python that has nanobot-ai 0.3.5, the leanest peer; without it only Limpid plays, and no page is written
    #[arg(long, value_name = "PYTHON")]
    peer: Option<PathBuf>,
}

/// Plays the day. Gives the table, and whether the peer played too.
pub(crate) fn measure(root: &Path, options: &DayOptions) -> Result<(Table, bool), String> {
    let own = Cost::of(&block_on(limpid(root))?);
    let mut rows = vec![own.row("limpid")];
    if let Some(python) = &options.peer {
        let (version, requests) = block_on(nanobot(root, python))?;
        let peer = Cost::of(&requests);
        rows.push(peer.row(&format!("nanobot {version}")));
        let share = |own: usize, peer: usize| format!("{:.2}", own as f64 / peer as f64);
        let new = |cost: &Cost| cost.input - cost.cached;
        rows.push(vec![
            "limpid / nanobot".to_owned(),
            share(own.requests, peer.requests),
            share(own.input, peer.input),
            share(own.cached, peer.cached),
            String::new(),
            share(new(&own), new(&peer)),
            share(own.largest, peer.largest),
        ]);
    }
    let table = Table {
        title: "MEA-18 A day's work",
        how: "Thirty messages of one person in one conversation (talk, five mails that lie as files, notes, a budget, three pages, \
              reminders, and a comparison that is handed to an agent), said to the release binary and to the peer, both with their \
              usual settings. One script plays the model of both, with the same calls under the names that each gives its tools; \
              where a tool is not declared, it is looked for first. Input tokens are those of all requests of the day, agents' and \
              workers' too: tool schemas, texts and calls (o200k). `cached` is what a request has in common with one before it from \
              its first byte on, which is what a provider can read from its cache."
            .to_owned(),
        target: "≤ ¼ of the leanest peer's input tokens, ≥ 90 % of them cached",
        head: vec!["agent", "requests", "input tokens", "cached", "cached %", "not cached", "largest request"],
        rows,
    };
    Ok((table, options.peer.is_some()))
}

/// The day with the release binary.
async fn limpid(root: &Path) -> Result<Vec<Value>, String> {
    let (recorder, day) = server(root, Dialect::Limpid).await?;
    let program = Program::with(root, recorder)?;
    copy(&root.join(PARTS).join("workspace"), &program.home().join("workspace"))?;
    write(&program.home().join("limpid.toml"), "[web]\nmirrors = [\"127.0.0.1\"]\n")?;
    for (at, text) in day.says(&program.recorder.url()).iter().enumerate() {
        let conversation = if at == 0 { "new" } else { "last" };
        program.run(&["chat", "--model", "openai/gpt-5", "-c", conversation, text])?;
    }
    Ok(bodies(&program.recorder))
}

/// The day with the peer, and its version.
async fn nanobot(root: &Path, python: &Path) -> Result<(String, Vec<Value>), String> {
    let (recorder, day) = server(root, Dialect::Nanobot).await?;
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (workspace, settings) = (home.path().join("workspace"), home.path().join("config.json"));
    copy(&root.join(PARTS).join("workspace"), &workspace)?;
    let config = json!({
        "agents": { "defaults": { "workspace": workspace, "model": "gpt-5", "provider": "custom" } },
        "providers": { "custom": { "apiKey": "test", "apiBase": format!("{}/v1", recorder.url()) } },
        "tools": { "ssrfWhitelist": ["127.0.0.0/8"] },
    });
    write(&settings, &config.to_string())?;
    let input = json!({ "config": settings, "says": day.says(&recorder.url()) });
    let mut child = Command::new(python)
        .arg(root.join(PARTS).join("peer.py"))
        .env("HOME", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", python.display()))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.to_string().as_bytes()).map_err(|error| error.to_string())?;
    }
    let done = child.wait_with_output().map_err(|error| error.to_string())?;
    if !done.status.success() {
        return Err(format!("the peer: {}", String::from_utf8_lossy(&done.stderr)));
    }
    let said = String::from_utf8_lossy(&done.stdout);
    Ok((said.lines().last().unwrap_or_default().to_owned(), bodies(&recorder)))
}

/// The server that plays the model, and has the pages.
async fn server(root: &Path, dialect: Dialect) -> Result<(Recorder, Arc<Day>), String> {
    let day = Arc::new(Day::read()?);
    let (asked, folder) = (Arc::clone(&day), root.join(PARTS));
    let answer = move |request: &Recorded| {
        if let Some(page) = request.path.strip_prefix("/pages/").filter(|page| !page.contains('/')) {
            let raw = fs::read_to_string(folder.join("pages").join(page)).ok()?;
            return Some(Reply { raw: Some(raw), content_type: Some("text/html".to_owned()), ..Reply::default() });
        }
        request.wire()?;
        Some(asked.reply(request, dialect, &format!("http://{}", request.header("host")?)))
    };
    let recorder = Recorder::serving(answer).await.map_err(|error| format!("recording server: {error}"))?;
    Ok((recorder, day))
}

fn bodies(recorder: &Recorder) -> Vec<Value> {
    recorder.calls().iter().map(Recorded::json).collect()
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(to).map_err(|error| failed(to, error))?;
    for entry in fs::read_dir(from).map_err(|error| failed(from, error))? {
        let path = entry.map_err(|error| failed(from, error))?.path();
        let Some(name) = path.file_name() else { continue };
        match path.is_dir() {
            true => copy(&path, &to.join(name))?,
            false => fs::copy(&path, to.join(name)).map(|_| ()).map_err(|error| failed(&path, error))?,
        }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// What the requests of a day come to, in tokens.
struct Cost {
    requests: usize,
    input: usize,
    /// In common with a request before, from the first byte on.
    cached: usize,
    largest: usize,
}

impl Cost {
    fn of(bodies: &[Value]) -> Self {
        let counter = ExactCounter::O200K;
        let texts: Vec<String> = bodies.iter().map(text).collect();
        let counts: Vec<usize> = texts.iter().map(|text| counter.count(text)).collect();
        let cached = texts.iter().enumerate().map(|(at, text)| {
            let longest = texts[..at].iter().map(|before| in_common(before, text)).max_by_key(|same| same.len());
            longest.map_or(0, |same| counter.count(same))
        });
        Self {
            requests: bodies.len(),
            input: counts.iter().sum(),
            cached: cached.sum(),
            largest: counts.iter().copied().max().unwrap_or_default(),
        }
    }

    fn row(&self, name: &str) -> Vec<String> {
        let Self { requests, input, cached, largest } = *self;
        let share = 100.0 * cached as f64 / input as f64;
        let numbers = [requests.to_string(), input.to_string(), cached.to_string(), format!("{share:.0}")];
        [vec![name.to_owned()], numbers.to_vec(), vec![(input - cached).to_string(), largest.to_string()]].concat()
    }
}

/// A request in the order in which a provider reads it: tool schemas, then every message with its calls.
fn text(body: &Value) -> String {
    let tools = body.get("tools").map(Value::to_string).unwrap_or_default();
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = messages.iter().map(|message| {
        let calls = message.get("tool_calls").map(Value::to_string).unwrap_or_default();
        format!("{}\n{calls}", text_of(message))
    });
    std::iter::once(tools).chain(texts).collect::<Vec<_>>().join("\n")
}

/// What two texts begin with.
fn in_common<'a>(one: &str, other: &'a str) -> &'a str {
    let same = one.char_indices().zip(other.char_indices()).take_while(|((_, a), (_, b))| a == b);
    let end = same.last().map_or(0, |(_, (at, letter))| at + letter.len_utf8());
    &other[..end]
}
