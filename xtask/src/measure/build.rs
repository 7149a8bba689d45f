//! MEA-17: a clean build, and the cycle of changing one crate and testing it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::Table;

// MEA-17
pub(crate) fn measure(root: &Path) -> Result<Table, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let lean = timed(root, folder.path(), &["build", "--release", "-p", "limpid", "--no-default-features"])?;
    let whole = timed(root, &folder.path().join("whole"), &["build", "--release", "-p", "limpid"])?;
    let test = ["test", "-p", "limpid-prompt", "--lib"];
    timed(root, folder.path(), &test)?;
    touch(&root.join("crates/limpid-prompt/src/lib.rs"))?;
    let cycle = timed(root, folder.path(), &test)?;
    Ok(Table {
        title: "MEA-17 Clean release build, and the test cycle of one crate",
        how: "`cargo build --release` in an empty target folder with the dependencies' sources at hand; then \
              `cargo test -p limpid-prompt --lib` after a change of its first file."
            .to_owned(),
        target: "≤ 6 min without the local engine, ≤ 10 with it; ≤ 10 s",
        head: vec!["without the local engine, min", "with it, min", "test cycle, s"],
        rows: vec![vec![format!("{:.1}", lean / 60.0), format!("{:.1}", whole / 60.0), format!("{cycle:.1}")]],
    })
}

fn timed(root: &Path, target: &Path, words: &[&str]) -> Result<f64, String> {
    let started = Instant::now();
    let done = Command::new("cargo")
        .current_dir(root)
        .args(words)
        .arg("--quiet")
        .arg("--target-dir")
        .arg(target)
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !done.status.success() {
        return Err(format!("cargo {words:?}: {}", String::from_utf8_lossy(&done.stderr)));
    }
    Ok(started.elapsed().as_secs_f64())
}

/// Makes a file newer without changing a byte of it.
fn touch(file: &Path) -> Result<(), String> {
    let text = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}
