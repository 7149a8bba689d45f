//! `limpid serve` as a process: what another process adds is done at once, and a request to end ends it.

#![cfg(unix)]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Longer than anything here takes, shorter than the minute after which the daemon looks again by itself.
const PATIENCE: Duration = Duration::from_secs(45);

fn limpid(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_limpid"));
    command.env_clear().env("LIMPID_HOME", home).env("TZ", "UTC");
    command
}

fn said(home: &Path, words: &[&str]) -> String {
    let output = limpid(home).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

// LES-102
#[test]
fn what_another_process_adds_is_done_by_the_one_that_serves_at_once() {
    let home = tempfile::tempdir().unwrap();
    let mut serving = limpid(home.path()).arg("serve").stderr(Stdio::piped()).spawn().unwrap();
    let (sender, lines) = mpsc::channel();
    let log = BufReader::new(serving.stderr.take().unwrap());
    std::thread::spawn(move || log.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let wait_for = |what: &str| loop {
        let line = lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("the log does not say `{what}`"));
        if line.contains(what) {
            break;
        }
    };
    wait_for("ready");
    said(home.path(), &["task", "add", "Drink water", "--after", "1s"]);
    wait_for("task 1 has run");
    assert!(said(home.path(), &["task", "log", "1"]).contains("done"));
    let id = serving.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    wait_for("stopping");
    assert!(serving.wait().unwrap().success());
    let told = said(home.path(), &["conversation", "show", "heartbeat"]);
    assert_eq!(told.matches("Drink water").count(), 1, "{told}");
}

// PICO-090
#[test]
fn a_command_says_what_it_printed() {
    let home = tempfile::tempdir().unwrap();
    let words = ["task", "add", "echo by the clock", "--kind", "command", "--at", "2099-04-11T09:00"];
    said(home.path(), &words);
    #[cfg(target_os = "linux")]
    if std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0) {
        // Root gets no programs run.
        crate::kit::hand_over(home.path());
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        let mut run = Command::new("setpriv");
        run.args(user)
            .args([env!("CARGO_BIN_EXE_limpid"), "task", "run", "1"])
            .env_clear()
            .env("LIMPID_HOME", home.path());
        assert!(run.output().unwrap().status.success());
    } else {
        said(home.path(), &["task", "run", "1"]);
    }
    #[cfg(not(target_os = "linux"))]
    said(home.path(), &["task", "run", "1"]);
    let told = said(home.path(), &["conversation", "show", "heartbeat"]);
    assert!(told.contains("by the clock\n"), "{told}");
}

// LES-092
#[test]
fn what_was_due_while_nobody_served_is_done_by_the_next_that_does() {
    let home = tempfile::tempdir().unwrap();
    said(home.path(), &["task", "add", "Drink water", "--after", "1s"]);
    // The time comes while nobody serves, at the latest while this one starts.
    let mut served = false;
    for _ in 0..200 {
        said(home.path(), &["serve", "--once"]);
        served = said(home.path(), &["task", "log", "1"]).contains("done");
        if served {
            break;
        }
    }
    assert!(served);
    assert_eq!(said(home.path(), &["conversation", "show", "heartbeat"]).matches("Drink water").count(), 1);
}
