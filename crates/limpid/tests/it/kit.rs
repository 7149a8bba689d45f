//! The program as a person runs it: its own process, its own home, and a recording server for a provider.

use std::path::Path;
use std::process::Stdio;

use limpid_testkit::{Recorded, Recorder, Reply, Script};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};

/// A home folder, the environment that the program gets and nothing else.
pub(crate) struct World {
    pub(crate) home: TempDir,
    pub(crate) recorder: Recorder,
    environment: Vec<(String, String)>,
    unprivileged: bool,
}

/// A user without rights, for whom the program runs where the tests run as root and programs are to run.
#[cfg(target_os = "linux")]
const NOBODY: u32 = 65534;

/// How a run of the program ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl World {
    /// An empty home, and a server that speaks OpenAI Chat Completions and answers by this script.
    pub(crate) async fn new(script: &str) -> Self {
        let recorder = Recorder::start(Script::parse(script).unwrap()).await.unwrap();
        let url = format!("{}/v1", recorder.url());
        let mut world =
            Self { home: tempfile::tempdir().unwrap(), recorder, environment: Vec::new(), unprivileged: false };
        world.set("OPENAI_BASE_URL", &url);
        world.set("OPENAI_API_KEY", "sk-test-0123456789");
        world
    }

    /// The same, with a server that answers each request by a function and records none.
    pub(crate) async fn answering(answer: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) -> Self {
        let mut world = Self::new("[[reply]]\ntext = \"ok\"\n").await;
        world.recorder = Recorder::answering(answer).await.unwrap();
        world.unset("OPENAI_BASE_URL");
        let url = format!("{}/v1", world.recorder.url());
        world.set("OPENAI_BASE_URL", &url);
        world
    }

    /// Starts the program at a terminal of so many rows and columns.
    #[cfg(unix)]
    pub(crate) fn terminal(&self, words: &[&str], size: (u16, u16)) -> limpid_testkit::Terminal {
        let own = [("LIMPID_HOME", self.home.path().to_str().unwrap()), ("TZ", "UTC"), ("TERM", "xterm-256color")];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let environment = own.into_iter().chain(self.environment.iter().cloned());
        limpid_testkit::Terminal::start(env!("CARGO_BIN_EXE_limpid"), words, environment, size).unwrap()
    }

    /// Lets the program run as somebody without rights, since root gets no programs run.
    #[cfg(target_os = "linux")]
    pub(crate) fn without_rights(mut self) -> Self {
        self.unprivileged =
            std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0);
        self
    }

    /// Puts a folder of the owner's in the hands of whoever runs the program.
    #[cfg(target_os = "linux")]
    pub(crate) fn owns(&self, folder: &Path) {
        if self.unprivileged {
            hand_over(folder);
        }
    }

    /// The program, and its home in the hands of whoever runs it.
    fn program(&self) -> Command {
        let program = env!("CARGO_BIN_EXE_limpid");
        #[cfg(target_os = "linux")]
        if self.unprivileged {
            hand_over(self.home.path());
            let mut command = Command::new("setpriv");
            command.args([&format!("--reuid={NOBODY}"), &format!("--regid={NOBODY}"), "--clear-groups", program]);
            return command;
        }
        Command::new(program)
    }

    /// Sets a variable of the program's environment.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// The variables that were set.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (String, String)> {
        self.environment.clone().into_iter()
    }

    /// Forgets a variable.
    pub(crate) fn unset(&mut self, name: &str) {
        self.environment.retain(|(known, _)| known != name);
    }

    /// Writes a file of the home.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let file = self.home.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    /// Runs the program with these words and nothing on standard input.
    pub(crate) async fn run(&self, words: &[&str]) -> Run {
        self.pipe(words, "").await
    }

    /// Starts the program with these words.
    pub(crate) fn start(&self, words: &[&str]) -> Child {
        self.program()
            .args(words)
            .env_clear()
            .env("LIMPID_HOME", self.home.path())
            .env("TZ", "UTC")
            .envs(self.environment.iter().cloned())
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    }

    /// Runs the program with these words and this on standard input.
    pub(crate) async fn pipe(&self, words: &[&str], input: &str) -> Run {
        let mut child = self.start(words);
        let mut stdin = child.stdin.take().unwrap();
        // A program that does not read its input may close it.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        let ended = child.wait_with_output().await.unwrap();
        let run = Run {
            code: ended.status.code().unwrap_or(-1),
            out: String::from_utf8(ended.stdout).unwrap(),
            err: String::from_utf8(ended.stderr).unwrap(),
        };
        assert!(!run.err.contains("panicked"), "{}", run.err);
        run
    }

    /// Runs the program and expects it to succeed; returns its standard output.
    pub(crate) async fn done(&self, words: &[&str]) -> String {
        let run = self.run(words).await;
        assert_eq!(run.code, 0, "{words:?}: {}", run.err);
        run.out
    }

    /// Runs the program and reads its standard output as JSON.
    pub(crate) async fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&self.done(words).await).unwrap()
    }

    /// The conversation that was written to last, whoever reads it.
    pub(crate) async fn newest_chat(&self) -> String {
        let listed = self.json(&["conversation", "list", "--json"]).await;
        listed["conversations"][0]["id"].as_str().unwrap().to_owned()
    }

    /// What the conversation holds afterwards: who said what.
    pub(crate) async fn conversation(&self) -> Vec<(String, String)> {
        let shown = self.json(&["conversation", "show", "last", "--json"]).await;
        let said = |message: &Value| {
            let text = message["typed"].as_str().or(message["text"].as_str()).unwrap_or_default();
            (message["role"].as_str().unwrap_or_default().to_owned(), text.to_owned())
        };
        shown["messages"].as_array().unwrap().iter().map(said).collect()
    }
}

/// Gives a folder with everything in it to the user without rights.
#[cfg(target_os = "linux")]
pub(crate) fn hand_over(path: &Path) {
    std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.symlink_metadata().unwrap().is_dir() {
        std::fs::read_dir(path).unwrap().for_each(|entry| hand_over(&entry.unwrap().path()));
    }
}
