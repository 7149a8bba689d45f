//! Calls in a cgroup of their own, where the agent's was delegated to it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use limpid_tools::exec::confinement::Limits;
use limpid_tools::exec::sandbox::TRY;
use rustix::fs::{XattrFlags, setxattr};

use super::kit::{Bench, HELPER, NOBODY, hand_over, is_root, script, unprivileged};

const MIB: u64 = 1024 * 1024;

/// Three processes that hold eighty megabytes each.
const HEAP: &str = "perl -e 'fork; fork; $x = \"a\" x 80_000_000; sleep 30'";

/// Makes shared memory that belongs to no file and fills it.
#[cfg(target_arch = "x86_64")]
const SHARED: &str = r#"
my $size = 300 << 20;
my $at = syscall(9, 0, $size, 3, 0x21, -1, 0);
open(my $zero, '<', '/dev/zero');
for (my $n = 0; $n < $size; $n += 1 << 20) { syscall(0, fileno($zero), $at + $n, 1 << 20) }
sleep 30;
"#;

/// Fills pipes and pairs of streams as far as the system lets it.
const BUFFERS: &str = r#"
use IO::Handle; use Socket;
fork; fork;
for (1..240) {
    pipe($r[$_], $w[$_]);
    socketpair($a[$_], $b[$_], AF_UNIX, SOCK_STREAM, 0);
    for my $to ($w[$_], $b[$_]) { $to->blocking(0); while (syswrite($to, "a" x 16_384)) {} }
}
sleep 30;
"#;

/// A cgroup that belongs to the user that programs run as, as a service manager leaves one to a service.
struct Delegated(PathBuf);

impl Delegated {
    fn new(name: &str) -> Option<Self> {
        let found = mounted().filter(|_| is_root());
        let has = |folder: &PathBuf, wanted: &str| {
            let on = fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
            on.split_whitespace().any(|name| name == wanted)
        };
        let Some(root) = found.filter(|root| has(root, "memory") && has(root, "pids")) else {
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: only root can delegate a cgroup, and only where memory and pids are controllers of version 2"
            );
            return None;
        };
        let made = Self(root.join(format!("limpid-test-{}-{name}", std::process::id())));
        fs::create_dir(&made.0).unwrap();
        for file in ["", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"] {
            std::os::unix::fs::chown(made.0.join(file), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        Some(made)
    }

    /// With the mark that it is left to what runs in it.
    fn marked(self) -> Self {
        setxattr(&self.0, "user.delegate", b"1", XattrFlags::empty()).unwrap();
        self
    }

    /// A bench whose sandbox starts in it, as the child of an agent in it would.
    fn bench(&self, limits: Limits) -> Bench {
        let mut bench = Bench::new();
        bench.programs.limits = limits;
        bench.programs.helper = script(bench.folder.path(), &self.entering());
        bench
    }

    fn entering(&self) -> String {
        let at = self.0.display();
        let enter =
            format!("for at in {at}/limpid-agent {at}; do echo $$ > $at/cgroup.procs && break; done 2>/dev/null");
        format!("{enter}\nexec {} '{HELPER}' \"$@\"", unprivileged())
    }

    /// The cgroups of calls in it.
    fn calls(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap());
        let calls = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("limpid-call-"));
        calls.map(|entry| entry.path()).collect()
    }

    /// Puts a process into a cgroup in it, which is made.
    fn place(&self, name: &str, process: u32) -> PathBuf {
        let folder = self.0.join(name);
        fs::create_dir_all(&folder).unwrap();
        hand_over(&folder);
        fs::write(folder.join("cgroup.procs"), process.to_string()).unwrap();
        folder
    }
}

impl Drop for Delegated {
    fn drop(&mut self) {
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(5) {
            let within = fs::read_dir(&self.0).into_iter().flatten().flatten();
            within.filter(|entry| entry.path().is_dir()).for_each(|entry| drop(fs::remove_dir(entry.path())));
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
        }
    }
}

/// Where the cgroups of version 2 are.
fn mounted() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let line = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
    line.split(' ').nth(4).map(PathBuf::from)
}

fn number(folder: &Path, file: &str) -> u64 {
    fs::read_to_string(folder.join(file)).ok().and_then(|text| text.trim().parse().ok()).unwrap_or_default()
}

/// Runs a command; returns what was told, and the most memory and processes that its cgroup was seen with.
async fn seen(delegated: &Delegated, bench: &Bench, command: &str) -> (String, u64, u64) {
    let (mut memory, mut processes) = (0, 0);
    let running = bench.run(command);
    tokio::pin!(running);
    loop {
        tokio::select! {
            told = &mut running => {
                assert!(delegated.calls().is_empty(), "its cgroup goes with the call");
                return (told, memory, processes);
            }
            () = tokio::time::sleep(Duration::from_millis(2)) => {
                for call in delegated.calls() {
                    memory = memory.max(number(&call, "memory.peak")).max(number(&call, "memory.current"));
                    processes = processes.max(number(&call, "pids.current"));
                }
            }
        }
    }
}

// SEC-084
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn the_kernel_limits_memory_however_it_is_used() {
    let Some(delegated) = Delegated::new("memory").map(Delegated::marked) else { return };
    for (command, limit) in [(HEAP, 200), ("perl shared.pl", 200), ("perl buffers.pl", 64)] {
        let bench = delegated.bench(Limits { memory_bytes: limit * MIB, seconds: 20, ..Limits::default() });
        fs::write(bench.path("home/workspace/shared.pl"), SHARED).unwrap();
        fs::write(bench.path("home/workspace/buffers.pl"), BUFFERS).unwrap();
        let begun = Instant::now();
        let (told, memory, _) = seen(&delegated, &bench, command).await;
        assert!(told.contains(&format!("ended: it used more than {limit} MiB of memory")), "{command}: {told}");
        assert!(begun.elapsed() < Duration::from_secs(15), "{command} slept");
        assert!(memory > limit * MIB / 2 && memory * 10 <= limit * MIB * 12, "{command}: {memory} bytes were seen");
    }
}

// SEC-084
#[tokio::test]
async fn the_kernel_limits_a_fork_bomb() {
    let Some(delegated) = Delegated::new("forks").map(Delegated::marked) else { return };
    let bench = delegated.bench(Limits { processes: 20, ..Limits::default() });
    let begun = Instant::now();
    let (told, _, processes) = seen(&delegated, &bench, "perl -e 'while (1) { fork }'").await;
    assert!(told.contains("ended: it had more than 20 processes"), "{told}");
    assert!((10..=24).contains(&processes), "{processes} were seen");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let (told, _, _) = seen(&delegated, &bench, "for n in 1 2 3 4 5; do sleep 0 & done; wait; echo fine").await;
    assert_eq!(told, "fine\nExit code: 0");
}

// SEC-084
#[tokio::test]
async fn the_kernel_counts_what_is_held_and_not_what_could_be() {
    let Some(delegated) = Delegated::new("held").map(Delegated::marked) else { return };
    let bench = delegated.bench(Limits { memory_bytes: 200 * MIB, ..Limits::default() });
    let pairs = "for (1..400) { socketpair($r[$_], $w[$_], AF_UNIX, SOCK_STREAM, 0) } select undef, undef, undef, 0.3; print \"fine\"";
    let (told, memory, _) = seen(&delegated, &bench, &format!("perl -MSocket -e '{pairs}'")).await;
    assert_eq!(told, "fine\nExit code: 0");
    assert!(memory > 0, "it was in a cgroup");
}

// SEC-083 SEC-085
#[tokio::test]
async fn what_nobody_can_look_into_ends_in_a_cgroup_too() {
    let Some(delegated) = Delegated::new("hidden").map(Delegated::marked) else { return };
    let bench = delegated.bench(Limits::default());
    let hides = "perl -e 'sysopen(F, \"s\", 65, 0111); print F <>' /bin/cat; perl -e 'sleep 1 while 1' | ./s";
    let (told, memory, _) = seen(&delegated, &bench, hides).await;
    assert!(told.contains("ended: what it uses cannot be read") && memory > 0, "{told}");
}

/// A process that waits.
fn waiting() -> Child {
    Command::new("sleep").arg("600").stdout(Stdio::null()).spawn().unwrap()
}

// SEC-084
#[tokio::test]
async fn what_a_call_left_whose_watcher_is_gone_is_ended_and_removed() {
    let Some(delegated) = Delegated::new("left").map(Delegated::marked) else { return };
    let (mut left, mut other) = (waiting(), waiting());
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let started = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap();
    let gone = delegated.place(&format!("limpid-call-{}-1", std::process::id()), left.id());
    let watched = delegated.place(&format!("limpid-call-{}-{started}", std::process::id()), other.id());
    let told = delegated.bench(Limits::default()).run("echo fine").await;
    assert_eq!(told, "fine\nExit code: 0");
    assert_eq!(delegated.calls(), [watched], "{}", gone.display());
    assert!(!left.wait().unwrap().success());
    assert!(other.try_wait().unwrap().is_none(), "somebody watches over that one");
    other.kill().unwrap();
    other.wait().unwrap();
}

// SEC-084
#[tokio::test]
async fn a_cgroup_that_was_not_delegated_or_holds_others_is_left_alone() {
    let Some(plain) = Delegated::new("plain") else { return };
    let Some(shared) = Delegated::new("shared").map(Delegated::marked) else { return };
    // A process that the first process of the system looks after.
    let other = Command::new("sh").args(["-c", "sleep 600 >/dev/null 2>&1 & echo $!"]).output().unwrap();
    let other: u32 = String::from_utf8(other.stdout).unwrap().trim().parse().unwrap();
    shared.place("", other);
    for (cgroup, why) in
        [(&plain, "its cgroup was not delegated to it"), (&shared, "its cgroup holds processes of others")]
    {
        let told = cgroup.bench(Limits::default()).run("echo fine").await;
        assert_eq!(told, "fine\nExit code: 0", "what it uses is counted then");
        assert!(!cgroup.0.join("limpid-agent").exists() && cgroup.calls().is_empty(), "nothing was made");
        assert!(tried(cgroup).contains(&format!("-cgroup: {why}\n")), "{}", tried(cgroup));
    }
}

/// What is said of the layers.
fn tried(cgroup: &Delegated) -> String {
    let said = Command::new("sh").args(["-c", &cgroup.entering(), "sh", TRY]).output().unwrap();
    String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).into_owned()
}

// SEC-084 SEC-095
#[test]
fn it_is_said_whether_there_is_a_cgroup() {
    let Some(delegated) = Delegated::new("said").map(Delegated::marked) else { return };
    for _ in 0..2 {
        let told = tried(&delegated);
        assert!(told.contains("+own processes\n") && told.ends_with("+cgroup\n"), "{told}");
    }
}
