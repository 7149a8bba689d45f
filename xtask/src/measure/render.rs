//! MEA-07: how long a prompt takes to render, from the benchmark of `limpid-prompt`.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::Table;
use super::program::target_folder;

/// The benchmarks by name, and what each renders.
const BENCHMARKS: [(&str, &str); 5] = [
    ("hi", "`limpid`, \"hi\""),
    ("hi with 20 tools", "`limpid`, \"hi\", 20 tools, 10 skills"),
    ("everything, limpid", "`limpid`, 200 memories, 40 tools, 20 skills, a goal"),
    ("everything, kai", "`kai`, 200 memories, 40 tools, 20 skills, a goal"),
    ("everything, kai, counted", "the same with the tokens of every part counted"),
];

// MEA-07
pub(crate) fn measure(root: &Path) -> Result<Table, String> {
    let ran = Command::new("cargo")
        .current_dir(root)
        .args(["bench", "--quiet", "--package", "limpid-prompt", "--bench", "render"])
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !ran.status.success() {
        return Err(format!("cargo bench: {}", String::from_utf8_lossy(&ran.stderr)));
    }
    let rows = BENCHMARKS
        .into_iter()
        .map(|(name, what)| Ok(vec![what.to_owned(), format!("{:.1}", median_us(root, name)?)]))
        .collect::<Result<_, String>>()?;
    Ok(Table {
        title: "MEA-07 Rendering a prompt",
        how: "Criterion's median over the benchmark `render` of `limpid-prompt`, release build, one thread.".to_owned(),
        target: "≤ 30 µs for \"hi\"; ≤ 300 µs for 200 memories + 40 tools + 20 skills + goal",
        head: vec!["prompt", "median µs"],
        rows,
    })
}

/// What criterion wrote of a benchmark.
fn median_us(root: &Path, name: &str) -> Result<f64, String> {
    let file = target_folder(root).join("criterion").join(name).join("new/estimates.json");
    let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let estimates: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let nanoseconds = estimates["median"]["point_estimate"].as_f64();
    nanoseconds.map(|time| time / 1000.0).ok_or_else(|| format!("{} holds no median", file.display()))
}
