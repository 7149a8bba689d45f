//! MEA-04: from process start to the request on the wire.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use limpid_testkit::Recorder;

use super::Table;
use super::program::{Program, block_on};
use super::table::median;

const RUNS: usize = 20;

// MEA-04
pub(crate) fn measure(root: &Path) -> Result<Table, String> {
    let (times, peaks) = block_on(runs(root))?;
    let worst = times.iter().copied().fold(0.0, f64::max);
    let largest = peaks.iter().copied().fold(0.0, f64::max);
    Ok(Table {
        title: "MEA-04 Process start to request on the wire, one-shot chat",
        how: format!(
            "The release binary is started {RUNS} times (after one more that makes the home) against a recording \
             server that holds its answer back; the time runs from before the start to the arrival of the whole \
             request, the memory is the process's own high-water mark at that moment."
        ),
        target: "≤ 20 ms median (fastest peer: 51), peak memory ≤ 20 MB (45.6)",
        head: vec!["runs", "median ms", "worst ms", "median peak MB", "largest peak MB"],
        rows: vec![vec![
            RUNS.to_string(),
            format!("{:.1}", median(times)),
            format!("{worst:.1}"),
            format!("{:.1}", median(peaks)),
            format!("{largest:.1}"),
        ]],
    })
}

async fn runs(root: &Path) -> Result<(Vec<f64>, Vec<f64>), String> {
    let program = Program::new(root, "[[reply]]\ndelay_ms = 300\ntext = \"Hello.\"\n").await?;
    let words = ["chat", "--model", "openai/gpt-5", "hi"];
    program.run(&words)?;
    let (mut times, mut peaks) = (Vec::new(), Vec::new());
    for run in 0..RUNS {
        let started = Instant::now();
        let child = program.start(&words)?;
        tokio::time::timeout(Duration::from_secs(20), asked(&program.recorder, run + 2))
            .await
            .map_err(|_| "no request within 20 s".to_owned())?;
        times.push(started.elapsed().as_secs_f64() * 1000.0);
        peaks.push(peak_mb(child.id())?);
        child.wait_with_output().map_err(|error| error.to_string())?;
    }
    Ok((times, peaks))
}

/// Waits until a model was asked so often. A provider is also asked which models it has, which does not count.
async fn asked(recorder: &Recorder, times: usize) {
    loop {
        let seen = recorder.requests();
        if seen.iter().filter(|request| request.wire().is_some()).count() >= times {
            break;
        }
        recorder.wait_for(seen.len() + 1).await;
    }
}

/// The most memory that a process had at once, in MB.
fn peak_mb(process: u32) -> Result<f64, String> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).map_err(|error| error.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM in /proc")?;
    let kb: f64 = line.trim().trim_end_matches("kB").trim().parse().map_err(|_| format!("VmHWM: {line}"))?;
    Ok(kb / 1000.0)
}
