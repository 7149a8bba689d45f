//! MEA-14: a process at work is killed again and again; what was accepted is neither lost nor doubled.
//!
//! The process is this program itself: the agent as `limpid serve` runs it, with its scheduler and its door, on a store on
//! disk and a clock that runs fast. Provider, push service and mail servers stand outside and live on. It tells what was
//! accepted; at the end that is compared with what is stored and done.
//!
//! # Layout
//! - `outside`: what stands around the process; `model`: what the provider answers.
//! - `world`: the home and the agent; `child`: the process; `told`: what it tells.
//! - `cuts`: what was under way at each kill.
//! - `record`: what is there in the end; `check`: that beside what was accepted.

mod check;
pub(crate) mod child;
mod cuts;
mod model;
mod outside;
mod record;
mod told;
mod world;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::Table;
use super::program::block_on;
use check::Sums;
use outside::Outside;

/// Kills of the full measure; fewer write no page.
const FULL: u32 = 1000;

/// Lines of the process after which it is killed, at most.
const LINES: u64 = 30;

/// Milliseconds that these lines are waited for, at most.
const WAIT: u64 = 600;

/// Microseconds between the last line that is waited for and the kill, at most.
const MOMENT: u64 = 8_000;

/// Of so many processes one may be killed before it serves.
const EARLY: u64 = 6;

/// How long a process may take to serve.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a process says when it serves.
const SERVES: &str = "it serves";

/// The key of the task that repeats, and what it says.
const REPEATED: &str = "again";

/// What is measured.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Kills {
    /// How often the process is killed
    #[arg(long, default_value_t = FULL, value_name = "N")]
    count: u32,
    /// What the moments are drawn from
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

/// What the killed processes told.
#[derive(Default)]
struct Told {
    accepted: Vec<String>,
    /// How often something was under way at a kill.
    cuts: BTreeMap<String, u64>,
}

/// Takes the measure: its table, its numbers for programs, and whether it is large enough for a page.
// MEA-14
pub(crate) fn measure(kills: &Kills) -> Result<(Table, Value, bool), String> {
    let home = TempDir::new().map_err(|error| format!("temporary home: {error}"))?;
    let (sums, told, has_mail) = block_on(async {
        let outside = Arc::new(Outside::start(home.path()).await?);
        let (kills, path) = (*kills, home.path().to_owned());
        // The servers outside live in this runtime, so the killing has a thread of its own.
        let killing = tokio::task::spawn_blocking(move || {
            let told = kill_often(&kills, &path, &outside)?;
            Ok((check::compare(&path, &outside, &told.accepted)?, told, outside.has_mail()))
        });
        killing.await.map_err(|error| error.to_string())?
    })?;
    if !sums.found.is_empty() {
        // The files are kept for whoever looks into it.
        let home = home.keep();
        #[expect(clippy::print_stderr, reason = "this is a command-line program")]
        {
            eprintln!("{}\nin {}", sums.found.join("\n"), home.display());
        }
    }
    let answer = json!({
        "kills": kills.count, "accepted": sums.accepted, "lost": sums.lost, "doubled": sums.doubled,
        "unknown": sums.unknown, "cuts": told.cuts, "mail": has_mail,
    });
    Ok((table(kills, &sums, &told), answer, kills.count >= FULL))
}

fn table(kills: &Kills, sums: &Sums, told: &Told) -> Table {
    let rows = sums.accepted.iter().map(|(kind, accepted)| {
        let cells = [*accepted, sums.lost[kind], sums.doubled[kind], sums.unknown[kind]];
        std::iter::once((*kind).to_owned()).chain(cells.map(|cell| cell.to_string())).collect()
    });
    let cuts: Vec<String> = told.cuts.iter().map(|(what, times)| format!("{what}: {times}")).collect();
    Table {
        title: "MEA-14 Kills",
        how: format!(
            "The agent at work, with scheduler, door and mail polls on a clock that runs 600 times as fast, was killed by \
             SIGKILL {} times at random moments (seed {}) and started again on the same files. Messages and tasks of \
             the model call a tool that must not run twice, over a socket; commands append a line; letters wait as drafts, \
             are approved and leave by SMTP; mail comes by IMAP and items by HTTP, and heartbeats report each; what is \
             delivered is pushed by HTTP. What was accepted, by the process's word and by its store, is compared with \
             what is stored and done at the end. Under way at a kill: {}.",
            kills.count,
            kills.seed,
            cuts.join("; ")
        ),
        target: "0 lost (neither delivered nor reported as outcome unknown), 0 doubled",
        head: vec!["kind", "accepted", "lost", "doubled", "unknown"],
        rows: rows.collect(),
    }
}

/// Kills the process as often as is wanted, lets it carry on to its end, and returns what was told.
fn kill_often(kills: &Kills, home: &Path, outside: &Arc<Outside>) -> Result<Told, String> {
    let mut draw = Draw(kills.seed.wrapping_mul(2).wrapping_add(1));
    let mut told = Told::default();
    let feeding = outside.feed();
    for kill in 0..kills.count {
        let first = u64::from(kill) * world::NUMBERS_OF_A_PROCESS;
        told.take(run_and_kill(home, first, &mut draw)?);
    }
    told.accepted.extend(feeding.stop()?);
    told.take(finish(home)?);
    Ok(told)
}

impl Told {
    fn take(&mut self, lines: Vec<String>) {
        let mut is_polling = false;
        for line in lines {
            match line.split_once(' ') {
                Some(("cut", what)) => *self.cuts.entry(what.to_owned()).or_default() += 1,
                _ if line == SERVES => {}
                Some(("poll", how)) => is_polling = how == "begins",
                _ => self.accepted.push(line),
            }
        }
        if is_polling {
            *self.cuts.entry("mail poll".to_owned()).or_default() += 1;
        }
    }
}

/// Starts the process, reads some of what it tells, kills it in the middle of what it does next, reads the rest. Most
/// processes come as far as serving, however busy the machine is.
fn run_and_kill(home: &Path, first: u64, draw: &mut Draw) -> Result<Vec<String>, String> {
    let (mut child, lines) = start(home, Some(first))?;
    let mut told = Vec::new();
    if draw.below(EARLY) > 0 {
        while told.last().is_none_or(|line| line != SERVES) {
            told.push(lines.recv_timeout(PATIENCE).map_err(|_| "the process does not begin to serve".to_owned())?);
        }
    }
    let until = Instant::now() + Duration::from_millis(draw.below(WAIT));
    for _ in 0..draw.below(LINES) {
        let Ok(line) = lines.recv_timeout(until.saturating_duration_since(Instant::now())) else { break };
        told.push(line);
    }
    std::thread::sleep(Duration::from_micros(draw.below(MOMENT)));
    child.kill().map_err(|error| error.to_string())?;
    told.extend(lines);
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.code().is_some() {
        return Err(format!("the process ended by itself: {status}"));
    }
    Ok(told)
}

/// Lets the process carry on what was interrupted, to its end.
fn finish(home: &Path) -> Result<Vec<String>, String> {
    let (mut child, lines) = start(home, None)?;
    let told = lines.into_iter().collect();
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() { Ok(told) } else { Err(format!("what was interrupted could not be carried on: {status}")) }
}

/// Starts the process; its lines come until it is gone.
fn start(home: &Path, first: Option<u64>) -> Result<(Child, Receiver<String>), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = unprivileged(home, &program).map_err(|error| error.to_string())?;
    command.arg("killed").arg(home).stdin(Stdio::null()).stdout(Stdio::piped());
    if let Some(first) = first {
        command.arg("--first").arg(first.to_string());
    }
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let stdout = child.stdout.take().ok_or("the process has no output")?;
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    Ok((child, lines))
}

/// A program as somebody without rights, since root gets no commands run. The home is given to them.
fn unprivileged(home: &Path, program: &Path) -> std::io::Result<Command> {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0);
    if !is_root {
        return Ok(Command::new(program));
    }
    let status = Command::new("chown").args(["-R", "65534:65534"]).arg(home).status()?;
    if !status.success() {
        return Err(std::io::Error::other("the home cannot be given to another user"));
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program);
    Ok(command)
}

/// Numbers that look drawn and are the same for the same seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit.max(1)
    }
}
