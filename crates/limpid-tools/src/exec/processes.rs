//! The processes below this one, as the kernel lists them.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use limpid_config::{MAX_FILE, regular_file};
use rustix::process::{Pid, Signal, WaitOptions, getuid, kill_process, wait};

/// How long the end of everything may take.
const LAST: Duration = Duration::from_secs(5);

/// How long the list of processes may be unreadable at the end.
const UNREADABLE: Duration = Duration::from_millis(500);

/// Bytes that the mappings of all processes may be listed in. With more, looking at them would take too long.
const MAPPINGS: u64 = 8 * 1024 * 1024;

/// Pages that a pipe holds.
const PIPE_PAGES: u64 = 16;

/// Bytes that a socket's buffer may have where the system does not say.
const SOCKET: u64 = 212_992;

/// Files that a call's processes may watch at once. The kernel has a limit for each user; once that is used up, the agent accepts no
/// connection any more.
const WATCHES: u64 = 16_384;

/// Where the kernel's limit is low, a call gets this part of it.
const PART: u64 = 16;

/// Most bytes that the kernel prints for one watch.
const WATCH: u64 = 256;

/// Instances of inotify that a call's processes may have; a user usually has 128.
const QUEUES: u64 = 64;

/// One process.
#[derive(Clone, Copy, Debug)]
struct Process {
    /// Whether its first thread has ended.
    ended: bool,
    parent: i32,
    threads: u32,
    /// When it was started, as the kernel counts time.
    start: u64,
}

/// What all processes below one use together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) processes: u32,
    pub(super) memory_bytes: u64,
    /// Whether they watch more files than they may.
    pub(super) waits_for_too_many: bool,
    /// Whether open files were sent over a socket and not received yet: nobody can see what these are.
    pub(super) has_sent_files: bool,
    file_system_bytes: u64,
}

/// What processes have open of things that the kernel limits for the whole user.
#[derive(Debug, Default)]
struct Open {
    /// Pipes and sockets, by the names that the kernel gives them.
    buffers: HashSet<std::path::PathBuf>,
    /// Watched files, and the instances of epoll and inotify that watch them.
    watches: u64,
    /// Instances of inotify.
    queues: u64,
    /// Whether a socket holds open files that were sent and not received.
    sent_files: bool,
}

/// What the processes below this one use, but for the first `own` of them, which are the sandbox's. `known` gets their
/// numbers.
///
/// # Errors
/// When anything of it cannot be read, or is too long to be read often.
pub(super) fn usage(own: u32, known: &mut Vec<i32>) -> io::Result<Usage> {
    let all = all()?;
    *known = below(this_process(), &all);
    let mut used = Usage::default();
    let (mut shared, mut open, mut left) = (HashMap::new(), Open::default(), MAPPINGS);
    let most = most_watches();
    for (at, pid) in known.iter().copied().enumerate() {
        let Some(process) = all.get(&pid) else { continue };
        used.processes += process.threads.max(1);
        let place = process.place(pid);
        let read = |name: &str, most: u64| read(&format!("{place}/{name}"), most);
        used.memory_bytes += read("status", MAPPINGS)?.map_or(0, |status| its_own(&status));
        let maps = read("maps", left)?.unwrap_or_default();
        left = left.saturating_sub(maps.len() as u64);
        add_shared(&maps, &mut shared);
        // The sandbox's own let nobody look at what they have open.
        if at >= own as usize {
            open.add(&place, most)?;
        }
        used.file_system_bytes = used.file_system_bytes.max(in_memory(&place));
    }
    used.processes = used.processes.saturating_sub(own);
    used.memory_bytes += shared.values().sum::<u64>() + used.file_system_bytes + size_of_buffers(&open.buffers);
    used.waits_for_too_many = open.watches > most || open.queues > QUEUES;
    used.has_sent_files = open.sent_files;
    Ok(used)
}

/// Reads a file of `/proc`; none when its process has ended, which then uses nothing.
fn read(path: &str, most: u64) -> io::Result<Option<String>> {
    match regular_file::read_text(Path::new(path), most) {
        Err(error) if is_gone(&error) => Ok(None),
        read => read.map(Some),
    }
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

/// Bytes of memory that only this process has, from `/proc/N/status`: its pages, also those on a disk, and the tables
/// that say where they are.
fn its_own(status: &str) -> u64 {
    let number = |line: &str| line.trim().trim_end_matches(" kB").parse::<u64>().ok();
    let names = ["RssAnon:", "VmPTE:", "VmSwap:"];
    let lines = status.lines().filter_map(|line| names.iter().find_map(|name| line.strip_prefix(name)));
    lines.filter_map(number).sum::<u64>() * 1024
}

impl Process {
    /// Its folder in `/proc`. Once the first thread has ended, only another thread's folder shows what the process has open.
    fn place(self, pid: i32) -> String {
        let other = || {
            let mut threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?.filter_map(Result::ok);
            threads.find(|thread| thread.file_name().to_str().is_some_and(|name| name != pid.to_string()))
        };
        let other = if self.ended && self.threads > 1 { other() } else { None };
        other.map_or_else(
            || format!("/proc/{pid}"),
            |thread| format!("/proc/{pid}/task/{}", thread.file_name().display()),
        )
    }
}

impl Open {
    /// Adds what the process with this folder in `/proc` has open. Beyond `most` watches the exact number does not matter.
    fn add(&mut self, place: &str, most: u64) -> io::Result<()> {
        let entries = match fs::read_dir(format!("{place}/fd")) {
            Err(error) if is_gone(&error) => return Ok(()),
            other => other?,
        };
        for entry in entries.filter_map(Result::ok) {
            let Ok(name) = fs::read_link(entry.path()) else { continue };
            let is_queue = has_prefix(&name, "anon_inode:inotify");
            let about = format!("{place}/fdinfo/{}", entry.file_name().display());
            if is_queue || has_prefix(&name, "anon_inode:[eventpoll]") {
                self.queues += u64::from(is_queue);
                let found = match read(&about, most.saturating_sub(self.watches) * WATCH) {
                    Err(error) if error.kind() == io::ErrorKind::FileTooLarge => most,
                    about => watches_in(&about?.unwrap_or_default()),
                };
                // An instance without watches takes memory, too.
                self.watches = self.watches.saturating_add(1 + found);
            } else if has_prefix(&name, "pipe:") {
                self.buffers.insert(name);
            } else if has_prefix(&name, "socket:") {
                self.sent_files |= read(&about, MAPPINGS)?.is_some_and(|about| has_sent_files(&about));
                self.buffers.insert(name);
            }
        }
        Ok(())
    }
}

/// The watches in the `fdinfo` of a descriptor.
fn watches_in(about: &str) -> u64 {
    about.lines().filter(|line| line.starts_with("tfd:") || line.starts_with("inotify wd:")).count() as u64
}

/// Whether a socket holds open files, by the `fdinfo` of its descriptor. Kernels before 5.8 do not say.
fn has_sent_files(about: &str) -> bool {
    about.lines().filter_map(|line| line.strip_prefix("scm_fds:")).any(|count| count.trim() != "0")
}

/// How many files a call's processes may watch, all together.
fn most_watches() -> u64 {
    let most = regular_file::read_text(Path::new("/proc/sys/fs/epoll/max_user_watches"), MAX_FILE).ok();
    let most = most.and_then(|most| most.trim().parse::<u64>().ok());
    most.map_or(WATCHES, |most| WATCHES.min(most / PART))
}

fn has_prefix(name: &Path, prefix: &str) -> bool {
    name.as_os_str().as_encoded_bytes().starts_with(prefix.as_bytes())
}

/// Bytes that these can hold. How much they do hold, the kernel tells nobody but whoever has them open.
fn size_of_buffers(buffers: &HashSet<std::path::PathBuf>) -> u64 {
    let pipes = buffers.iter().filter(|name| has_prefix(name, "pipe:")).count() as u64;
    // No program of the sandbox can set another size.
    let size = regular_file::read_text(Path::new("/proc/sys/net/core/wmem_default"), MAX_FILE).ok();
    let size = size.and_then(|size| size.trim().parse::<u64>().ok());
    // What is sent last may be beyond it.
    let socket = size.unwrap_or(SOCKET) * 2;
    pipes * PIPE_PAGES * rustix::param::page_size() as u64 + (buffers.len() as u64 - pipes) * socket
}

/// Adds memory that processes share and that belongs to no file, each piece once, from `/proc/N/maps`. Its whole size
/// counts: what a process has let go of is still held for the others.
fn add_shared(maps: &str, shared: &mut HashMap<String, u64>) {
    for line in maps.lines().filter(|line| line.ends_with("/dev/zero (deleted)")) {
        let mut fields = line.split_ascii_whitespace();
        let Some((from, to)) = fields.next().and_then(|range| range.split_once('-')) else { continue };
        let [from, to] = [from, to].map(|address| u64::from_str_radix(address, 16).unwrap_or_default());
        let Some(inode) = fields.nth(3) else { continue };
        let size = shared.entry(inode.to_owned()).or_default();
        *size = (*size).max(to.saturating_sub(from));
    }
}

/// Bytes of files in the file system that a program has for itself, which is memory.
fn in_memory(place: &str) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let folder = format!("{place}/root/run/call");
    // The machine's own folder of this name is none of the program's.
    let is_own = |about: &Metadata| fs::metadata("/").is_ok_and(|root| root.dev() != about.dev());
    if !fs::metadata(&folder).is_ok_and(|about| is_own(&about)) {
        return 0;
    }
    rustix::fs::statvfs(&folder).map_or(0, |about| (about.f_blocks - about.f_bfree) * about.f_frsize)
}

/// The files that the processes below this one have open.
pub(super) fn open_files() -> Vec<Metadata> {
    let all = all().unwrap_or_default();
    let pids = below(this_process(), &all).into_iter();
    let places = pids.filter_map(|pid| Some(all.get(&pid)?.place(pid)));
    let folders = places.filter_map(|place| fs::read_dir(format!("{place}/fd")).ok());
    let files = folders.flatten().filter_map(|entry| fs::metadata(entry.ok()?.path()).ok());
    files.filter(Metadata::is_file).collect()
}

/// Ends every process below this one. Those whose parent ended have become this one's own, since it is their subreaper,
/// so that none is missed however it left its group. Those that were known before are ended even where the kernel's list
/// cannot be read.
pub(super) fn end_all(known: &[i32]) {
    let begun = Instant::now();
    loop {
        let found = all_below(this_process());
        let listed = found.as_deref().unwrap_or(known);
        for pid in listed.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            // One that is gone meanwhile needs no end.
            let _ = kill_process(pid, Signal::KILL);
        }
        while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
        // What ended may have held what is missing for reading the list.
        let most = if found.is_ok() { LAST } else { UNREADABLE };
        if found.is_ok_and(|found| found.is_empty()) || begun.elapsed() > most {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// When a process was started; none when there is none of this number. Together they belong to one process only.
pub(super) fn start_of(process: u32) -> Option<u64> {
    let stat = read(&format!("/proc/{process}/stat"), MAPPINGS).ok()??;
    parsed(&stat).map(|process| process.start)
}

/// Processes that this user has, threads counted.
pub(super) fn of_this_user() -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let user = getuid().as_raw();
    let own = |pid: &i32| fs::metadata(format!("/proc/{pid}")).is_ok_and(|about| about.uid() == user);
    let all = all().unwrap_or_default();
    all.iter().filter(|(pid, _)| own(pid)).map(|(_, process)| u64::from(process.threads)).sum()
}

fn this_process() -> i32 {
    i32::try_from(std::process::id()).unwrap_or_default()
}

/// The processes below one, by their numbers.
pub(super) fn all_below(process: i32) -> io::Result<Vec<i32>> {
    all().map(|all| below(process, &all))
}

/// The processes below one, children before their children.
fn below(process: i32, all: &HashMap<i32, Process>) -> Vec<i32> {
    let mut found = vec![process];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        found.extend(all.iter().filter(|(_, process)| process.parent == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    found.remove(0);
    found
}

fn all() -> io::Result<HashMap<i32, Process>> {
    let entries = fs::read_dir("/proc")?;
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let process = |pid: i32| {
        let stat = read(&format!("/proc/{pid}/stat"), MAPPINGS).transpose()?;
        stat.map(|stat| parsed(&stat).map(|process| (pid, process))).transpose()
    };
    pids.filter_map(process).collect()
}

/// Reads a line of `/proc/N/stat`: the name in brackets may hold anything, so what follows it is counted.
fn parsed(stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The state, which comes first here, is field 3 of the manual page.
    let field = |n: usize| fields.get(n - 3).copied();
    Some(Process {
        ended: field(3)? == "Z",
        parent: field(4)?.parse().ok()?,
        threads: field(20)?.parse().ok()?,
        start: field(22)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_is_no_trouble() {
        let stat = "7 (a) b (c) S 3 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 5 0 100 1000 12 18446744073709551615";
        let process = parsed(stat).unwrap();
        assert_eq!((process.parent, process.threads, process.start), (3, 5, 100));
        assert!(parsed("broken").is_none());
    }

    // SEC-084
    #[test]
    fn each_file_that_is_waited_for_counts() {
        let about = "pos:\t0\nflags:\t02\nmnt_id:\t15\ntfd:        5 events:       19 data:                5  pos:0 ino:1 sdev:d\n\
            tfd:        6 events:       19 data:                6  pos:0 ino:1 sdev:d\n";
        assert_eq!(watches_in(about), 2);
        assert_eq!(watches_in("flags:\t00\ninotify wd:1 ino:2 sdev:3 mask:8 ignored_mask:0\n"), 1);
        assert!((1..=WATCHES).contains(&most_watches()));
        assert!(has_sent_files("flags:\t02\nscm_fds: 3\n"));
        assert!(!has_sent_files("flags:\t02\nscm_fds: 0\n") && !has_sent_files("flags:\t02\n"));
    }

    // SEC-084
    #[test]
    fn pages_tables_and_what_was_moved_to_disk_count() {
        assert_eq!(
            its_own("VmPeak:\t 900 kB\nVmPTE:\t 4 kB\nVmSwap:\t 8 kB\nRssAnon:\t 100 kB\nRssFile:\t 7 kB\n"),
            112 * 1024
        );
    }

    #[test]
    fn a_child_is_below_its_parent() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert!(all_below(this_process()).unwrap().contains(&pid));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!all_below(this_process()).unwrap().contains(&pid));
    }
}
