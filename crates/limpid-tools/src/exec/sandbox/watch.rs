//! Watches over a program: its limits, and the end of everything that it started.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::net::RecvFlags;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, set_child_subreaper};
use rustix::stdio::stdin;

use super::cgroup::{Cgroup, Reached};
use super::restrict::is_left_out;
use super::{CGROUP, READY, code, code_of_signal, enter, handed, loopback, proxy, support, tell};
use crate::exec::confinement::{Confinement, Limits, Network};
use crate::exec::disk::{self, Disk};
use crate::exec::processes::{end_all, usage};

/// Between two looks at what the program uses.
const LOOK: Duration = Duration::from_millis(50);

/// How long it may be unknown what the program uses.
const UNKNOWN: Duration = Duration::from_secs(1);

/// How long sent files may stay unreceived between a program's processes, where nothing counts them.
const UNSEEN: Duration = Duration::from_secs(2);

/// How long the restrictions may take.
const SETUP: Duration = Duration::from_secs(10);

/// How much later than whoever started this it ends the program by itself.
const LATER: Duration = Duration::from_secs(5);

/// Why a program ends that would use up what the kernel gives one user.
const TOO_MANY_FILES: &str =
    "it watched too many files at once, or kept sending open files without receiving them; watch fewer files";

/// A program that was started, with the stream to the process that started it.
struct Started {
    child: Child,
    stream: UnixStream,
    /// Processes of the sandbox's own among those below this one.
    own: u32,
    /// The processes that were below this one when they were last looked at.
    known: Vec<i32>,
    /// Since when there are sent files that were not received.
    unseen: Option<Instant>,
    /// The folder of the call, if the program has no file system of its own.
    call: Option<Call>,
    /// What the kernel counts and ends as one, or why there is none. Then this process looks at each of them.
    cgroup: Result<Cgroup, String>,
}

/// A folder that is there for one call.
struct Call(PathBuf);

impl Drop for Call {
    fn drop(&mut self) {
        // What is left takes room, and nothing more.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Starts the program and watches over it. Whoever started this keeps its standard input open as long as it may run.
pub(super) fn watch(words: &[OsString], confinement: &Confinement) -> Result<u8, String> {
    // Counted before the program can add anything.
    let disk = Disk::new(confinement.write.iter().map(|place| place.path.clone()).collect());
    let mut started = start(words, confinement)?;
    let ended = follow(&mut started, disk, confinement);
    started.end();
    ended
}

/// Puts up every layer without a program, and has the process that would become one try what each must stop.
pub(super) fn try_layers() -> Result<u8, String> {
    let nothing = Confinement {
        folder: "/".into(),
        start: None,
        write: Vec::new(),
        read: Vec::new(),
        kept: Vec::new(),
        hidden: Vec::new(),
        closed: Vec::new(),
        absent: Vec::new(),
        covered: Vec::new(),
        split: Vec::new(),
        links: Vec::new(),
        frozen: Vec::new(),
        skills: Vec::new(),
        scratch: "/tmp".into(),
        network: Network::default(),
        watch: false,
        limits: Limits::default(),
        spares_disk: false,
    };
    let mut started = start(&[], &nothing)?;
    let ended = started.child.wait().map(code).map_err(|error| error.to_string());
    // Whoever asked may be gone.
    let _ = match &started.cgroup {
        Ok(_) => writeln!(io::stdout(), "+{CGROUP}"),
        Err(why) => writeln!(io::stdout(), "-{CGROUP}: {why}"),
    };
    started.end();
    ended
}

/// Starts the program in namespaces, or without them where the system allows none and Landlock is enough.
fn start(words: &[OsString], confinement: &Confinement) -> Result<Started, String> {
    let this = i32::try_from(std::process::id()).ok().and_then(Pid::from_raw);
    set_child_subreaper(this).map_err(|error| format!("no process can be watched: {error}"))?;
    let layers = support().map_err(|missing| missing.why().to_owned())?;
    let mut reasons = Vec::new();
    if layers.namespaces {
        match put_up(words, None, confinement) {
            Ok(started) => return Ok(started),
            Err(reason) => reasons.push(reason),
        }
        end_all(&[]);
    }
    if confinement.network.is_granted() {
        reasons.push("without namespaces no program can be held to some names of the network".to_owned());
    } else if !layers.signals {
        reasons.push("Landlock is older than version 6".to_owned());
    } else if let Some(hidden) = confinement.hidden.iter().find(|hidden| !is_left_out(confinement, hidden)) {
        // Strangers may have chosen its name.
        let called = match confinement.closed.iter().any(|place| place.path == *hidden) {
            true => "a folder of somebody else's".to_owned(),
            false => format!("`{}`", hidden.display()),
        };
        reasons.push(format!("without namespaces {called} cannot be hidden within a folder that programs see"));
    } else if let Some(kept) = confinement.kept.first() {
        reasons.push(format!(
            "without namespaces `{}` cannot be kept as it is in a folder that programs write",
            kept.path.display()
        ));
    } else {
        let call = call(&confinement.scratch).map_err(|error| format!("no folder for the call: {error}"))?;
        match put_up(words, Some(call), confinement) {
            Ok(started) => return Ok(started),
            Err(reason) => reasons.push(reason),
        }
        end_all(&[]);
    }
    Err(format!("no sandbox: {}", reasons.join("; ")))
}

fn put_up(words: &[OsString], call: Option<Call>, confinement: &Confinement) -> Result<Started, String> {
    let own = if call.is_some() { 0 } else { 2 };
    // Where there is none, what the program uses is counted here.
    let cgroup = Cgroup::for_call().and_then(|made| made.limit(&confinement.limits, own).map(|()| made));
    let (stream, other) = UnixStream::pair().map_err(|error| error.to_string())?;
    // It lies in the stream until the process reads it that starts the program.
    let told = serde_json::to_string(&(confinement, words)).map_err(|error| error.to_string())?;
    handed::give(&stream, &told).map_err(|error| format!("it cannot be told what it may do: {error}"))?;
    let folder = cgroup.as_ref().map_or(Path::new(""), Cgroup::folder);
    let call_folder = call.as_ref().map(|call| call.0.as_path());
    let has_network = confinement.network.is_granted();
    let mut command = enter::started(has_network, OwnedFd::from(other).into(), folder, call_folder);
    let child = command.spawn().map_err(|error| format!("it cannot be started: {error}"))?;
    // It holds the other end of the stream, which must close when the child ends.
    drop(command);
    let mut started = Started { child, stream, own, known: Vec::new(), unseen: None, call, cgroup };
    if has_network {
        let listener = loopback::take(&started.stream)?;
        proxy::serve(listener, confinement.network.clone()).map_err(|error| format!("no proxy: {error}"))?;
    }
    started.wait_for_word()?;
    Ok(started)
}

impl Started {
    /// Ends it and everything that it started. The first step needs nothing that could be missing.
    fn end(&mut self) {
        self.cgroup.iter().for_each(Cgroup::end);
        // Once it was waited for, its number may be another one's.
        if matches!(self.child.try_wait(), Ok(None)) {
            // Its processes are in its own group, unless they left it.
            let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
            let _ = group.map(|group| kill_process_group(group, Signal::KILL));
            let _ = self.child.kill();
        }
        end_all(&self.known);
    }

    /// Which limit was reached.
    fn reached(&mut self, limits: &Limits) -> io::Result<Reached> {
        let by_kernel = self.cgroup.as_ref().ok().map(Cgroup::reached).transpose()?;
        if let Some(reached) = by_kernel.filter(|reached| reached.memory || reached.processes) {
            return Ok(reached);
        }
        // In a cgroup, too: what nobody can look into hides files without a name from the count of the disk, and no cgroup counts
        // watches.
        let used = usage(self.own, &mut self.known)?;
        let reached = by_kernel.unwrap_or(Reached {
            memory: used.memory_bytes > limits.memory_bytes,
            processes: used.processes > limits.processes,
            watches: false,
        });
        self.unseen = used.has_sent_files.then(|| self.unseen.unwrap_or_else(Instant::now));
        let hides = self.unseen.is_some_and(|since| since.elapsed() > UNSEEN);
        Ok(Reached { watches: used.waits_for_too_many || hides, ..reached })
    }

    /// Waits until the restrictions hold.
    fn wait_for_word(&mut self) -> Result<(), String> {
        let mut word = [0; 4096];
        self.stream.set_read_timeout(Some(SETUP)).map_err(|error| error.to_string())?;
        // The kernel does not begin a wait with a time limit again by itself after a signal or a stop.
        let read = retry_on_intr(|| rustix::net::recv(&self.stream, &mut word[..], RecvFlags::empty()));
        let (_, count) = read.map_err(|error| format!("it said nothing: {error}"))?;
        match word.get(..count) {
            Some([READY, ..]) => Ok(()),
            Some([]) | None => Err("it ended before it began".to_owned()),
            Some(reason) => Err(String::from_utf8_lossy(reason).into_owned()),
        }
    }
}

/// A folder for one call, with a home and a place for temporary files.
fn call(scratch: &Path) -> io::Result<Call> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::create_dir_all(scratch)?;
    let mut attempt = 0;
    loop {
        let folder = scratch.join(format!("{}-{attempt}", std::process::id()));
        match fs::DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => {
                fs::create_dir(folder.join("home"))?;
                fs::create_dir(folder.join("tmp"))?;
                return Ok(Call(folder));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Waits for the end of the program, or brings it about.
fn follow(started: &mut Started, disk: Disk, confinement: &Confinement) -> Result<u8, String> {
    let limits = &confinement.limits;
    let mut written: Vec<PathBuf> = confinement.write.iter().map(|place| place.path.clone()).collect();
    let disk = match &started.call {
        Some(call) => {
            written.push(call.0.clone());
            disk.with_empty(call.0.clone())
        }
        None => disk,
    };
    // At each look, since counting may take longer than a disk takes to fill.
    let full = || disk::room(written.iter().map(PathBuf::as_path)).err().filter(|_| confinement.spares_disk);
    let disk = watch_disk(disk, *limits).map_err(|error| format!("it cannot be watched: {error}"))?;
    let child = i32::try_from(started.child.id()).ok().and_then(Pid::from_raw).ok_or("it has no number")?;
    let ended = pidfd_open(child, PidfdFlags::empty()).map_err(|error| format!("it cannot be watched: {error}"))?;
    let begun = Instant::now();
    let mut known = begun;
    loop {
        if let Some(status) = started.child.try_wait().map_err(|error| error.to_string())? {
            // The kernel ends all of it by itself.
            if started.cgroup.as_ref().is_ok_and(|cgroup| cgroup.reached().is_ok_and(|reached| reached.memory)) {
                tell(&format!("ended: {}", too_much_memory(limits)));
                return Ok(code_of_signal(9));
            }
            return Ok(code(status));
        }
        // The program's own streams say nothing when nobody reads them, so a lost stream is no reason to end.
        let _ = started.stream.write(&[READY]);
        let reached = started.reached(limits);
        if reached.is_ok() {
            known = Instant::now();
        }
        let reason = match reached {
            Ok(Reached { processes: true, .. }) => Some(format!("it had more than {} processes", limits.processes)),
            Ok(Reached { memory: true, .. }) => Some(too_much_memory(limits)),
            Ok(Reached { watches: true, .. }) => Some(TOO_MANY_FILES.to_owned()),
            Err(error) if known.elapsed() > UNKNOWN => Some(format!("what it uses cannot be read: {error}")),
            _ => full().or_else(|| disk.try_recv().ok()),
        };
        if let Some(reason) = reason {
            tell(&format!("ended: {reason}"));
            return Ok(code_of_signal(9));
        }
        if begun.elapsed() > Duration::from_secs(limits.seconds) + LATER || is_told_to_end(&ended) {
            return Ok(code_of_signal(9));
        }
    }
}

fn too_much_memory(limits: &Limits) -> String {
    format!("it used more than {} MiB of memory", limits.memory_bytes / 1024 / 1024)
}

/// Counts beside everything else: in a large folder that may take longer than what else is used may stay unknown.
fn watch_disk(disk: Disk, limits: Limits) -> io::Result<Receiver<String>> {
    let (sender, receiver) = mpsc::channel();
    // When nobody hears the reason, the program is at its end already.
    let watch = move || drop(sender.send(disk.watch(&limits)));
    std::thread::Builder::new().spawn(watch)?;
    Ok(receiver)
}

/// Waits until the next look, until the program has ended, or until nobody wants it any more; says whether that is so.
fn is_told_to_end(ended: &OwnedFd) -> bool {
    let input = stdin();
    let mut events = [PollFd::new(ended, PollFlags::IN), PollFd::new(&input, PollFlags::IN)];
    let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK.subsec_nanos()) };
    let _ = poll(&mut events, Some(&timeout));
    let heard = !events[1].revents().is_empty();
    heard && !matches!(rustix::io::read(stdin(), &mut [0; 256]), Ok(1..))
}
