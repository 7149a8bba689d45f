//! Starts a server that is a program.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use crate::keeper::KEEP;
use crate::server::Program;

/// Bytes of what a program writes to its standard error that are kept: the last ones.
const SAID: usize = 4096;

/// A program that was started.
pub(crate) struct Started {
    pub(crate) input: ChildStdin,
    pub(crate) output: ChildStdout,
    pub(crate) said: Said,
    pub(crate) running: Running,
}

/// The last of what a program wrote to its standard error.
#[derive(Clone, Default)]
pub(crate) struct Said(Arc<Mutex<VecDeque<u8>>>);

impl Said {
    pub(crate) fn text(&self) -> String {
        let bytes: Vec<u8> = self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn add(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&bytes[bytes.len().saturating_sub(SAID)..]);
        let more = kept.len().saturating_sub(SAID);
        kept.drain(..more);
    }
}

/// A program that runs. One with a keeper ends when its standard input closes; one without is ended here, with its group.
pub(crate) struct Running {
    child: Option<Child>,
    has_keeper: bool,
    /// Reads what it writes to its standard error, to the end.
    hearing: Option<JoinHandle<()>>,
}

impl Running {
    /// Waits until it has ended.
    pub(crate) async fn ended(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.wait().await;
        }
    }

    /// Waits until its last words were read, which may be later than its end.
    pub(crate) async fn heard(&mut self) {
        if let Some(hearing) = &mut self.hearing {
            let _ = hearing.await;
            self.hearing = None;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        if !self.has_keeper {
            end_group(&mut child);
        }
        // Somebody has to hear of its end, or its number stays taken.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { child.wait().await });
        }
    }
}

#[cfg(unix)]
fn end_group(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    // Whoever has ended has no number any more.
    let _ = group.map(|group| kill_process_group(group, Signal::KILL));
}

#[cfg(not(unix))]
fn end_group(child: &mut Child) {
    let _ = child.start_kill();
}

/// Starts a program with its own variables and no others. `helper` is the binary whose hidden sub-command is the keeper.
pub(crate) fn start(program: &Program, helper: Option<&Path>) -> io::Result<Started> {
    let helper = helper.filter(|_| cfg!(unix));
    let mut command = match helper {
        Some(helper) => {
            let mut command = Command::new(helper);
            command.arg(KEEP).arg(&program.command);
            command
        }
        None => Command::new(&program.command),
    };
    command
        .args(&program.arguments)
        .env_clear()
        .envs(program.variables.iter().map(|(name, value)| (name, value)))
        .current_dir(&program.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // A key at the terminal that stops an answer is not for it.
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn()?;
    let missing = || io::Error::other("it has no standard streams");
    let input = child.stdin.take().ok_or_else(missing)?;
    let output = child.stdout.take().ok_or_else(missing)?;
    let said = Said::default();
    let hearing = child.stderr.take().map(|stderr| tokio::spawn(hear(stderr, said.clone())));
    let running = Running { child: Some(child), has_keeper: helper.is_some(), hearing };
    Ok(Started { input, output, said, running })
}

/// Reads on as long as something comes: a program whose words nobody reads would stand still.
async fn hear(mut stderr: ChildStderr, said: Said) {
    let mut bytes = vec![0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut bytes).await {
        said.add(&bytes[..count]);
    }
}
