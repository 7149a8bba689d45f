//! Whoever watches over a program cannot be reached by it, and nothing outlives being watched.

use std::fs;
use std::time::{Duration, Instant};

use limpid_tools::exec::confinement::Limits;
use rustix::process::{Pid, Signal, kill_process};

use super::kit::{Bench, unprivileged};

/// How long the end of everything may take once nobody watches.
const END: Duration = Duration::from_secs(5);

/// Processes whose command line is `sleep` with this many seconds.
fn sleeping(seconds: u32) -> usize {
    let lines = fs::read_dir("/proc").unwrap().filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok());
    lines.filter(|line| *line == format!("sleep\0{seconds}\0").into_bytes()).count()
}

/// Waits until both of them are there.
async fn begun(seconds: u32) {
    let until = Instant::now() + Duration::from_secs(30);
    while sleeping(seconds) < 2 {
        assert!(Instant::now() < until, "it never began");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits until the one that watches has looked at every process at least once more.
async fn looked(watcher: Pid) {
    let reads = || {
        let text = fs::read_to_string(format!("/proc/{}/io", watcher.as_raw_nonzero())).unwrap();
        text.lines().find_map(|line| line.strip_prefix("syscr: ")?.parse::<usize>().ok()).unwrap()
    };
    let enough = reads() + 3 * fs::read_dir("/proc").unwrap().count();
    while reads() < enough {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
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
    let mut bench = Bench::new();
    bench.programs.limits = Limits { seconds: 1, ..Limits::default() };
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

/// Benches with namespaces and without.
fn benches() -> impl Iterator<Item = Bench> {
    [Some(Bench::new()), Bench::without_namespaces().map(Bench::flat)].into_iter().flatten()
}

/// Does something to whoever watches over a program that left its group, and says whether everything ends in time.
async fn ends_when(bench: Bench, seconds: u32, attack: impl FnOnce(Pid)) -> bool {
    let command = format!("setsid sleep {seconds} & sleep {seconds}");
    let running = tokio::spawn(async move { bench.run(&command).await });
    begun(seconds).await;
    let watcher = watcher_of(seconds);
    looked(watcher).await;
    attack(watcher);
    let ended = gone(seconds, END).await;
    let _ = kill_process(watcher, Signal::CONT);
    running.abort();
    ended
}

// SEC-083
#[tokio::test]
async fn when_whoever_watches_is_stopped_or_gone_everything_ends() {
    for (at, signal) in [Signal::STOP, Signal::KILL].into_iter().enumerate() {
        let seconds = 52_000 + 1000 * u32::try_from(at).unwrap() + std::process::id() % 1000;
        let ended = ends_when(Bench::new(), seconds, |watcher| kill_process(watcher, signal).unwrap()).await;
        assert!(ended, "{signal:?}");
    }
}

// SEC-083
#[tokio::test]
async fn when_whoever_watches_has_no_descriptors_left_everything_ends() {
    for (at, bench) in benches().enumerate() {
        let seconds = 54_000 + 1000 * u32::try_from(at).unwrap() + std::process::id() % 1000;
        let none = |watcher: Pid| {
            let pid = watcher.as_raw_nonzero().to_string();
            let command = format!("exec {} prlimit --nofile=0:0 --pid {pid}", unprivileged());
            let done = std::process::Command::new("sh").args(["-c", &command]).status();
            assert!(done.unwrap().success());
        };
        assert!(ends_when(bench, seconds, none).await, "{at}");
    }
}

// SEC-083
#[tokio::test]
async fn when_nobody_waits_for_the_program_any_more_everything_ends() {
    for (at, bench) in benches().enumerate() {
        let seconds = 56_000 + 1000 * u32::try_from(at).unwrap() + std::process::id() % 1000;
        let command = format!("setsid sleep {seconds} & sleep {seconds}");
        let running = tokio::spawn(async move { bench.run(&command).await });
        begun(seconds).await;
        running.abort();
        assert!(gone(seconds, END).await, "{at}");
    }
}

/// Makes as many mappings as the kernel allows, in many processes, so that reading them takes long.
#[cfg(target_arch = "x86_64")]
const MAPPINGS: &str = r#"
use Time::HiRes qw(time sleep);
$| = 1;
for (1 .. 60000) { syscall(9, 0, 4096, $_ % 2, 0x22, -1, 0) }
for (1 .. 3) { fork }
while (1) { print time, "\n"; sleep 0.01 }
"#;

// SEC-083
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn what_cannot_be_looked_into_or_only_slowly_ends() {
    for bench in benches() {
        fs::write(bench.path("home/workspace/mappings.pl"), MAPPINGS).unwrap();
        let (_, writes) = MAPPINGS.split_once("fork }\n").unwrap();
        let writes = format!("use Time::HiRes qw(time sleep); $| = 1; {writes}");
        fs::write(bench.path("home/workspace/writes.pl"), writes).unwrap();
        for command in
            ["perl mappings.pl", "perl -e 'sysopen(F, \"s\", 65, 0111); print F <>' /bin/cat; perl writes.pl | ./s"]
        {
            let told = bench.run(command).await;
            assert!(told.contains("ended: what it uses cannot be read"), "{command}: {told}");
            let times: Vec<f64> = told.lines().filter_map(|line| line.parse().ok()).collect();
            let lived = times.last().zip(times.first()).map_or(0.0, |(last, first)| last - first);
            assert!(lived < END.as_secs_f64(), "{command}: {lived} s");
        }
    }
}

/// The process that watches over a command with this number in it.
fn watcher_of(seconds: u32) -> Pid {
    let found = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let entry = entry.ok()?;
        let line = String::from_utf8_lossy(&fs::read(entry.path().join("cmdline")).ok()?).into_owned();
        let is_it = line.contains("\0__sandbox\0") && line.contains(&format!("sleep {seconds}"));
        is_it.then(|| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))?
    });
    found.last().unwrap()
}
