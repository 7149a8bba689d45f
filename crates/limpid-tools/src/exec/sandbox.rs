//! The sandbox: two hidden sub-commands of the binary, so that no code runs between a fork and a program.
//!
//! `__sandbox` watches: it starts the second, keeps it to its limits, and ends everything that was started when the
//! program has ended, when it is told to, or when whoever started it is gone. `__sandbox-enter` restricts itself and
//! becomes the program.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::process::{Pid, Resource, Rlimit, set_child_subreaper, setrlimit, setsid};

use super::confinement::{Confinement, Limits};
use super::filter::filters;
use super::processes::{end_all, of_this_user, usage};

/// The sub-command that watches.
pub const WATCH: &str = "__sandbox";

/// The sub-command that becomes the program.
const ENTER: &str = "__sandbox-enter";

/// The exit code when the program could not be started.
const NOT_STARTED: u8 = 126;

/// Between two looks at what the program uses.
const LOOK: Duration = Duration::from_millis(50);

/// The newest set of restrictions that is known here; an older kernel gets those that it has.
const NEWEST: ABI = ABI::V9;

/// Folders and files of the system that every program may read.
const SYSTEM: [&str; 19] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/nix/store",
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/version",
    "/proc/filesystems",
    "/proc/sys/kernel",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu",
];

/// Devices that every program may read and write.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Carries out a hidden sub-command when the words of the command line are one; returns its exit code. It must be
/// called before the program starts any thread, since a restriction holds for the thread that asks for it.
pub fn main(words: impl IntoIterator<Item = OsString>) -> Option<u8> {
    let mut words = words.into_iter();
    let program = words.next()?;
    let which = words.next()?;
    if which != WATCH && which != ENTER {
        return None;
    }
    let rest: Vec<OsString> = words.collect();
    let ended = read(&rest).and_then(|(confinement, command)| {
        if which == WATCH { watch(&program, &rest, &confinement) } else { Err(enter(&confinement, command)) }
    });
    Some(ended.unwrap_or_else(|error| {
        tell(&format!("cannot run it: {error}"));
        NOT_STARTED
    }))
}

/// Whether the kernel can confine programs; if not, what is missing.
pub fn support() -> Result<(), &'static str> {
    let restricts = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(Ruleset::create);
    if restricts.is_err() {
        return Err("the kernel has no Landlock");
    }
    if !Path::new("/proc/sys/kernel/seccomp/actions_avail").exists() {
        return Err("the kernel has no seccomp filters");
    }
    Ok(())
}

/// The words of a sub-command: what a program may touch, the program, the name it is called by, its arguments.
pub(super) fn words(confinement: &Confinement, program: &Path, words: &[String]) -> Result<Vec<OsString>, String> {
    let confinement = serde_json::to_string(confinement).map_err(|error| error.to_string())?;
    let first = [OsString::from(WATCH), confinement.into(), program.into()];
    Ok(first.into_iter().chain(words.iter().map(OsString::from)).collect())
}

fn read(words: &[OsString]) -> Result<(Confinement, &[OsString]), String> {
    let (first, command) = words.split_first().ok_or("nothing to run")?;
    let text = first.to_str().ok_or("what it may do is no text")?;
    Ok((serde_json::from_str(text).map_err(|error| error.to_string())?, command))
}

/// Starts the program and watches over it. Whoever started this keeps its standard input open as long as it may run.
fn watch(program: &OsStr, words: &[OsString], confinement: &Confinement) -> Result<u8, String> {
    let this = i32::try_from(std::process::id()).ok().and_then(Pid::from_raw);
    set_child_subreaper(this).map_err(|error| format!("no process can be watched: {error}"))?;
    let told = told_to_end();
    let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from(program));
    let mut child = Command::new(own)
        .arg(ENTER)
        .args(words)
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| format!("it cannot be started: {error}"))?;
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(code(status)),
            Err(error) => break Err(error.to_string()),
            Ok(None) => {}
        }
        if let Some(reason) = over(&confinement.limits) {
            tell(&format!("ended: {reason}"));
            break Ok(code_of_signal(9));
        }
        if told.load(Ordering::SeqCst) {
            break Ok(code_of_signal(9));
        }
        pause(&mut child);
    };
    end_all();
    ended
}

/// Waits until the next look, and not that long when the program is quick.
fn pause(child: &mut std::process::Child) {
    let until = Instant::now() + LOOK;
    while Instant::now() < until && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Becomes true when standard input ends.
fn told_to_end() -> Arc<AtomicBool> {
    let told = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&told);
    std::thread::spawn(move || {
        let mut rest = Vec::new();
        // However it ends, nobody is there who wants the program to go on.
        let _ = io::stdin().read_to_end(&mut rest);
        ended.store(true, Ordering::SeqCst);
    });
    told
}

fn over(limits: &Limits) -> Option<String> {
    let used = usage();
    if used.processes > limits.processes {
        return Some(format!("it had more than {} processes", limits.processes));
    }
    let used_too_much = used.memory_bytes > limits.memory_bytes;
    used_too_much.then(|| format!("it used more than {} MiB of memory", limits.memory_bytes / 1024 / 1024))
}

/// Restricts this process and replaces it with the program. Returns only when that fails.
fn enter(confinement: &Confinement, command: &[OsString]) -> String {
    let [program, name, arguments @ ..] = command else { return "nothing to run".to_owned() };
    if let Err(error) = restrict(confinement) {
        return error;
    }
    let mut command = Command::new(program);
    command.arg0(name).args(arguments).current_dir(&confinement.folder);
    command.exec().to_string()
}

fn restrict(confinement: &Confinement) -> Result<(), String> {
    // A session of its own has no terminal.
    setsid().map_err(|error| format!("no session of its own: {error}"))?;
    limit(&confinement.limits).map_err(|error| format!("no limits: {error}"))?;
    if !confinement.confined {
        return Ok(());
    }
    let status = hold(confinement).map_err(|error| format!("no sandbox: {error}"))?;
    if status == RulesetStatus::NotEnforced {
        return Err("no sandbox: the kernel has none".to_owned());
    }
    for filter in filters(confinement)? {
        seccompiler::apply_filter(&filter).map_err(|error| format!("no sandbox: {error}"))?;
    }
    Ok(())
}

fn limit(limits: &Limits) -> io::Result<()> {
    let fixed = |value: u64| Rlimit { current: Some(value), maximum: Some(value) };
    setrlimit(Resource::Core, fixed(0))?;
    setrlimit(Resource::Cpu, fixed(limits.seconds.saturating_mul(2)))?;
    setrlimit(Resource::Fsize, fixed(limits.file_bytes))?;
    setrlimit(Resource::Data, fixed(limits.memory_bytes))?;
    setrlimit(Resource::Nofile, fixed(1024))?;
    // The kernel counts every process of the user, not only these.
    setrlimit(Resource::Nproc, fixed(of_this_user() + u64::from(limits.processes)))?;
    Ok(())
}

/// Holds this process to its folders (Landlock): the system's and the granted ones for reading, some for writing, no
/// TCP without the network, no signals to processes outside.
fn hold(confinement: &Confinement) -> Result<RulesetStatus, RulesetError> {
    let all = AccessFs::from_all(NEWEST);
    let look: BitFlags<AccessFs> = AccessFs::from_read(NEWEST);
    let device = AccessFs::ReadFile | AccessFs::WriteFile;
    let mut rules = Ruleset::default().handle_access(all)?.scope(Scope::from_all(NEWEST))?;
    if !confinement.network {
        rules = rules.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let held = rules
        .create()?
        .add_rules(path_beneath_rules(SYSTEM, look))?
        .add_rules(path_beneath_rules(settings(), look))?
        .add_rules(path_beneath_rules(&confinement.read, look))?
        .add_rules(path_beneath_rules(&confinement.write, all))?
        .add_rules(path_beneath_rules(DEVICES, device))?
        .restrict_self()?;
    Ok(held.ruleset)
}

/// The entries of `/etc` that everybody may read. A program of root's would get the others too.
fn settings() -> Vec<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(entries) = std::fs::read_dir("/etc") else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let open = |path: &PathBuf| path.metadata().is_ok_and(|about| about.permissions().mode() & 0o004 != 0);
    paths.filter(open).collect()
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
    let _ = writeln!(io::stderr(), "{message}");
}
