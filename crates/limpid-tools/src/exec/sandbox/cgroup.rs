//! A cgroup (version 2) for everything that a call starts: the kernel counts its memory and its processes, holds both to their
//! limits, and ends all of them at once.
//!
//! A cgroup holds processes or gives limits to those within it, not both. So where the agent's own was delegated to it, and holds
//! nothing but the agent and what it started, all these move into one within it, and those of calls are made beside that.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use limpid_config::{MAX_FILE, regular_file};
use rustix::process::getppid;

use crate::exec::confinement::Limits;
use crate::exec::processes::{all_below, start_of};

/// The name of the cgroup that the agent itself moves into.
const AGENT: &str = "limpid-agent";

/// The beginning of the names of those for calls. The number of the process that watches follows, and when that was started.
const CALL: &str = "limpid-call-";

/// What has to be limited.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];

/// A call's share of the processors. The agent, and whatever else runs beside calls, has 100.
const WEIGHT: &str = "10";

/// How often moving is tried while new processes come.
const ATTEMPTS: u32 = 5;

/// How long the end of everything in one may take.
const LAST: Duration = Duration::from_secs(2);

/// The cgroup of one call. When it is dropped, everything in it ends.
pub(super) struct Cgroup(PathBuf);

/// Which limit was reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) memory: bool,
    pub(super) processes: bool,
    /// Watched files.
    pub(super) watches: bool,
}

impl Cgroup {
    /// One for a call of this process, which watches over it; removes those of processes that are gone.
    ///
    /// # Errors
    /// Why there is none here.
    pub(super) fn for_call() -> Result<Self, String> {
        let base = base()?;
        remove_left(&base);
        let pid = std::process::id();
        let start = start_of(pid).ok_or("when this process was started is unknown")?;
        let made = Self(base.join(format!("{CALL}{pid}-{start}")));
        fs::create_dir(&made.0).map_err(|error| format!("no cgroup can be made: {error}"))?;
        Ok(made)
    }

    /// Its folder.
    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    /// Sets what all processes in it may use together, `own` of which are the sandbox's.
    pub(super) fn limit(&self, limits: &Limits, own: u32) -> Result<(), String> {
        let set = |name: &str, value: String| {
            fs::write(self.0.join(name), value).map_err(|error| format!("`{name}` cannot be set: {error}"))
        };
        set("memory.max", limits.memory_bytes.to_string())?;
        set("memory.oom.group", "1".to_owned())?;
        // Without this controller the priority of the processes has to do.
        if self.0.join("cpu.weight").exists() {
            set("cpu.weight", WEIGHT.to_owned())?;
        }
        set("pids.max", (limits.processes + own).to_string())?;
        if self.0.join("memory.swap.max").exists() {
            return set("memory.swap.max", "0".to_owned());
        }
        // The first line is the table's head.
        match read("/proc/swaps").is_ok_and(|swaps| swaps.lines().count() > 1) {
            true => Err("the kernel does not count what was moved to a disk".to_owned()),
            false => Ok(()),
        }
    }

    /// Which of the limits was reached.
    ///
    /// # Errors
    /// When the kernel's counts cannot be read.
    pub(super) fn reached(&self) -> io::Result<Reached> {
        let count = |file: &str, name: &str| -> io::Result<bool> {
            let text = read(self.0.join(file))?;
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            Ok(value.is_some_and(|value| value != "0"))
        };
        let (memory, processes) = (count("memory.events", "oom")?, count("pids.events", "max")?);
        Ok(Reached { memory, processes, watches: false })
    }

    /// Ends everything in it. Older kernels cannot; then whoever watches ends the processes one by one.
    pub(super) fn end(&self) {
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        self.end();
        let begun = Instant::now();
        // A process that was ended takes a moment to be gone. What is left then is removed by the next call.
        while fs::remove_dir(&self.0).is_err_and(|error| error.kind() != io::ErrorKind::NotFound) {
            if begun.elapsed() > LAST {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Moves this process into a cgroup, by its folder; nowhere when that is empty.
pub(super) fn join(folder: &Path) -> Result<(), String> {
    if folder.as_os_str().is_empty() {
        return Ok(());
    }
    fs::write(folder.join("cgroup.procs"), "0").map_err(|error| format!("its cgroup cannot be entered: {error}"))
}

/// The cgroup in which those of calls are made, with the controllers on.
fn base() -> Result<PathBuf, String> {
    let own = read("/proc/self/cgroup").map_err(|error| error.to_string())?;
    let mounts = read("/proc/self/mountinfo").map_err(|error| error.to_string())?;
    let (own, is_root) = folder_of(&own, &mounts).ok_or("the system shows no cgroups of version 2")?;
    let moved = own.parent().filter(|_| own.file_name().is_some_and(|name| name == AGENT));
    let base = moved.unwrap_or(&own).to_path_buf();
    let names = |file: &str| read(base.join(file)).unwrap_or_default();
    let has_all = |list: &str| CONTROLLERS.iter().all(|name| list.split_ascii_whitespace().any(|it| it == *name));
    if !has_all(&names("cgroup.controllers")) {
        return Err("its cgroup cannot limit memory and processes".to_owned());
    }
    if moved.is_none() {
        if !is_root && !is_delegated(&base) {
            return Err("its cgroup was not delegated to it".to_owned());
        }
        return move_into_own(&base).map(|()| base);
    }
    if !has_all(&names("cgroup.subtree_control")) {
        switch_on(&base).map_err(|error| format!("no limits can be switched on: {error}"))?;
    }
    Ok(base)
}

/// The folder of a process's cgroup, and whether it is the first one that it sees: from the process's `cgroup` and its `mountinfo`.
fn folder_of(cgroup: &str, mountinfo: &str) -> Option<(PathBuf, bool)> {
    let path = cgroup.lines().find_map(|line| line.strip_prefix("0::"))?;
    let folder = |line: &str| {
        let (mount, kind) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(3);
        let (root, at) = (fields.next()?, fields.next()?);
        let within = Path::new(path).strip_prefix(root).ok().filter(|_| kind.starts_with("cgroup2 "))?;
        Some(Path::new(at).components().chain(within.components()).collect())
    };
    Some((mountinfo.lines().find_map(folder)?, path == "/"))
}

/// Whether whoever manages the cgroups has left this one to what runs in it. systemd says so in an attribute.
fn is_delegated(folder: &Path) -> bool {
    let says = |name: &str| {
        let mut value = [0; 8];
        rustix::fs::getxattr(folder, name, &mut value[..]).is_ok_and(|size| value.starts_with(b"1") && size == 1)
    };
    says("user.delegate") || says("trusted.delegate")
}

/// Moves everything in a cgroup into one within it, and switches the controllers on. When that fails half-way the agent is at home
/// there as well, and the next call goes on.
fn move_into_own(base: &Path) -> Result<(), String> {
    let agent = base.join(AGENT);
    let mut tried = 0;
    loop {
        let inside = processes_in(base)?;
        let family = family().map_err(|error| format!("its processes cannot be listed: {error}"))?;
        if !inside.is_subset(&family) {
            return Err("its cgroup holds processes of others".to_owned());
        }
        match fs::create_dir(&agent) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(format!("no cgroup can be made: {error}"));
            }
            _ => {}
        }
        // One that is gone meanwhile needs no place.
        let moved = inside.iter().map(|pid| fs::write(agent.join("cgroup.procs"), pid.to_string()));
        let failed = moved.filter_map(Result::err).find(|error| error.raw_os_error() != Some(libc::ESRCH));
        if let Some(error) = failed {
            // It is not empty when some were moved.
            let _ = fs::remove_dir(&agent);
            return Err(format!("no process can be moved: {error}"));
        }
        tried += 1;
        match switch_on(base) {
            Ok(()) => return Ok(()),
            Err(error) if tried == ATTEMPTS => return Err(format!("no limits can be switched on: {error}")),
            // A process has come meanwhile.
            Err(_) => {}
        }
    }
}

fn switch_on(base: &Path) -> io::Result<()> {
    let file = base.join("cgroup.subtree_control");
    fs::write(&file, CONTROLLERS.map(|name| format!("+{name}")).join(" "))?;
    // Not every system delegates this one.
    let _ = fs::write(&file, "+cpu");
    Ok(())
}

/// The processes in a cgroup; the kernel lists those that this process cannot see as 0.
fn processes_in(folder: &Path) -> Result<HashSet<i32>, String> {
    let listed = read(folder.join("cgroup.procs")).map_err(|error| format!("its cgroup cannot be read: {error}"))?;
    Ok(listed.lines().filter_map(|line| line.parse().ok()).collect())
}

/// The process that started this one, and all that it started.
fn family() -> io::Result<HashSet<i32>> {
    let this = i32::try_from(std::process::id()).unwrap_or_default();
    let agent = getppid().map_or(this, |agent| agent.as_raw_nonzero().get());
    Ok(all_below(agent)?.into_iter().chain([agent, this]).collect())
}

/// Ends and removes what calls left whose watcher is gone.
fn remove_left(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else { return };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let Some((pid, start)) = name.to_str().and_then(|name| name.strip_prefix(CALL)?.split_once('-')) else {
            continue;
        };
        let is_there = pid.parse().ok().and_then(start_of).is_some_and(|now| now.to_string() == start);
        if !is_there {
            drop(Cgroup(entry.path()));
        }
    }
}

fn read(path: impl AsRef<Path>) -> io::Result<String> {
    regular_file::read_text(path.as_ref(), MAX_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIFIED: &str =
        "23 1 0:1 / /sys rw - sysfs sysfs rw\n30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";

    // SEC-084
    #[test]
    fn the_folder_of_a_cgroup_is_found_wherever_it_is_mounted() {
        let found = |cgroup: &str, mounts: &str| {
            folder_of(cgroup, mounts).map(|(folder, root)| (folder.display().to_string(), root))
        };
        let unit = "0::/user.slice/limpid.service\n";
        assert_eq!(found(unit, UNIFIED), Some(("/sys/fs/cgroup/user.slice/limpid.service".to_owned(), false)));
        assert_eq!(found("0::/\n", UNIFIED), Some(("/sys/fs/cgroup".to_owned(), true)));
        // A part of the tree is mounted.
        let part = UNIFIED.replace(" / /sys/fs/cgroup", " /user.slice /c");
        assert_eq!(found(unit, &part), Some(("/c/limpid.service".to_owned(), false)));
        assert_eq!(found("0::/system.slice/x\n", &part), None);
        // Version 1 alone, and both.
        let first = "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        assert_eq!(found("4:memory:/a\n", first), None);
        let both = format!("{first}41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
        assert_eq!(found("4:memory:/a\n0::/b\n", &both), Some(("/sys/fs/cgroup/unified/b".to_owned(), false)));
    }
}
