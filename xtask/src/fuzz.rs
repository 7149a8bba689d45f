//! `cargo xtask fuzz`: searches with libFuzzer for an input that breaks a target.

use std::fs::{self, File};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

/// Builds the targets with counters, on the stable compiler, and searches one or all of them for so many seconds each, as
/// many at a time as there are processors. What libFuzzer finds worth keeping goes to `target/fuzz/NAME`.
pub(crate) fn run(root: &Path, target: Option<&str>, seconds: u64) -> Result<(), String> {
    let mut names = targets(root)?;
    if let Some(target) = target {
        if !names.iter().any(|name| name == target) {
            return Err(format!("Unknown fuzz target {target:?}. There are: {}", names.join(", ")));
        }
        names = vec![target.to_owned()];
    }
    build(root)?;
    let lanes = thread::available_parallelism().map_or(1, NonZero::get).min(names.len());
    names.reverse();
    let (waiting, broken) = (Mutex::new(names), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                while let Some(name) = waiting.lock().ok().and_then(|mut names| names.pop()) {
                    let outcome = search(root, &name, seconds);
                    say(&name, &outcome);
                    if let (Err(_), Ok(mut broken)) = (outcome, broken.lock()) {
                        broken.push(name);
                    }
                }
            });
        }
    });
    match &*broken.into_inner().unwrap_or_default() {
        [] => Ok(()),
        names => Err(format!(
            "Broken: {}. Fix the cause, and keep the input in fuzz/corpus/NAME, which the test of the crate replays.",
            names.join(", ")
        )),
    }
}

/// The folders of the corpus; the test of the crate sees that each is a target and has inputs.
fn targets(root: &Path) -> Result<Vec<String>, String> {
    let corpus = root.join("fuzz/corpus");
    let folders = fs::read_dir(&corpus).map_err(|error| format!("{}: {error}", corpus.display()))?;
    let mut names: Vec<String> = folders.filter_map(|folder| folder.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// Dependencies are those of every other build; only this workspace's crates are compiled again, with counters.
fn build(root: &Path) -> Result<(), String> {
    let built = Command::new("cargo")
        .args(["build", "--quiet", "--locked", "--package", "fuzz", "--features", "engine"])
        .env("RUSTC_WORKSPACE_WRAPPER", root.join("scripts/sancov"))
        .env("CARGO_INCREMENTAL", "0")
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    if built.success() { Ok(()) } else { Err("the fuzz targets do not compile".to_owned()) }
}

/// Where this checkout's builds go.
fn build_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

/// Searches one target; says how many inputs it was given, or which file tells what broke it.
fn search(root: &Path, name: &str, seconds: u64) -> Result<String, String> {
    let found = build_folder(root).join("fuzz").join(name);
    fs::create_dir_all(&found).map_err(|error| format!("{}: {error}", found.display()))?;
    let log = found.with_extension("log");
    let failed = |error| format!("{}: {error}", log.display());
    let status = Command::new(build_folder(root).join("debug/fuzz"))
        .env("LIMPID_FUZZ", name)
        .args([&found, &root.join("fuzz/corpus").join(name)])
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-artifact_prefix={}-", found.display()))
        .args(["-timeout=10", "-rss_limit_mb=2048", "-max_len=16384", "-print_final_stats=1"])
        .stdout(File::create(&log).map_err(failed)?)
        .stderr(File::options().append(true).open(&log).map_err(failed)?)
        .status()
        .map_err(|error| format!("the fuzz program: {error}"))?;
    if !status.success() {
        return Err(format!("see {}", log.display()));
    }
    let log = fs::read(&log).map_err(failed)?;
    let log = String::from_utf8_lossy(&log);
    let inputs = log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    Ok(format!("{} inputs", inputs.unwrap_or("unknown").trim()))
}

#[expect(clippy::print_stdout, reason = "this is a command-line program")]
fn say(name: &str, outcome: &Result<String, String>) {
    match outcome {
        Ok(inputs) => println!("{name}: held, {inputs}"),
        Err(why) => println!("{name}: BROKEN, {why}"),
    }
}
