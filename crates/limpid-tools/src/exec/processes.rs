//! The processes below this one, as the kernel lists them.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getuid, kill_process, wait};

/// How long the end of everything may take.
const LAST: Duration = Duration::from_secs(5);

/// One process.
#[derive(Clone, Copy, Debug)]
struct Process {
    parent: i32,
    threads: u32,
}

/// What all processes below one use together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) processes: u32,
    pub(super) memory_bytes: u64,
    file_system_bytes: u64,
}

/// What the processes below this one use, but for the first `own` of them, which are the sandbox's.
///
/// # Errors
/// When the kernel's list of processes cannot be read.
pub(super) fn usage(own: u32) -> io::Result<Usage> {
    let all = all()?;
    let mut used = Usage::default();
    let mut shared = HashMap::new();
    for pid in below(&all) {
        let Some(process) = all.get(&pid) else { continue };
        used.processes += process.threads.max(1);
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}"));
        // One that ended meanwhile uses nothing.
        used.memory_bytes += read("status").map_or(0, |status| anonymous(&status));
        match read("maps") {
            Ok(maps) => add_shared(&maps, &mut shared),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(error),
            Err(_) => {}
        }
        used.file_system_bytes = used.file_system_bytes.max(in_memory(pid));
    }
    used.processes = used.processes.saturating_sub(own);
    used.memory_bytes += shared.values().sum::<u64>() + used.file_system_bytes;
    Ok(used)
}

/// Bytes of memory that only this process has, from `/proc/N/status`.
fn anonymous(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kibibytes.unwrap_or_default() * 1024
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
fn in_memory(pid: i32) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let folder = format!("/proc/{pid}/root/run/call");
    // The machine's own folder of this name is none of the program's.
    let is_own = |about: &Metadata| fs::metadata("/").is_ok_and(|root| root.dev() != about.dev());
    if !fs::metadata(&folder).is_ok_and(|about| is_own(&about)) {
        return 0;
    }
    rustix::fs::statvfs(&folder).map_or(0, |about| (about.f_blocks - about.f_bfree) * about.f_frsize)
}

/// The files that the processes below this one have open.
pub(super) fn open_files() -> Vec<Metadata> {
    let pids = all().map(|all| below(&all)).unwrap_or_default();
    let folders = pids.into_iter().filter_map(|pid| fs::read_dir(format!("/proc/{pid}/fd")).ok());
    let files = folders.flatten().filter_map(|entry| fs::metadata(entry.ok()?.path()).ok());
    files.filter(Metadata::is_file).collect()
}

/// Ends every process below this one. Those whose parent ended have become this one's own, since it is their subreaper,
/// so that none is missed however it left its group.
pub(super) fn end_all() {
    let until = Instant::now() + LAST;
    loop {
        let found = all().map(|all| below(&all)).unwrap_or_default();
        for pid in found.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            // One that is gone meanwhile needs no end.
            let _ = kill_process(pid, Signal::KILL);
        }
        while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
        if found.is_empty() || Instant::now() > until {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Processes that this user has, threads counted.
pub(super) fn of_this_user() -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let user = getuid().as_raw();
    let own = |pid: &i32| fs::metadata(format!("/proc/{pid}")).is_ok_and(|about| about.uid() == user);
    let all = all().unwrap_or_default();
    all.iter().filter(|(pid, _)| own(pid)).map(|(_, process)| u64::from(process.threads)).sum()
}

/// The processes below this one, children before their children.
fn below(all: &HashMap<i32, Process>) -> Vec<i32> {
    let mut found = vec![i32::try_from(std::process::id()).unwrap_or_default()];
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
    let process = |pid: i32| Some((pid, read(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?));
    let all: HashMap<i32, Process> = pids.filter_map(process).collect();
    // This process is one of them; without it nothing could be read.
    if all.is_empty() { Err(io::Error::other("no process can be read")) } else { Ok(all) }
}

/// Reads a line of `/proc/N/stat`: the name in brackets may hold anything, so what follows it is counted.
fn read(stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The state, which comes first here, is field 3 of the manual page.
    let field = |n: usize| fields.get(n - 3).copied();
    Some(Process { parent: field(4)?.parse().ok()?, threads: field(20)?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_is_no_trouble() {
        let stat = "7 (a) b (c) S 3 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 5 0 100 1000 12 18446744073709551615";
        let process = read(stat).unwrap();
        assert_eq!((process.parent, process.threads), (3, 5));
        assert!(read("broken").is_none());
    }

    #[test]
    fn a_child_is_below_its_parent() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert!(below(&all().unwrap()).contains(&pid));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!below(&all().unwrap()).contains(&pid));
    }
}
