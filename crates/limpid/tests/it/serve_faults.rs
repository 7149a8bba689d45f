//! `limpid serve` while something is wrong: the log says what, and it goes on when it is over.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a test that does nothing must be seen")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::kit::World;
use limpid_testkit::{Recorder, Script};
use rusqlite::Connection;
use serde_json::json;
use tokio::sync::Notify;

/// Longer than anything here takes: the file is waited for five seconds each time that it is locked.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that serves a home.
struct Serving {
    process: Child,
    lines: Receiver<String>,
}

impl Serving {
    /// Starts it by these words, the last of which is the program.
    fn start(home: &Path, words: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut process = Command::new(words[0])
            .args(&words[1..])
            .args(["serve"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LIMPID_HOME", home)
            .env("TZ", "UTC")
            .envs(environment.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let log = BufReader::new(process.stderr.take().unwrap());
        std::thread::spawn(move || log.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let serving = Self { process, lines };
        serving.wait_for("ready");
        serving
    }

    /// The next line that holds these words.
    fn wait_for(&self, words: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("the log does not say `{words}`"));
            if line.contains(words) {
                return line;
            }
        }
    }

    /// Asks it to end, which it does well.
    fn stop(mut self) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.wait_for("stopping");
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_limpid");

fn said(home: &Path, words: &[&str]) -> String {
    let output =
        Command::new(PROGRAM).args(words).env_clear().env("LIMPID_HOME", home).env("TZ", "UTC").output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// How often the reminder stands in the conversation that it is delivered to, which happens after its task has run.
fn reminders(home: &Path) -> usize {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let count = said(home, &["conversation", "show", "heartbeat"]).matches("Drink water").count();
        if count > 0 || Instant::now() > until {
            return count;
        }
    }
}

fn database(home: &Path) -> std::path::PathBuf {
    home.join("data/limpid.db")
}

/// Another program holds the file longer than anybody waits for it.
// SEC-042
#[test]
fn a_locked_database() {
    let home = tempfile::tempdir().unwrap();
    said(home.path(), &["task", "add", "Drink water", "--after", "1s"]);
    let other = Connection::open(database(home.path())).unwrap();
    let serving = Serving::start(home.path(), &[PROGRAM], &[]);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // It may have been faster than the lock; then a second one waits.
    let line = serving.wait_for("locked");
    assert!(line.contains("nothing can be done for 1 s"), "{line}");
    other.execute_batch("ROLLBACK").unwrap();
    serving.wait_for("task 1 has run");
    assert_eq!(reminders(home.path()), 1);
    serving.stop();
}

/// A disk that takes no more, by the system's own limit on how long a file may be.
// SEC-042
#[test]
fn a_disk_that_takes_no_more() {
    if Command::new("prlimit").arg("--version").output().is_err() {
        eprintln!("SKIPPED a test with a full disk: there is no prlimit");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    said(home.path(), &["task", "add", "Drink water", "--after", "3s"]);
    // A write beyond the limit is an error and no signal when the signal is ignored.
    let ignoring = ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh", PROGRAM];
    let serving = Serving::start(home.path(), &ignoring, &[]);
    let limit = |size: &str| {
        let id = serving.process.id().to_string();
        let limit = format!("--fsize={size}:");
        assert!(Command::new("prlimit").args(["--pid", &id, &limit]).status().unwrap().success());
    };
    limit("4096");
    let line = serving.wait_for("nothing can be done");
    assert!(line.contains("limpid.db"), "{line}");
    limit("unlimited");
    serving.wait_for("the store works again");
    serving.wait_for("task 1 has run");
    assert_eq!(reminders(home.path()), 1);
    serving.stop();
}

/// The file is damaged under the program's hands: that is told, and when it is whole again everything goes on.
// SEC-042
#[test]
fn a_database_that_is_damaged_while_it_serves() {
    let home = tempfile::tempdir().unwrap();
    said(home.path(), &["task", "add", "Drink water", "--after", "3s"]);
    let serving = Serving::start(home.path(), &[PROGRAM], &[]);
    let other = Connection::open(database(home.path())).unwrap();
    let root: i64 =
        other.query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'timer'", [], |row| row.get(0)).unwrap();
    // The list of tables says that one of them stands where nothing is.
    let stands_at = |page: i64, version: i64| {
        let change = format!(
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = {page} WHERE name = 'timer';
             PRAGMA schema_version = {version};"
        );
        other.execute_batch(&change).unwrap();
    };
    stands_at(999_999, 1_000);
    let line = serving.wait_for("nothing can be done");
    assert!(line.contains("limpid.db") && line.contains("damaged"), "{line}");
    stands_at(root, 1_001);
    serving.wait_for("the store works again");
    serving.wait_for("task 1 has run");
    serving.stop();
}

/// A disk that the system takes away from writers while the program serves, as after an error of the disk: what the
/// kernel answers then is put in the place of every write.
// SEC-042
#[test]
fn a_disk_that_turns_read_only() {
    let home = tempfile::tempdir().unwrap();
    let serving = Serving::start(home.path(), &[PROGRAM], &[]);
    let Some(read_only) = ReadOnly::begin(serving.process.id()) else {
        eprintln!("SKIPPED a test with a disk that turns read-only: there is no strace that may attach");
        return;
    };
    said(home.path(), &["task", "add", "Drink water", "--after", "1s"]);
    let line = serving.wait_for("nothing can be done");
    assert!(line.contains("limpid.db"), "{line}");
    read_only.end();
    serving.wait_for("the store works again");
    serving.wait_for("task 1 has run");
    assert_eq!(reminders(home.path()), 1);
    serving.stop();
}

/// While it lives, every write of a process to a place of a file fails with `EROFS`.
struct ReadOnly(Child);

impl ReadOnly {
    /// None where `strace` is missing or may not attach.
    fn begin(process: u32) -> Option<Self> {
        let mut strace = Command::new("strace")
            .args(["-f", "-o", "/dev/null", "-e", "inject=pwrite64:error=EROFS", "-p", &process.to_string()])
            .stderr(Stdio::piped())
            .spawn()
            .ok()?;
        let said = BufReader::new(strace.stderr.take()?).lines().map_while(Result::ok).next();
        said.is_some_and(|line| line.ends_with("attached") || line.contains("attached with")).then_some(Self(strace))
    }

    fn end(mut self) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.0.wait().unwrap();
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Files that may be read and not written.
// SEC-042
#[tokio::test]
async fn a_disk_that_cannot_be_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new("[[reply]]\ntext = \"ok\"\n").await;
    world.done(&["task", "list"]).await;
    let mode = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let files = || fs::read_dir(world.home.path().join("data")).unwrap().map(|entry| entry.unwrap().path());
    files().for_each(|file| mode(&file, 0o444));
    mode(&world.home.path().join("data"), 0o555);
    mode(world.home.path(), 0o555);
    let mut command = unprivileged();
    let output = command.args(["serve", "--once"]).env_clear().env("LIMPID_HOME", world.home.path()).output();
    mode(world.home.path(), 0o755);
    mode(&world.home.path().join("data"), 0o755);
    let output = output.unwrap();
    let told = String::from_utf8_lossy(&output.stderr).replace(&world.home.path().display().to_string(), "[HOME]");
    insta::assert_snapshot!(format!("{told}exit {}", output.status.code().unwrap_or(-1)));
}

/// The program with the rights of somebody who may not write everything.
fn unprivileged() -> Command {
    let root = fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0);
    if !root {
        return Command::new(PROGRAM);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", PROGRAM]);
    command
}

/// Every task of a model fails in its own way, is told of, and keeps nothing else from being done.
// SEC-042
#[tokio::test]
async fn providers_that_hang_babble_break_off_and_refuse() {
    let faults = [
        ("hangs", "hang = \"start\""),
        ("stops", "text = \"Milk is\"\nhang = \"end\""),
        ("babbles", "raw = \"<html>login</html>\"\ncontent_type = \"text/html\""),
        ("breaks", "text = [\"Milk \", \"is white.\"]\ncut = 60"),
        ("slows", "status = 429\nbody = '{\"error\":{\"message\":\"slow down\"}}'"),
        ("fails", "status = 500\nbody = 'upstream is down'"),
    ];
    let replies = faults.map(|(name, fault)| format!("[[reply]]\nwhen = \"It {name}.\"\n{fault}\n"));
    let script = format!("{}[[reply]]\nwhen = \"It works.\"\ntext = \"Here.\"\n", replies.concat());
    let recorder = Recorder::start(Script::parse(&script).unwrap()).await.unwrap();
    let home = tempfile::tempdir().unwrap();
    let config = format!(
        "model = \"openai/scripted\"\n[provider.openai]\nbase_url = \"{}/v1\"\n\
         [limits]\ntries = 1\nsilence_seconds = 1\n",
        recorder.url()
    );
    fs::write(home.path().join("limpid.toml"), config).unwrap();
    let path = home.path().to_owned();
    let told = tokio::task::spawn_blocking(move || {
        let serving = Serving::start(&path, &[PROGRAM], &[("OPENAI_API_KEY", "sk-test")]);
        for (at, (name, _)) in (1..).zip(faults) {
            let words = format!("It {name}.");
            said(&path, &["task", "add", &words, "--kind", "agent", "--every", "1h"]);
            said(&path, &["task", "snooze", &at.to_string(), "1s"]);
            serving.wait_for(&format!("task {at} has run"));
        }
        said(&path, &["task", "add", "It works.", "--kind", "agent", "--after", "1s"]);
        serving.wait_for("task 7 has run");
        serving.stop();
        // What was done and not told before it stopped is told by the next one.
        said(&path, &["serve", "--once"]);
        said(&path, &["conversation", "show", "heartbeat"])
    });
    let told = told.await.unwrap();
    let shown = told.lines().filter(|line| line.contains("This failed") || line.contains("Here."));
    // When each is tried again depends on the hour.
    let shown: Vec<&str> = shown.map(|line| line.split(" It is tried again").next().unwrap_or(line)).collect();
    insta::assert_snapshot!(shown.join("\n").replace(&recorder.url(), "http://[server]"));
}

// LES-092
#[tokio::test]
async fn a_task_is_run_by_hand_again_at_once_where_the_process_that_ran_it_was_killed() {
    let asked = Arc::new(Notify::new());
    let (noted, requests) = (Arc::clone(&asked), AtomicUsize::new(0));
    let world = World::answering(move |_| {
        let is_first = requests.fetch_add(1, Ordering::Relaxed) == 0;
        noted.notify_one();
        let reply = if is_first { json!({ "text": "never", "hang": "start" }) } else { json!({ "text": "Done." }) };
        serde_json::from_value(reply).unwrap()
    })
    .await;
    world.done(&["task", "add", "Look at it", "--kind", "agent", "--at", "2099-04-11T09:00"]).await;
    let mut first = world.start(&["task", "run", "1"]);
    tokio::time::timeout(PATIENCE, asked.notified()).await.unwrap();
    first.kill().await.unwrap();
    tokio::time::timeout(PATIENCE, world.done(&["task", "run", "1"])).await.expect("it waits for a dead process");
}
