//! The release binary as a process, against a recording server.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use limpid_testkit::{Recorder, Script};
use tempfile::TempDir;

/// The release binary, a fresh home and a server that records.
pub(crate) struct Program {
    binary: PathBuf,
    home: TempDir,
    /// The server that answers.
    pub recorder: Recorder,
}

impl Program {
    /// Builds nothing: the release binary has to be there.
    pub(crate) async fn new(root: &Path, script: &str) -> Result<Self, String> {
        let script = Script::parse(script).map_err(|error| error.to_string())?;
        let recorder = Recorder::start(script).await.map_err(|error| format!("recording server: {error}"))?;
        Self::with(root, recorder)
    }

    /// With a server that answers in a way of its own.
    pub(crate) fn with(root: &Path, recorder: Recorder) -> Result<Self, String> {
        let binary = release_folder(root).join("limpid");
        if !binary.is_file() {
            return Err(format!("{} is missing; build it: cargo build --release -p limpid", binary.display()));
        }
        let home = TempDir::new().map_err(|error| format!("temporary home: {error}"))?;
        Ok(Self { binary, home, recorder })
    }

    /// Starts the program with an environment of its own.
    pub(crate) fn start(&self, words: &[&str]) -> Result<Child, String> {
        self.command(words).spawn().map_err(|error| format!("{}: {error}", self.binary.display()))
    }

    /// Starts the program as the last words of another one, which finds its own parts by `PATH`.
    pub(crate) fn start_under(&self, other: &[&str], words: &[&str]) -> Result<Child, String> {
        let (name, options) = other.split_first().ok_or("no program to start it under")?;
        let mut command = Command::new(name);
        command.args(options).arg(&self.binary);
        let mut command = self.alone(command, words);
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.spawn().map_err(|error| format!("{name}: {error}"))
    }

    /// Runs the program so to its end.
    pub(crate) fn run_under(&self, other: &[&str], words: &[&str]) -> Result<(), String> {
        ended_well(self.start_under(other, words)?, words)
    }

    fn command(&self, words: &[&str]) -> Command {
        self.alone(Command::new(&self.binary), words)
    }

    fn alone(&self, mut command: Command, words: &[&str]) -> Command {
        command
            .args(words)
            .env_clear()
            .env("HOME", self.home.path())
            .env("LIMPID_HOME", self.home.path().join("limpid"))
            .env("OPENAI_API_KEY", "test")
            .env("OPENAI_BASE_URL", format!("{}/v1", self.recorder.url()))
            .env("TZ", "Europe/Berlin")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    /// The home folder of the program.
    pub(crate) fn home(&self) -> PathBuf {
        self.home.path().join("limpid")
    }

    /// Runs the program to its end with this on its standard input.
    pub(crate) fn pipe(&self, words: &[&str], input: &str) -> Result<(), String> {
        let mut child = self.command(words).stdin(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program that does not read its input tells so by its status.
            let _ = stdin.write_all(input.as_bytes());
        }
        ended_well(child, words)
    }

    /// Runs the program to its end, and says what it wrote to its standard output.
    pub(crate) fn output(&self, words: &[&str]) -> Result<String, String> {
        let done = self.command(words).stdout(Stdio::piped()).output().map_err(|error| error.to_string())?;
        if !done.status.success() {
            return Err(format!("limpid {words:?}: {}", String::from_utf8_lossy(&done.stderr)));
        }
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, words: &[&str]) -> Result<(), String> {
        ended_well(self.start(words)?, words)
    }
}

/// Waits for a process, which has to end well.
fn ended_well(child: Child, words: &[&str]) -> Result<(), String> {
    let done = child.wait_with_output().map_err(|error| error.to_string())?;
    if done.status.success() {
        Ok(())
    } else {
        Err(format!("limpid {words:?}: {}", String::from_utf8_lossy(&done.stderr)))
    }
}

/// Where cargo builds.
pub(crate) fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Where release binaries are built.
pub(crate) fn release_folder(root: &Path) -> PathBuf {
    target_folder(root).join("release")
}

/// A runtime of one thread.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?
        .block_on(future)
}
