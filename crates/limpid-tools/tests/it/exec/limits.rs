//! What a program may use, and what ends it.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use limpid_config::regular_file::Opened;
use limpid_core::Trust;
use limpid_tools::exec::Exec;
use limpid_tools::exec::confinement::Limits;
use limpid_tools::{Snapshot, Tool, ToolContext};
use serde_json::json;

use super::kit::{Bench, hand_over, judged};
use crate::kit::context;

const MIB: u64 = 1024 * 1024;

fn bench(limits: Limits) -> Bench {
    let mut bench = Bench::new();
    bench.programs.limits = limits;
    bench
}

/// Reads one byte of each two megabytes of three hundred gigabytes: no page is its own, but the tables for them are.
#[cfg(target_arch = "x86_64")]
const TABLES: &str = r#"
my $size = 300 << 30;
my $at = syscall(9, 0, $size, 1, 0x4022, -1, 0);
for (my $n = 0; $n < $size; $n += 2 << 20) { unpack("P1", pack("Q", $at + $n)) }
sleep 30;
"#;

/// Makes shared memory that belongs to no file, fills it through a read, and lets go of it: it is held still.
#[cfg(target_arch = "x86_64")]
const SHARED: &str = r#"
my $size = 300 << 20;
my $at = syscall(9, 0, $size, 3, 0x21, -1, 0);
open(my $zero, '<', '/dev/zero');
for (my $n = 0; $n < $size; $n += 1 << 20) {
    syscall(0, fileno($zero), $at + $n, 1 << 20);
    syscall(28, $at + $n, 1 << 20, 4);
}
sleep 30;
"#;

// SEC-084
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn memory_is_limited_however_it_is_used() {
    let bench = bench(Limits { memory_bytes: 200 * MIB, seconds: 20, ..Limits::default() });
    fs::write(bench.path("home/workspace/shared.pl"), SHARED).unwrap();
    let over = "ended: it used more than 200 MiB of memory";
    let begun = Instant::now();
    let told = bench.run("perl shared.pl").await;
    assert!(told.contains(over), "{told}");
    fs::write(bench.path("home/workspace/tables.pl"), TABLES).unwrap();
    let told = bench.run("perl tables.pl").await;
    assert!(told.contains(over), "{told}");
    // In one process the limit of its own holds, in several the watcher.
    let told = bench.run("perl -e '$x = \"a\" x 300_000_000; print \"done\"'").await;
    assert!(told.contains("Out of memory") && !told.contains("done"), "{told}");
    let told = bench.run("perl -e 'fork; fork; $x = \"a\" x 80_000_000; sleep 30'").await;
    assert!(told.contains(over), "{told}");
    // Buffers of pipes and of pairs of streams.
    let pipes = "for (1..450) { pipe($r[$_], $w[$_]); syswrite($w[$_], \"a\" x 4_000) }";
    let told = bench.run(&format!("perl -e 'fork; fork; fork; {pipes} sleep 30'")).await;
    assert!(told.contains(over), "{told}");
    let pairs = "for (1..400) { socketpair($r[$_], $w[$_], AF_UNIX, SOCK_STREAM, 0) } sleep 30";
    let told = bench.run(&format!("perl -MSocket -e '{pairs}'")).await;
    assert!(told.contains(over), "{told}");
    // Files in memory.
    let told = bench.run("head -c 400M /dev/zero > /tmp/x; echo $?").await;
    assert!(told.contains("No space left") || told.contains(over), "{told}");
    assert!(begun.elapsed() < Duration::from_secs(20), "none of them slept");
}

// SEC-084
#[tokio::test]
async fn a_fork_bomb_is_limited_and_ends() {
    let bench = bench(Limits { processes: 20, ..Limits::default() });
    let begun = Instant::now();
    let told = bench.run("perl -e 'while (1) { fork }'").await;
    assert!(told.contains("more than 20 processes") && begun.elapsed() < Duration::from_secs(5), "{told}");
    let told = bench.run("for n in 1 2 3 4 5; do sleep 0 & done; wait; echo fine").await;
    assert_eq!(told, "fine\nExit code: 0");
}

/// Waits for 500 descriptors of one file with each of some epolls, in several processes.
#[cfg(target_arch = "x86_64")]
const WAITS: &str = r#"
my ($epolls, $forks) = @ARGV;
fork for 1 .. $forks;
pipe(my $r, my $w);
my @files = map { open(my $f, '<&', $r); $f } 1 .. 500;
my @epolls = map { syscall(291, 0) } 1 .. $epolls;
my $event = pack('LQ', 1, 0);
for my $epoll (@epolls) { for (@files) { my $file = fileno($_); syscall(233, $epoll, 1, $file, $event) } }
sleep 1;
print "fine\n";
sleep 30 if $epolls > 1;
"#;

/// The same in a process whose first thread has ended.
#[cfg(target_arch = "x86_64")]
const WAITS_BEHIND: &str = r#"
import ctypes, os, select, threading, time
def wait():
    time.sleep(0.3)
    event = os.eventfd(0)
    files = [os.dup(event) for _ in range(400)]
    epolls = [select.epoll() for _ in range(60)]
    for epoll in epolls:
        for file in files: epoll.register(file, 0)
    time.sleep(30)
threading.Thread(target=wait).start()
ctypes.CDLL(None).syscall(60, 0)
"#;

/// Sends what waits for files into a stream that nobody reads.
#[cfg(target_arch = "x86_64")]
const WAITS_UNSEEN: &str = r#"
import os, select, socket, time
one, other = socket.socketpair()
epoll = select.epoll()
socket.send_fds(one, [b'x'], [epoll.fileno()])
time.sleep(30)
"#;

// SEC-084
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn a_program_waits_for_so_many_files_only_that_others_of_the_user_can_too() {
    let bench = bench(Limits::default());
    let over = "ended: it watched too many files at once";
    fs::write(bench.path("home/workspace/waits.pl"), WAITS).unwrap();
    fs::write(bench.path("home/workspace/behind.py"), WAITS_BEHIND).unwrap();
    let begun = Instant::now();
    let told = bench.run("perl waits.pl 10 2").await;
    assert!(told.contains(over), "{told}");
    assert!(begun.elapsed() < Duration::from_secs(10), "it was ended");
    // As a program does that answers many.
    let told = bench.run("perl waits.pl 1 2").await;
    assert!(told.contains("fine\n") && told.ends_with("Exit code: 0"), "{told}");
    if bench.run("python3 -c 'import os; os.eventfd'").await == "Exit code: 0" {
        fs::write(bench.path("home/workspace/unseen.py"), WAITS_UNSEEN).unwrap();
        for program in ["behind.py", "unseen.py"] {
            let told = bench.run(&format!("python3 {program}")).await;
            assert!(told.contains(over), "{program}: {told}");
        }
    }
}

// SEC-084
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn a_program_has_few_queues_of_what_happens_to_files() {
    let bench = bench(Limits::default());
    let told = bench.run("perl -e 'my $n = 0; for (1..100) { $n++ if syscall(294, 0) >= 0 } print \"$n\\n\"'").await;
    let made: u32 = told.lines().next().and_then(|line| line.parse().ok()).unwrap_or_default();
    assert!((8..=16).contains(&made) || told.contains("watched too many files"), "{told}");
}

// SEC-085
#[tokio::test]
async fn disk_is_limited_for_the_whole_call() {
    let bench = bench(Limits { disk_bytes: 20 * MIB, files: 50, ..Limits::default() });
    let told = bench.run("for n in 1 2 3 4; do head -c 8M /dev/zero > big$n; done; sleep 30").await;
    assert!(told.contains("ended: it wrote more than 20 MiB"), "{told}");
    let told = bench.run("rm big*; head -c 40M /dev/zero > one; ls -l one").await;
    assert!(told.contains(&format!(" {} ", 20 * MIB)), "{told}");
    let told = bench.run("rm one; for n in $(seq 80); do echo > file$n; done; sleep 30").await;
    assert!(told.contains("ended: it made more than 50 files"), "{told}");
    let told = bench.run("rm file*; truncate -s 1G sparse").await;
    assert!(told.contains("File too large") || told.contains("limit exceeded"), "{told}");
    // Without a name.
    let told = bench
        .run("for n in 3 4 5 6; do eval \"exec $n> gone; rm gone; head -c 8M /dev/zero >&$n\"; done; sleep 30")
        .await;
    assert!(told.contains("ended: it wrote more than 20 MiB"), "{told}");
}

// SEC-084
#[tokio::test]
async fn a_program_ends_soon_after_it_crossed_a_limit() {
    let bench = bench(Limits { memory_bytes: 200 * MIB, ..Limits::default() });
    // The first process writes down when the others hold too much, and then the time until it is ended.
    let crossing = "use Time::HiRes qw(time sleep); $| = 1; \
        for (1..3) { unless (fork) { $x = \"a\" x 80_000_000; open my $f, \">\", \"held$_\"; sleep 30 } } \
        sleep 0.001 until -e \"held1\" && -e \"held2\" && -e \"held3\"; \
        print time, \"\\n\"; while (1) { print time, \"\\n\"; sleep 0.005 }";
    let told = bench.run(&format!("perl -e '{crossing}'")).await;
    assert!(told.contains("ended: it used more than 200 MiB"), "{told}");
    let times: Vec<f64> = told.lines().filter_map(|line| line.parse().ok()).collect();
    // None, when it was ended before it could say that it was over.
    let lived = times.last().zip(times.first()).map_or(0.0, |(last, first)| last - first);
    // 0.3 is the measure, ten times that fails.
    assert!(lived < 3.0, "{lived} s: {told}");
}

// SEC-085
#[tokio::test]
async fn what_is_hidden_from_the_count_ends_the_program() {
    let bench = bench(Limits { disk_bytes: 20 * MIB, ..Limits::default() });
    let begun = Instant::now();
    let told =
        bench.run("mkdir -m 300 dark; cd dark; for n in 1 2 3 4; do head -c 8M /dev/zero > $n; done; sleep 30").await;
    assert!(told.contains("ended: what it wrote cannot be counted"), "{told}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{told}");
    let told = bench.run("mkdir -m 700 light; mkdir -m 0 gone; rmdir gone; echo fine").await;
    assert_eq!(told, "fine\nExit code: 0");
}

/// A small file system at a place; none where this user can make none.
struct Small(std::path::PathBuf);

impl Small {
    fn at(place: std::path::PathBuf, size: &str) -> Option<Self> {
        use std::io::Write as _;
        let mount = ["-t", "tmpfs", "-o", &format!("size={size},mode=777"), "none"].map(str::to_owned);
        let made =
            std::process::Command::new("mount").args(mount).arg(&place).stderr(std::process::Stdio::null()).status();
        if made.is_ok_and(|made| made.success()) {
            return Some(Self(place));
        }
        let _ = writeln!(std::io::stderr(), "SKIPPED: no small file system can be made");
        None
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

// SEC-085 SEC-093
#[tokio::test]
async fn what_nobody_was_asked_about_leaves_room_on_the_disk_and_does_not_start_without() {
    let mut bench = bench(Limits::default());
    let Some(small) = Small::at(bench.path("home"), "100m") else { return };
    for name in ["home/workspace", "home/outside", "home/skills", "home/data"] {
        fs::create_dir(bench.path(name)).unwrap();
    }
    let fills = "$| = 1; my $n = 0; while (1) { $n++; open my $f, '>', 'BENCH/home/workspace/f$n'; \
                 print $f 'x' x 65536; close $f; select undef, undef, undef, 0.002 }";
    let fills = fills
        .replace("'BENCH", "\"BENCH")
        .replace("f$n'", "f$n\"")
        .replace("BENCH", &bench.folder.path().display().to_string());
    fs::write(bench.path("home/workspace/fills.pl"), fills).unwrap();
    hand_over(&bench.path("home"));
    let reserve = 5 * MIB;
    let free = |bench: &Bench| {
        let about = rustix::fs::statvfs(bench.path("home/outside")).unwrap();
        about.f_bavail * about.f_frsize
    };
    let told = bench.run("perl fills.pl").await;
    assert!(told.contains("is nearly full") && free(&bench) > reserve / 2, "{} left: {told}", free(&bench));
    // The next one does not begin where that one ended.
    fs::write(bench.path("home/workspace/more"), vec![1; 3 * 1024 * 1024]).unwrap();
    let before = free(&bench);
    let told = bench.run("perl fills.pl").await;
    assert!(told.starts_with("error: ") && told.contains("nearly full") && told.contains("remove files"), "{told}");
    assert_eq!(free(&bench), before);
    // One that the owner approved makes room.
    bench.programs.shell = false;
    let call = json!({ "command": "find . -name f* -delete" });
    let exec = Exec::new(Arc::new(bench.programs.clone()));
    let mut snapshot = Snapshot::new(bench.path("home/data/approved/1")).unwrap();
    let program = exec.starts(&call).unwrap().program;
    snapshot.keep(&program, Opened::at_no_link(&program).unwrap(), 10 << 20).unwrap().unwrap();
    hand_over(&bench.path("home/data"));
    let context = ToolContext { approved: true, snapshot: Some(Arc::new(snapshot)), ..context(Trust::Owner) };
    let said = exec.run(&judged(&exec, &context, &call), call).await.unwrap();
    assert_eq!((said.value().as_str(), free(&bench) > 50 * MIB), ("Exit code: 0", true));
    drop(small);
}

/// Whether a process has these words.
fn is_running(words: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("cmdline"));
    processes.filter_map(|place| fs::read_to_string(place).ok()).any(|said| said.replace('\0', " ").trim() == words)
}

// SEC-093 SEC-076
#[tokio::test]
async fn what_may_be_a_strangers_ends_for_an_approved_program_and_the_owners_own_does_not() {
    let bench = bench(Limits { seconds: 20, ..Limits::default() });
    let exec = Exec::new(Arc::new(bench.programs.clone()));
    let run = async |trust, command: &str| {
        let context = context(trust);
        // It begins, and then another one wants its turn.
        fs::write(bench.path("home/workspace/begin.sh"), format!("{command}\n")).unwrap();
        hand_over(&bench.path("home/workspace"));
        let stop = Box::pin(async move {
            while !is_running("sleep 15.4711") {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
        let call = json!({ "command": "sh begin.sh" });
        exec.run_until(&judged(&exec, &context, &call), call, stop).await.unwrap().into_parts().0
    };
    let begun = Instant::now();
    let told = run(Trust::Outside, "sleep 15.4711").await;
    assert!(
        told.contains("a program that the owner approved goes first") && told.contains("Call this one again"),
        "{told}"
    );
    assert!(begun.elapsed() < Duration::from_secs(10), "it did not wait");
    assert_eq!(run(Trust::Owner, "echo done").await, "done\nExit code: 0");
}
