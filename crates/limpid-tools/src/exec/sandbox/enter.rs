//! From the process that watches to the program: namespaces, the first process in them, and the program.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::stat;
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, chdir, getgid, getuid, pidfd_open, set_dumpable_behavior,
    set_parent_process_death_signal, setpriority_process, setsid, wait,
};
use rustix::stdio::stdin;
use rustix::system::sethostname;
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, configure_capability_in_ambient_set, set_capabilities,
};

use super::frozen::{copy_of_program, unchanged};
use super::restrict::{Around, restrict};
use super::{
    BECOME, ENTER, INIT, NETWORK, NOT_STARTED, READY, attempts, cgroup, code, code_of_signal, loopback, own_program,
    root, tell,
};
use crate::exec::confinement::Confinement;

/// How long the first process lives without a word from the one that watches.
const SILENCE: Duration = Duration::from_secs(2);

/// The priority of a program's processes: the lowest one.
const NICE: i32 = 19;

/// The priority of their session, which gets about a tenth of the agent's share. With the lowest one a build on a busy machine would
/// run into its time limit.
const NICE_OF_SESSION: &str = "10";

/// How often setting the priority of the session is tried.
const ATTEMPTS: u32 = 25;

/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// Makes the namespaces and starts the first process in them, which finds in its standard input what it is to do.
pub(super) fn enter(cgroup: &Path, has_network: bool) -> Result<u8, String> {
    detach()?;
    if let Err(error) = cgroup::join(cgroup) {
        return refused(Err(error));
    }
    if let Err(error) = make_namespaces(has_network) {
        return refused(Err(format!("no namespaces: {error}")));
    }
    let mut init = own_program().arg(INIT).spawn().map_err(|error| error.to_string())?;
    init.wait().map(code).map_err(|error| error.to_string())
}

/// Ends with whoever watches, and has no terminal.
fn detach() -> Result<(), String> {
    // Whoever watches may be gone already; its end of the stream says so then.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    setsid().map_err(|error| format!("no session of its own: {error}"))?;
    stand_back()
}

/// Lowers the CPU priority below the agent's. With autogroups the kernel compares sessions, so the session gets one too; otherwise it
/// compares processes.
fn stand_back() -> Result<(), String> {
    setpriority_process(None, NICE).map_err(|error| format!("no low priority: {error}"))?;
    for _ in 0..ATTEMPTS {
        // The kernel lets everybody do this ten times a second, all together. Many kernels have no such thing.
        match fs::write("/proc/self/autogroup", NICE_OF_SESSION) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
            _ => break,
        }
    }
    Ok(())
}

/// Tells whoever watches why nothing was started.
fn refused(ended: Result<u8, String>) -> Result<u8, String> {
    if let Err(error) = &ended {
        // When nobody hears it, nobody waits for the program either.
        let _ = rustix::io::write(stdin(), error.as_bytes());
        return Ok(NOT_STARTED);
    }
    ended
}

/// With `proxy` the network has a loopback on which one is reached.
fn make_namespaces(proxy: bool) -> io::Result<()> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let flags = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWNET
        | UnshareFlags::NEWCGROUP;
    #[allow(deprecated, reason = "of these flags none is unsafe; the table of descriptors stays")]
    rustix::thread::unshare(flags)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    // So that a call does not use up what the kernel gives the user. Older kernels have no such limits.
    for (name, most) in [("instances", "16"), ("watches", "16384")] {
        let _ = fs::write(format!("/proc/sys/user/max_inotify_{name}"), most);
    }
    if proxy {
        loopback::open()?;
    }
    // What the first process needs to mount, and to give up the rest. They hold within the namespaces only.
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::SETPCAP;
    set_capabilities(None, CapabilitySets { effective: needed, permitted: needed, inheritable: needed })?;
    for capability in [CapabilitySet::SYS_ADMIN, CapabilitySet::SETPCAP] {
        configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// The first process of the namespaces: with it everything in them ends.
pub(super) fn init(confinement: &Confinement, command: &[OsString]) -> Result<u8, String> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    // Names, for whoever looks; nothing hangs on them.
    let _ = sethostname(b"sandbox");
    let _ = rustix::thread::set_name(c"sandbox");
    let made = root::change(confinement).and_then(|()| {
        // The program must not look into this process, which hears from outside. Without one this process tries what a
        // program would, which must not fail for being hidden.
        if !command.is_empty() {
            set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(|error| error.to_string())?;
        }
        restrict(confinement, Around::Namespaces, &root::scratch())
    });
    if let Err(error) = made {
        return refused(Err(error));
    }
    let _ = rustix::io::write(stdin(), &[READY]);
    if command.is_empty() {
        return Ok(tell_attempts(Around::Namespaces));
    }
    let copy = command.first().and_then(|program| copy_of_program(confinement, Path::new(program)));
    let mut program = program(confinement, &running(command, copy), &root::home(), Path::new("/tmp"))?;
    let child = program.spawn().map_err(|error| error.to_string())?;
    let child = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or("it has no number")?;
    Ok(follow(child))
}

/// Waits for the program, buries what it left, and ends when nobody watches any more.
fn follow(child: Pid) -> u8 {
    let ended = pidfd_open(child, PidfdFlags::empty()).ok();
    let mut heard = Instant::now();
    loop {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == child {
                let code = status.exit_status().and_then(|code| u8::try_from(code).ok());
                return code.unwrap_or_else(|| status.terminating_signal().map_or(u8::MAX, code_of_signal));
            }
        }
        let input = stdin();
        let mut events = vec![PollFd::new(&input, PollFlags::IN)];
        events.extend(ended.as_ref().map(|ended| PollFd::new(ended, PollFlags::IN)));
        let timeout = rustix::event::Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        let _ = poll(&mut events, Some(&timeout));
        if events.first().is_some_and(|event| !event.revents().is_empty()) {
            if !matches!(rustix::io::read(stdin(), &mut [0; 256]), Ok(1..)) {
                return NOT_STARTED;
            }
            heard = Instant::now();
        }
        if heard.elapsed() > SILENCE {
            tell("ended: nobody watched over it");
            return code_of_signal(9);
        }
    }
}

/// Restricts this process and replaces it with the program.
pub(super) fn become_program(
    confinement: &Confinement,
    command: &[OsString],
    (cgroup, call): (&Path, &Path),
) -> Result<u8, String> {
    detach()?;
    let (home, temporary) = (call.join("home"), call.join("tmp"));
    let made = cgroup::join(cgroup);
    let made = made
        .and_then(|()| root::skills(&home, confinement).map_err(|error| format!("no home for the program: {error}")));
    // Without mounts of its own the program itself runs as the copy; of the other files nobody may have changed one.
    let made = made.and_then(|()| unchanged(confinement, command.first().map_or(Path::new(""), Path::new)));
    let made = made.and_then(|()| restrict(confinement, Around::Machine, &[home.clone(), temporary.clone()]));
    if let Err(error) = made {
        return refused(Err(error));
    }
    let _ = rustix::io::write(stdin(), &[READY]);
    if command.is_empty() {
        return Ok(tell_attempts(Around::Machine));
    }
    let copy = confinement.frozen.first().filter(|(path, _)| is_program(command, path));
    let error = program(confinement, &running(command, copy.map(|(_, copy)| copy.clone())), &home, &temporary)?.exec();
    tell(&format!("cannot run it: {error}"));
    Ok(NOT_STARTED)
}

/// Says what the layers stopped.
fn tell_attempts(around: Around) -> u8 {
    use std::io::Write as _;
    let lines = attempts::all(around)
        .into_iter()
        .map(|(layer, stopped)| format!("{}{layer}\n", if stopped { '+' } else { '-' }));
    // Whoever asked may be gone.
    let _ = io::stdout().write_all(lines.collect::<String>().as_bytes());
    0
}

fn is_program(command: &[OsString], path: &Path) -> bool {
    command.first().is_some_and(|program| path == Path::new(program))
}

/// A command that runs the copy of its program, if there is one.
fn running(command: &[OsString], copy: Option<PathBuf>) -> Vec<OsString> {
    let mut command = command.to_vec();
    if let (Some(program), Some(copy)) = (command.first_mut(), copy) {
        *program = copy.into();
    }
    command
}

/// Goes to the folder that the program starts in, which is the very one that was judged: another program may have put a link, or another
/// folder, in its place since.
fn go_to_start(confinement: &Confinement) -> Result<(), String> {
    chdir(&confinement.folder).map_err(|error| error.to_string())?;
    let Some(start) = &confinement.start else { return Ok(()) };
    let about = stat(".").map_err(|error| error.to_string())?;
    match (about.st_dev, about.st_ino) == (start.device, start.inode) {
        true => Ok(()),
        false => Err("its working folder was replaced after the call was checked; call it again".to_owned()),
    }
}

/// The program, to start in the folder that this process is in then.
fn program(confinement: &Confinement, command: &[OsString], home: &Path, temporary: &Path) -> Result<Command, String> {
    let [program, name, arguments @ ..] = command else { return Err("nothing to run".to_owned()) };
    go_to_start(confinement)?;
    let mut command = Command::new(program);
    command.arg0(name).args(arguments).env("HOME", home).env("TMPDIR", temporary).stdin(Stdio::null());
    if confinement.network.is_granted() {
        let proxy = format!("http://127.0.0.1:{}", loopback::PORT);
        let names = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
        command.envs(names.map(|name| (name, &proxy)));
    }
    Ok(command)
}

/// The command that starts all this, with a stream to hear from it and be heard by it.
pub(super) fn started(has_network: bool, stream: Stdio, cgroup: &Path, call: Option<&Path>) -> Command {
    let mut command = own_program();
    match call {
        None => command.arg(ENTER).arg(cgroup).args(has_network.then_some(NETWORK)),
        Some(call) => command.arg(BECOME).arg(cgroup).arg(call),
    };
    command.stdin(stream);
    command
}
