#![allow(clippy::unwrap_used, reason = "a test may fail")]

use async_trait::async_trait;
use std::path::Path;
use std::sync::Mutex;

use limpid_config::{RandomIds, hex};
use limpid_store::{SqliteOptions, SqliteStore, Store};
use tempfile::TempDir;
use tokio::sync::Semaphore;

use super::*;

const MINUTE: i64 = 60_000;

/// Runs every minute and remembers which.
#[derive(Default)]
struct Tick(Mutex<Vec<i64>>);

#[async_trait]
impl Job for Tick {
    fn kind(&self) -> &'static str {
        "tick"
    }

    async fn run(&self, _: &str, slot_ms: i64) -> Result<Option<i64>, AgentError> {
        self.0.lock().unwrap().push(slot_ms);
        Ok(Some(slot_ms + MINUTE))
    }
}

/// Goes on until it is let go; counts how often it began.
struct Slow {
    began: Mutex<Vec<i64>>,
    go_on: Semaphore,
}

impl Slow {
    fn new() -> Arc<Self> {
        Arc::new(Self { began: Mutex::default(), go_on: Semaphore::new(0) })
    }
}

#[async_trait]
impl Job for Slow {
    fn kind(&self) -> &'static str {
        "slow"
    }

    async fn run(&self, _: &str, slot_ms: i64) -> Result<Option<i64>, AgentError> {
        self.began.lock().unwrap().push(slot_ms);
        self.go_on.acquire().await.unwrap().forget();
        Ok(None)
    }
}

/// Fails so many times, then panics, then succeeds.
struct Weak(Mutex<u32>);

#[async_trait]
impl Job for Weak {
    fn kind(&self) -> &'static str {
        "weak"
    }

    async fn run(&self, _: &str, _: i64) -> Result<Option<i64>, AgentError> {
        let left = {
            let mut left = self.0.lock().unwrap();
            *left = left.saturating_sub(1);
            *left
        };
        match left {
            0 => Ok(None),
            1 => panic!("as a job may"),
            _ => Err(AgentError::Invalid("not yet".to_owned())),
        }
    }
}

struct Bench {
    _home: TempDir,
    store: Arc<dyn Store>,
    log: Arc<Mutex<Vec<String>>>,
}

impl Bench {
    fn new() -> Self {
        // A thousand minutes are some thousand commits; how durable they are is tested elsewhere.
        let memory = Path::new("/dev/shm");
        let home = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let store = SqliteStore::open(home.path().join("limpid.db"), SqliteOptions::default()).unwrap();
        Self { _home: home, store: Arc::new(store), log: Arc::default() }
    }

    /// One process on the store.
    fn scheduler(&self, jobs: &[Arc<dyn Job>]) -> Scheduler {
        let log = Arc::clone(&self.log);
        let holder = process::holder(&hex(&RandomIds));
        let log: Log = Arc::new(move |event| log.lock().unwrap().push(format!("{event:?}")));
        Scheduler::new(Arc::clone(&self.store), &holder, jobs, log)
    }
}

// LES-101
#[tokio::test]
async fn every_slot_keeps_its_minute_beside_something_slow() {
    let bench = Bench::new();
    let (tick, slow) = (Arc::new(Tick::default()), Slow::new());
    let mut scheduler = bench.scheduler(&[Arc::clone(&tick) as Arc<dyn Job>, Arc::clone(&slow) as Arc<dyn Job>]);
    bench.store.set_timer("slow", "s", 0).await.unwrap();
    bench.store.set_timer("tick", "t", MINUTE).await.unwrap();
    for minute in 0..=1_000 {
        // The loop comes a little late each time.
        let now = minute * MINUTE + 700;
        scheduler.step(now).await.unwrap();
        if minute > 0 {
            let ends = scheduler.something_ends();
            let ended = tokio::time::timeout(Duration::from_secs(20), ends).await.unwrap();
            scheduler.end(ended, now).await.unwrap();
        }
    }
    let wanted: Vec<i64> = (1..=1_000).map(|minute| minute * MINUTE).collect();
    assert_eq!(*tick.0.lock().unwrap(), wanted);
    assert_eq!(*slow.began.lock().unwrap(), [0]);
}

// LES-091
#[tokio::test]
async fn a_machine_that_slept_does_not_begin_again_what_it_is_doing() {
    let bench = Bench::new();
    let slow = Slow::new();
    let mut scheduler = bench.scheduler(&[Arc::clone(&slow) as Arc<dyn Job>]);
    bench.store.set_timer("slow", "s", 0).await.unwrap();
    for hour in 0..5 {
        scheduler.step(hour * 60 * MINUTE).await.unwrap();
    }
    slow.go_on.add_permits(9);
    scheduler.idle(301 * MINUTE).await.unwrap();
    assert_eq!(*slow.began.lock().unwrap(), [0]);
    assert!(bench.store.timers().await.unwrap().rows.is_empty());
}

// LES-091
#[tokio::test]
async fn what_another_process_took_over_stops() {
    let bench = Bench::new();
    let slow = Slow::new();
    let jobs = || vec![Arc::clone(&slow) as Arc<dyn Job>];
    let (mut asleep, mut awake) = (bench.scheduler(&jobs()), bench.scheduler(&jobs()));
    bench.store.set_timer("slow", "s", 0).await.unwrap();
    asleep.step(0).await.unwrap();
    // One sleeps longer than its claim lasts.
    awake.step(60 * MINUTE).await.unwrap();
    asleep.step(61 * MINUTE).await.unwrap();
    asleep.idle(61 * MINUTE).await.unwrap();
    slow.go_on.add_permits(1);
    awake.idle(62 * MINUTE).await.unwrap();
    assert!(bench.store.timers().await.unwrap().rows.is_empty());
    let log = bench.log.lock().unwrap();
    assert_eq!(log.iter().filter(|line| line.starts_with("Done")).count(), 1, "{log:?}");
}

// LES-091
#[tokio::test]
async fn of_two_processes_one_runs_a_slot() {
    let bench = Bench::new();
    let tick = Arc::new(Tick::default());
    let mut processes = [(); 2].map(|()| bench.scheduler(&[Arc::clone(&tick) as Arc<dyn Job>]));
    for name in ["a", "b", "c"] {
        bench.store.set_timer("tick", name, MINUTE).await.unwrap();
    }
    for minute in 1..=20 {
        let now = minute * MINUTE;
        let [one, two] = &mut processes;
        let (one, two) = tokio::join!(one.step(now), two.step(now));
        one.and(two).unwrap();
        for process in &mut processes {
            process.idle(now).await.unwrap();
        }
    }
    let mut ran = tick.0.lock().unwrap().clone();
    ran.sort_unstable();
    let wanted: Vec<i64> = (1..=20).flat_map(|minute| [minute * MINUTE; 3]).collect();
    assert_eq!(ran, wanted);
}

// LES-091 LES-092
#[tokio::test]
async fn what_a_process_left_undone_comes_again_with_the_same_slot() {
    let bench = Bench::new();
    let slow = Slow::new();
    let mut stopped = bench.scheduler(&[Arc::clone(&slow) as Arc<dyn Job>]);
    bench.store.set_timer("slow", "s", MINUTE).await.unwrap();
    stopped.step(MINUTE + 1).await.unwrap();
    while slow.began.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let mut other = bench.scheduler(&[Arc::clone(&slow) as Arc<dyn Job>]);
    other.step(MINUTE + 2).await.unwrap();
    assert_eq!(*slow.began.lock().unwrap(), [MINUTE], "it is under way elsewhere");
    stopped.stop().await.unwrap();
    other.step(MINUTE + 3).await.unwrap();
    slow.go_on.add_permits(1);
    other.idle(MINUTE + 4).await.unwrap();
    assert_eq!(*slow.began.lock().unwrap(), [MINUTE, MINUTE]);
    assert!(bench.store.timers().await.unwrap().rows.is_empty());
}

#[tokio::test]
async fn what_fails_or_panics_is_tried_again_later_and_later() {
    let bench = Bench::new();
    let mut scheduler = bench.scheduler(&[Arc::new(Weak(Mutex::new(4)))]);
    bench.store.set_timer("weak", "w", 0).await.unwrap();
    bench.store.set_timer("other", "o", 99 * MINUTE).await.unwrap();
    for minute in [0, 1, 2, 3, 5, 7, 99] {
        scheduler.step(minute * MINUTE).await.unwrap();
        scheduler.idle(minute * MINUTE).await.unwrap();
    }
    insta::assert_snapshot!(bench.log.lock().unwrap().join("\n"));
}
