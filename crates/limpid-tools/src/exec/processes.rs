//! The processes below this one, as the kernel lists them.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getuid, kill_process, wait};

/// How long the end of everything may take.
const LAST: Duration = Duration::from_secs(5);

/// Bytes of a page of memory, as the kernel counts them here.
const PAGE: u64 = 4096;

/// One process.
#[derive(Clone, Copy, Debug)]
struct Process {
    parent: i32,
    threads: u32,
    memory_bytes: u64,
}

/// What all processes below one use together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) processes: u32,
    pub(super) memory_bytes: u64,
}

/// What the processes below this one use.
pub(super) fn usage() -> Usage {
    let all = all();
    below(&all).iter().filter_map(|pid| all.get(pid)).fold(Usage::default(), |sum, process| Usage {
        processes: sum.processes + process.threads.max(1),
        memory_bytes: sum.memory_bytes.saturating_add(process.memory_bytes),
    })
}

/// Ends every process below this one. Those whose parent ended have become this one's own, since it is their subreaper,
/// so that none is missed however it left its group.
pub(super) fn end_all() {
    let until = Instant::now() + LAST;
    loop {
        let found = below(&all());
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
    all().iter().filter(|(pid, _)| own(pid)).map(|(_, process)| u64::from(process.threads)).sum()
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

fn all() -> HashMap<i32, Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return HashMap::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: i32| Some((pid, read(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?))).collect()
}

/// Reads a line of `/proc/N/stat`: the name in brackets may hold anything, so what follows it is counted.
fn read(stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The state, which comes first here, is field 3 of the manual page.
    let field = |n: usize| fields.get(n - 3).copied();
    Some(Process {
        parent: field(4)?.parse().ok()?,
        threads: field(20)?.parse().ok()?,
        memory_bytes: field(24)?.parse::<u64>().ok()?.saturating_mul(PAGE),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_is_no_trouble() {
        let stat = "7 (a) b (c) S 3 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 5 0 100 1000 12 18446744073709551615";
        let process = read(stat).unwrap();
        assert_eq!((process.parent, process.threads, process.memory_bytes), (3, 5, 12 * PAGE));
        assert!(read("broken").is_none());
    }

    #[test]
    fn a_child_is_below_its_parent() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert!(below(&all()).contains(&pid));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!below(&all()).contains(&pid));
    }
}
