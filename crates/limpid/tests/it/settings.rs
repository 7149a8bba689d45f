//! Settings that are changed while `limpid serve` runs, and a second `limpid serve`.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use tempfile::TempDir;

/// Longer than anything here takes, shorter than the minute after which the daemon looks again by itself.
const PATIENCE: Duration = Duration::from_secs(45);

const OPEN: &str = "[inbox]\nsms = true\nlisten = \"127.0.0.1:0\"\n";

fn limpid(home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_limpid"));
    command.args(words).env_clear().env("LIMPID_HOME", home).env("TZ", "UTC").stdin(Stdio::null());
    command
}

/// A home whose `limpid serve` runs.
struct Served {
    home: TempDir,
    process: Child,
    lines: Receiver<String>,
}

impl Served {
    fn start(config: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("limpid.toml"), config).unwrap();
        let (process, lines) = serve(home.path());
        Self { home, process, lines }
    }

    /// The next line of the log that holds these words.
    fn says(&self, words: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("the log does not say `{words}`"));
            if line.contains(words) {
                return line;
            }
        }
    }

    fn write(&self, config: &str) {
        fs::write(self.home.path().join("limpid.toml"), config).unwrap();
    }

    fn run(&self, words: &[&str]) -> Output {
        limpid(self.home.path(), words).output().unwrap()
    }

    fn out(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// What `doctor` says of the process that serves.
    fn doctor(&self) -> String {
        let all = String::from_utf8(self.run(&["doctor"]).stdout).unwrap();
        all.lines().find(|line| line.contains("serve: ")).unwrap_or_default().to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn serve(home: &Path) -> (Child, Receiver<String>) {
    let mut process = limpid(home, &["serve"]).stderr(Stdio::piped()).spawn().unwrap();
    let (sender, lines) = channel();
    let log = BufReader::new(process.stderr.take().unwrap());
    std::thread::spawn(move || log.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    (process, lines)
}

fn address(line: &str) -> String {
    line.split_once("http://").unwrap().1.trim().to_owned()
}

/// The status of handing something in.
fn status(address: &str, token: &str) -> String {
    let body = r#"{"text":"Your parcel waits"}"#;
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST /v1/inbox/sms HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap_or_default().to_owned()
}

// SEC-030 SEC-032
#[test]
fn a_first_token_opens_the_listener_and_a_new_one_revokes_the_old_at_once() {
    let served = Served::start(OPEN);
    served.says("there is no token");
    let old = served.out(&["inbox", "token"]);
    let address = address(&served.says("inbox: listening on"));
    assert_eq!(status(&address, &old), "201");
    let new = served.out(&["inbox", "token", "--new"]);
    assert_eq!([status(&address, &old), status(&address, &new)], ["401", "201"]);
    fs::remove_file(served.home.path().join("data/ingest.token")).unwrap();
    served.says("inbox: stopped listening on");
    assert!(TcpStream::connect(&address).is_err());
}

#[test]
fn switches_act_at_once_and_a_task_that_waited_for_one_runs() {
    let served = Served::start("[scheduling]\nenabled = false\n");
    served.says("ready");
    served.out(&["task", "add", "Drink water", "--after", "1s"]);
    served.says("so it waits");
    served.write("[scheduling]\nenabled = true\n");
    served.says("in effect now: scheduling.enabled");
    served.says("task 1 has run");
    served.write(&format!("[scheduling]\nenabled = false\n{OPEN}"));
    served.says("in effect now: scheduling.enabled, inbox.listen, inbox.sms");
    let status = served.out(&["heartbeat", "status"]);
    assert!(status.contains("scheduling"), "{status}");
    served.write("[local]\nthreads = 1\n[scheduling]\nenabled = false\n");
    served.says("needs a restart: local.threads");
    let doctor = served.doctor();
    assert!(doctor.starts_with("!!") && doctor.contains("local.threads"), "{doctor}");
}

#[test]
fn a_limpid_toml_that_cannot_be_used_leaves_the_settings_as_they_were() {
    let served = Served::start(OPEN);
    served.out(&["inbox", "token"]);
    let address = address(&served.says("inbox: listening on"));
    let token = fs::read_to_string(served.home.path().join("data/ingest.token")).unwrap();
    let file = served.home.path().join("limpid.toml");
    let still_open = || assert_eq!(status(&address, &token), "201");

    served.write("[inbox]\nsms = true\nlisten = 127\n");
    let line = served.says("the previous settings stay in use");
    assert!(line.ends_with("limpid.toml: line 3, column 10"), "{line}");
    still_open();
    served.write("");
    served.says("is empty");
    fs::remove_file(&file).unwrap();
    served.says("is gone");
    fs::create_dir(&file).unwrap();
    served.says("it is a folder");
    fs::remove_dir(&file).unwrap();
    fs::File::create(&file).unwrap().set_len(100_000_000).unwrap();
    served.says("100000000 bytes");
    fs::remove_file(&file).unwrap();
    symlink("/dev/zero", &file).unwrap();
    served.says("not a regular file");
    still_open();

    // Whole files that take its place by a link or by a new name count.
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("mine.toml"), OPEN).unwrap();
    let link = served.home.path().join("link");
    symlink(elsewhere.path().join("mine.toml"), &link).unwrap();
    fs::rename(&link, &file).unwrap();
    served.says("can be used again");
    fs::write(elsewhere.path().join("mine.toml"), format!("{OPEN}notifications = true\n")).unwrap();
    served.says("in effect now: inbox.notifications");
    still_open();
    assert!(served.doctor().starts_with("OK"), "{}", served.doctor());
}

#[test]
fn a_second_serve_is_refused_until_the_first_is_gone_however_it_went() {
    let mut served = Served::start("");
    served.says("ready");
    let second = served.run(&["serve"]);
    let told = String::from_utf8(second.stderr).unwrap();
    assert!(!second.status.success() && told.contains(&format!("process {}", served.process.id())), "{told}");
    // It took nothing from the first one.
    served.out(&["task", "add", "Drink water", "--after", "1s"]);
    served.says("task 1 has run");
    served.process.kill().unwrap();
    served.process.wait().unwrap();
    assert!(served.doctor().contains("is not running"), "{}", served.doctor());
    (served.process, served.lines) = serve(served.home.path());
    served.says("ready");
}

#[test]
fn a_file_that_may_not_be_read_is_told() {
    let served = Served::start(OPEN);
    let file = served.home.path().join("limpid.toml");
    if Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n") {
        // Root reads everything.
        return;
    }
    served.says("ready");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    served.says("the previous settings stay in use");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    served.says("can be used again");
}
