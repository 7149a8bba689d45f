//! The sandbox: hidden sub-commands of the binary, so that no code runs between a fork and a program.
//!
//! `__sandbox` watches: it starts the second, keeps the program to its limits, and ends everything that was started when
//! the program has ended, when it is told to, or when whoever started it is gone. `__sandbox-enter` makes the namespaces.
//! `__sandbox-init` is the first process in them: it mounts what the program may see, gives up every right, restricts
//! itself, and starts the program. Where the system allows no namespaces, `__sandbox-become` restricts itself and becomes
//! the program.
//!
//! # Layout
//! - [`attempts`]: what each layer must stop, tried.
//! - [`cgroup`]: what the kernel counts and ends as one, where it lets the agent ask for that.
//! - [`support`]: which layers this machine has.
//! - [`watch`]: the limits and the end of everything.
//! - [`enter`]: namespaces, rights, and the first process.
//! - [`handed`]: what each of these processes is told, without words that the program could read.
//! - [`frozen`]: files that the program gets as they were approved.
//! - [`root`]: the file system that a program sees; [`mounts`]: its places and what may be done there.
//! - [`restrict`]: limits of a process, Landlock, seccomp.
//! - [`loopback`] and [`proxy`]: the network of a program, and what serves it.

mod attempts;
mod cgroup;
mod enter;
mod frozen;
mod handed;
mod loopback;
mod mounts;
mod proxy;
mod restrict;
mod root;
mod support;
mod watch;

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use rustix::stdio::stdin;

use super::confinement::Confinement;
pub use support::{Layers, Missing, support};

/// The sub-command that watches.
pub const WATCH: &str = "__sandbox";

/// The sub-command that tries the layers: it says of each whether it stopped what was tried, `+` or `-` and its name.
pub const TRY: &str = "__sandbox-try";

/// What [`TRY`] says of whether calls have a cgroup: this name, and behind a `-` a colon and why not.
pub const CGROUP: &str = "cgroup";

/// The sub-command that makes namespaces. Its words are the folder of the call's cgroup, empty without one, and [`NETWORK`] where the
/// program has one.
const ENTER: &str = "__sandbox-enter";

/// The sub-command that becomes the program, without namespaces. Its words are the folders of the call's cgroup and of the call.
const BECOME: &str = "__sandbox-become";

/// The sub-command that is the first process of its namespaces. It has no words, since the program can read them.
const INIT: &str = "__sandbox-init";

/// The word that says that there is a network.
const NETWORK: &str = "network";

/// Bytes of what is said of a program's view, at most. Each folder in it is a mount, and they all are made before the program starts.
const LONGEST: usize = 128 * 1024;

/// The exit code when the program could not be started.
const NOT_STARTED: u8 = 126;

pub(super) use mounts::SYSTEM;

/// What the process that starts the program says when all restrictions hold.
const READY: u8 = b'+';

/// Carries out a hidden sub-command when the words of the command line are one; returns its exit code. It must be
/// called before the program starts any thread, since a restriction holds for the thread that asks for it.
pub fn main(words: impl IntoIterator<Item = OsString>) -> Option<u8> {
    let mut words = words.into_iter();
    words.next()?;
    let which = words.next()?;
    if ![WATCH, TRY, ENTER, BECOME, INIT].iter().any(|name| which == *name) {
        return None;
    }
    let rest: Vec<OsString> = words.collect();
    Some(carry_out(&which.to_string_lossy(), &rest).unwrap_or_else(|error| {
        tell(&format!("cannot run it: {error}"));
        NOT_STARTED
    }))
}

fn carry_out(which: &str, rest: &[OsString]) -> Result<u8, String> {
    // A descriptor that was passed on by mistake would reach past every restriction.
    close_fds::set_fds_cloexec(3, &[]);
    if has_more_descriptors() {
        // Those that are open in this process close when it is replaced by itself.
        return Err(own_program().arg(which).args(rest).exec().to_string());
    }
    support().map_err(|missing| missing.why().to_owned())?;
    if which == TRY {
        return watch::try_layers();
    }
    match which {
        WATCH => watch::watch(rest, &handed::take::<Confinement>(stdin())?),
        ENTER => {
            let [cgroup, network @ ..] = rest else { return Err("no word about its cgroup".to_owned()) };
            enter::enter(Path::new(cgroup), network.iter().any(|word| *word == *NETWORK))
        }
        BECOME => {
            let [cgroup, call] = rest else { return Err("no folder for the call".to_owned()) };
            let (confinement, command): (Confinement, Vec<OsString>) = handed::take(stdin())?;
            enter::become_program(&confinement, &command, (Path::new(cgroup), Path::new(call)))
        }
        _ => {
            let (confinement, command): (Confinement, Vec<OsString>) = handed::take(stdin())?;
            enter::init(&confinement, &command)
        }
    }
}

/// Whether a descriptor besides the three streams is open.
fn has_more_descriptors() -> bool {
    let Ok(open) = std::fs::read_dir("/proc/self/fd") else { return false };
    let numbers = open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    // One is that of the listing itself.
    numbers.filter(|number| *number > 2).count() > 1
}

/// This very program, whatever has been put in place of its file.
fn own_program() -> Command {
    Command::new("/proc/self/exe")
}

/// The words of the sub-command that watches: the program, the name it is called by, its arguments.
pub(super) fn words(program: &Path, words: &[String]) -> Vec<OsString> {
    let first = [OsString::from(WATCH), program.into()];
    first.into_iter().chain(words.iter().map(OsString::from)).collect()
}

/// The standard input of that sub-command, by which it is told what a program may touch, and the other end: the program ends when this
/// is closed.
pub(super) fn told(confinement: &Confinement) -> Result<(Stdio, UnixStream), String> {
    let text = serde_json::to_string(confinement).map_err(|error| error.to_string())?;
    if text.len() >= LONGEST {
        return Err("there are too many folders to pass to the sandbox; the owner has to move some out of `outside/`, or to grant \
                    fewer in limpid.toml"
            .to_owned());
    }
    let failed = |error: std::io::Error| format!("the sandbox cannot be told what the program may touch: {error}");
    let (stream, other) = UnixStream::pair().map_err(failed)?;
    handed::give(&stream, &text).map_err(failed)?;
    Ok((OwnedFd::from(other).into(), stream))
}

fn code(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => u8::try_from(code).unwrap_or(u8::MAX),
        (None, Some(signal)) => code_of_signal(signal),
        (None, None) => u8::MAX,
    }
}

/// As shells tell of a program that a signal ended.
fn code_of_signal(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// Says something where the program's own errors go.
fn tell(message: &str) {
    use std::io::Write as _;
    // Whoever listened may be gone.
    let _ = writeln!(std::io::stderr(), "{message}");
}
