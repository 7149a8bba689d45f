//! MEA-14: a process at work is killed again and again; what was accepted is neither lost nor doubled (SEC-040, SEC-041).
//!
//! The process is this program itself: the real agent with a store on disk, a model in the process and tools whose
//! effects are lines of a file. It tells what was accepted; at the end that is compared with what is stored and done.

mod check;
pub(crate) mod child;
mod world;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::Table;
use super::program::block_on;
use check::Sums;

/// Kills of the full measure; fewer write no page.
const FULL: u32 = 1000;

/// Lines of the process after which it is killed, at most.
const LINES: u64 = 30;

/// Microseconds between the last line that is waited for and the kill, at most.
const MOMENT: u64 = 8_000;

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

/// Takes the measure: its table, its numbers for programs, and whether it is large enough for a page.
pub(crate) fn measure(kills: &Kills) -> Result<(Table, Value, bool), String> {
    let home = TempDir::new().map_err(|error| format!("temporary home: {error}"))?;
    block_on(world::prepare(home.path()))?;
    let mut draw = Draw(kills.seed.wrapping_mul(2).wrapping_add(1));
    let mut told = Vec::new();
    for kill in 0..kills.count {
        let first = u64::from(kill) * world::NUMBERS_OF_A_PROCESS;
        told.extend(run_and_kill(home.path(), first, &mut draw)?);
    }
    finish(home.path())?;
    let sums = block_on(check::compare(home.path(), &told))?;
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
        "unknown": sums.unknown,
    });
    Ok((table(kills, &sums), answer, kills.count >= FULL))
}

fn table(kills: &Kills, sums: &Sums) -> Table {
    let rows = sums.accepted.iter().map(|(kind, accepted)| {
        let cells = [*accepted, sums.lost[kind], sums.doubled[kind], sums.unknown[kind]];
        std::iter::once((*kind).to_owned()).chain(cells.map(|cell| cell.to_string())).collect()
    });
    Table {
        title: "MEA-14 Kills",
        how: format!(
            "The agent at work was killed by SIGKILL {} times at random moments (seed {}) and started again on the \
             same files. Messages call a tool that must not run twice; reminders and reports are delivered; drafts are \
             approved and sent. What the process said was accepted is compared with what is stored and done at the end.",
            kills.count, kills.seed
        ),
        target: "0 lost (neither delivered nor reported as outcome unknown), 0 doubled",
        head: vec!["kind", "accepted", "lost", "doubled", "unknown"],
        rows: rows.collect(),
    }
}

/// Starts the process, reads some of what it tells, kills it in the middle of what it does next, reads the rest.
fn run_and_kill(home: &Path, first: u64, draw: &mut Draw) -> Result<Vec<String>, String> {
    let mut child = start(home, Some(first))?;
    let stdout = child.stdout.take().ok_or("the process has no output")?;
    let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
    let mut told: Vec<String> = lines.by_ref().take(draw.below(LINES) as usize).collect();
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
fn finish(home: &Path) -> Result<(), String> {
    let status = start(home, None)?.wait().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("what was interrupted could not be carried on: {status}")) }
}

fn start(home: &Path, first: Option<u64>) -> Result<Child, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.arg("killed").arg(home).stdin(Stdio::null()).stdout(Stdio::piped());
    if let Some(first) = first {
        command.arg("--first").arg(first.to_string());
    }
    command.spawn().map_err(|error| error.to_string())
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
