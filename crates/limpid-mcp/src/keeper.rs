//! The process between the agent and a server: it ends the server, and everything that the server started, when the agent closes
//! the connection or is gone, however it ended. The agent starts its own binary as `limpid __mcp PROGRAM …`.

use std::ffi::OsString;

/// The hidden sub-command.
pub const KEEP: &str = "__mcp";

/// Carries out the hidden sub-command when the words of the command line are it; returns its exit code. It must be called before
/// the program starts any thread.
pub fn main(words: impl IntoIterator<Item = OsString>) -> Option<u8> {
    let mut words = words.into_iter();
    words.next()?;
    if words.next()? != KEEP {
        return None;
    }
    let program = words.next()?;
    #[cfg(unix)]
    let code = unix::keep(&program, words);
    #[cfg(not(unix))]
    let code = {
        drop((program, words));
        1
    };
    Some(code)
}

#[cfg(unix)]
mod unix {
    use std::ffi::{OsStr, OsString};
    use std::io::{self, Read as _, Write as _};
    use std::os::unix::process::CommandExt as _;
    use std::process::{ChildStdin, Command, Stdio};
    use std::sync::mpsc::{self, RecvTimeoutError, Sender};
    use std::thread;
    use std::time::Duration;

    use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, wait};

    /// How long a server may take to end by itself once its standard input is closed.
    const BY_ITSELF: Duration = Duration::from_secs(2);

    /// How long it may take when it is asked to.
    const WHEN_ASKED: Duration = Duration::from_secs(1);

    /// How long the end of what it started may take.
    const LAST: Duration = Duration::from_secs(5);

    /// The exit code when the program could not be started.
    const NOT_STARTED: u8 = 127;

    enum Event {
        /// Whoever started this is gone, or has closed the connection.
        Closed,
        /// The server ended with this code.
        Ended(u8),
        /// Nothing below this process is left.
        NobodyLeft,
    }

    pub(super) fn keep(program: &OsStr, arguments: impl Iterator<Item = OsString>) -> u8 {
        // What loses its parent comes to this process.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        let started = Command::new(program).args(arguments).stdin(Stdio::piped()).process_group(0).spawn();
        let mut child = match started {
            Ok(child) => child,
            Err(error) => {
                let _ = writeln!(io::stderr(), "`{}` cannot be started: {error}", program.display());
                return NOT_STARTED;
            }
        };
        let Some(server) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return NOT_STARTED };
        let input = child.stdin.take();
        let (tell, told) = mpsc::channel();
        let tell_closed = tell.clone();
        thread::spawn(move || {
            pass_on(input);
            let _ = tell_closed.send(Event::Closed);
        });
        thread::spawn(move || wait_for_all(server, &tell));
        let mut patience = [(BY_ITSELF, Signal::TERM), (WHEN_ASKED, Signal::KILL)].into_iter();
        let mut code = None;
        let mut closed = false;
        while code.is_none() {
            let step = closed.then(|| patience.next()).flatten();
            let event = match step {
                Some((time, _)) => told.recv_timeout(time),
                None => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match (event, step) {
                (Ok(Event::Closed), _) => closed = true,
                (Ok(Event::Ended(ended)), _) => code = Some(ended),
                (Ok(Event::NobodyLeft) | Err(RecvTimeoutError::Disconnected), _) => code = Some(0),
                (Err(RecvTimeoutError::Timeout), Some((_, signal))) => {
                    let _ = kill_process_group(server, signal);
                }
                (Err(RecvTimeoutError::Timeout), None) => {}
            }
        }
        end_rest(server, &told);
        code.unwrap_or(0)
    }

    /// Hands on what comes until nothing more does. A server that reads no more is no reason to end.
    fn pass_on(mut input: Option<ChildStdin>) {
        let mut bytes = vec![0; 64 * 1024];
        let mut from = io::stdin().lock();
        loop {
            match from.read(&mut bytes) {
                Ok(0) => return,
                Ok(count) => {
                    if input.as_mut().is_some_and(|input| input.write_all(&bytes[..count]).is_err()) {
                        input = None;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// Hears of the end of every process below this one.
    fn wait_for_all(server: Pid, tell: &Sender<Event>) {
        loop {
            match wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) if pid == server => {
                    let _ = tell.send(Event::Ended(code_of(status)));
                }
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => {
                    let _ = tell.send(Event::NobodyLeft);
                    return;
                }
            }
        }
    }

    fn code_of(status: WaitStatus) -> u8 {
        let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
    }

    /// Ends what the server has left behind: its group, and on Linux whatever else it started.
    fn end_rest(server: Pid, told: &mpsc::Receiver<Event>) {
        let until = std::time::Instant::now() + LAST;
        while std::time::Instant::now() < until {
            let _ = kill_process_group(server, Signal::KILL);
            #[cfg(target_os = "linux")]
            end_children();
            match told.recv_timeout(Duration::from_millis(20)) {
                Ok(Event::NobodyLeft) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    #[cfg(target_os = "linux")]
    fn end_children() {
        use rustix::process::kill_process;
        let own = std::process::id();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
            #[expect(clippy::disallowed_methods, reason = "a file of the kernel's")]
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            // The name before it, in parentheses, may hold anything.
            let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse::<u32>().ok());
            if parent == Some(own) {
                let _ = Pid::from_raw(pid).map(|pid| kill_process(pid, Signal::KILL));
            }
        }
    }
}
