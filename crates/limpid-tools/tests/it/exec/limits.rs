//! What a program may use, and what ends it.

use std::fs;
use std::time::{Duration, Instant};

use limpid_tools::exec::confinement::Limits;

use super::kit::Bench;

const MIB: u64 = 1024 * 1024;

fn bench(limits: Limits) -> Bench {
    let mut bench = Bench::new();
    bench.programs.limits = limits;
    bench
}

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
    let bench = bench(Limits { memory_bytes: 200 * MIB, ..Limits::default() });
    fs::write(bench.path("home/workspace/shared.pl"), SHARED).unwrap();
    let over = "ended: it used more than 200 MiB of memory";
    let begun = Instant::now();
    let told = bench.run("perl shared.pl").await;
    assert!(told.contains(over), "{told}");
    // In one process the limit of its own holds, in several the watcher.
    let told = bench.run("perl -e '$x = \"a\" x 300_000_000; print \"done\"'").await;
    assert!(told.contains("Out of memory") && !told.contains("done"), "{told}");
    let told = bench.run("perl -e 'fork; fork; $x = \"a\" x 80_000_000; sleep 30'").await;
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

/// Processes whose command line is `sleep` with this many seconds.
fn sleeping(seconds: u32) -> usize {
    let lines = fs::read_dir("/proc").unwrap().filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok());
    lines.filter(|line| *line == format!("sleep\0{seconds}\0").into_bytes()).count()
}

/// Waits, at most so long, until none of them is left.
async fn gone(seconds: u32, most: Duration) -> bool {
    let until = Instant::now() + most;
    while sleeping(seconds) > 0 && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    sleeping(seconds) == 0
}

// SEC-083
#[tokio::test]
async fn a_program_cannot_reach_whoever_watches_over_it() {
    let mut bench = bench(Limits { seconds: 1, ..Limits::default() });
    let seconds = 51_000 + std::process::id() % 1000;
    let attack = format!(
        "kill -STOP -1; kill -9 1; kill -STOP 1 $PPID; perl -e 'kill \"STOP\", 2..40000; setpgrp; open $f[$_], \"<\", \"/dev/null\" for 1..5000'; \
         setsid sleep {seconds} & sleep {seconds}"
    );
    let begun = Instant::now();
    let told = bench.run(&attack).await;
    assert!(told.contains("Ended after 1 s") || told.contains("Exit code"), "{told}");
    assert!(gone(seconds, Duration::from_secs(2)).await && begun.elapsed() < Duration::from_secs(4), "{told}");
    bench.programs.limits.seconds = 60;
    assert_eq!(bench.run("cat tea.md").await, "oolong\nExit code: 0");
}

// SEC-083
#[tokio::test]
async fn when_whoever_watches_is_stopped_or_gone_everything_ends() {
    let seconds = 52_000 + std::process::id() % 1000;
    for (at, signal) in [rustix::process::Signal::STOP, rustix::process::Signal::KILL].into_iter().enumerate() {
        let seconds = seconds + 1000 * u32::try_from(at).unwrap();
        let bench = Bench::new();
        let running = tokio::spawn(async move { bench.run(&format!("sleep {seconds}")).await });
        while sleeping(seconds) == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let watcher = watcher_of(seconds);
        rustix::process::kill_process(watcher, signal).unwrap();
        assert!(gone(seconds, Duration::from_secs(3)).await, "{signal:?}");
        let _ = rustix::process::kill_process(watcher, rustix::process::Signal::CONT);
        drop(running.await);
    }
}

/// The process that watches over a command with this number in it.
fn watcher_of(seconds: u32) -> rustix::process::Pid {
    let found = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let entry = entry.ok()?;
        let line = String::from_utf8_lossy(&fs::read(entry.path().join("cmdline")).ok()?).into_owned();
        let is_it = line.contains("\0__sandbox\0") && line.contains(&format!("sleep {seconds}"));
        is_it.then(|| rustix::process::Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))?
    });
    found.last().unwrap()
}
