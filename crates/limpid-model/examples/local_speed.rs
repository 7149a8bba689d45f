//! Prints how fast a local model reads and writes on this machine, and the memory that this takes, as JSON (MEA-15).
//!
//! Usage: `cargo run --release -p limpid-model --example local_speed -- MODEL.gguf PROMPT.txt [TOKENS] [THREADS]`
//!
//! The text is read as it stands: no template is put around it, so that another engine can be given the same.
#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::error::Error;
use std::path::{Path, PathBuf};

use limpid_config::{MAX_FILE, regular_file};
use limpid_model::local::measure::{Turn, measure};
use limpid_model::local::{LocalModel, LocalSettings};
use serde_json::json;

/// What the second turn adds behind the first answer.
const ADDED: &str = "\n\nAnd then";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(file), Some(text)) = (words.next().map(PathBuf::from), words.next()) else {
        return Err("usage: local_speed MODEL.gguf PROMPT.txt [TOKENS] [THREADS]".into());
    };
    let output = words.next().map_or(Ok(64), |word| word.parse())?;
    let threads = words.next().map(|word| word.parse()).transpose()?;

    let model = LocalModel::open(&file, &LocalSettings { threads, ..LocalSettings::default() })?;
    let measured = measure(&model, &regular_file::read_text(Path::new(&text), MAX_FILE)?, ADDED, output).await?;
    let report = json!({
        "model": file.file_name().map(|name| name.to_string_lossy()),
        "threads": model.threads(),
        "window": model.footprint().window,
        "first": turn(&measured.first),
        "second": turn(&measured.second),
        "peak_bytes": peak_bytes(),
    });
    println!("{report:#}");
    Ok(())
}

fn turn(turn: &Turn) -> serde_json::Value {
    json!({
        "input": turn.usage.input,
        "reused": turn.usage.cached,
        "output": turn.usage.output,
        "read_ms": turn.reading.as_millis() as u64,
        "write_ms": turn.writing.as_millis() as u64,
        "read_per_second": turn.read_rate(),
        "write_per_second": turn.write_rate(),
    })
}

/// The most memory that this process had; none where the system does not say.
fn peak_bytes() -> Option<u64> {
    let status = regular_file::read_text(Path::new("/proc/self/status"), MAX_FILE).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
