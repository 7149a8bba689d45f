//! What runs after a yes is what was hashed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use limpid_config::regular_file::Opened;
use limpid_core::Trust;
use limpid_tools::exec::Exec;
use limpid_tools::{Snapshot, Tool, ToolContext};
use serde_json::json;

use super::kit::{Bench, hand_over, judged};
use crate::kit::context;

const TOOL: &str = "home/workspace/tool";
const DATA: &str = "home/workspace/data";

/// A bench without a shell, whose workspace has a program that prints a file.
fn bench(mut bench: Bench) -> Bench {
    bench.programs.shell = false;
    put(&bench.path(TOOL), "#!/bin/sh\necho approved program; cat \"$1\"\n");
    put(&bench.path(DATA), "approved data\n");
    bench
}

fn put(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    hand_over(path);
}

/// Runs the program as it was approved; `between` is done after it was copied.
async fn run(bench: &Bench, trust: Trust, between: impl FnOnce()) -> String {
    let exec = Exec::new(Arc::new(bench.programs.clone()));
    let arguments = json!({ "command": "./tool data" });
    let folder = bench.path("home/data/scratch/approved/1");
    let mut snapshot = Snapshot::new(folder.clone()).unwrap();
    let started = exec.starts(&arguments).unwrap();
    for path in std::iter::once(&started.program).chain(&started.files) {
        snapshot.keep(path, Opened::at_no_link(path).unwrap(), 1 << 20).unwrap().unwrap();
    }
    hand_over(&bench.path("home/data"));
    between();
    let context = ToolContext { approved: true, snapshot: Some(Arc::new(snapshot)), ..context(trust) };
    let said = match exec.run(&judged(&exec, &context, &arguments), arguments).await {
        Ok(told) => told.into_parts().0,
        Err(error) => format!("error: {}", error.text()),
    };
    drop(context);
    assert!(!folder.exists(), "the copies are gone");
    said
}

// SEC-076
#[tokio::test]
async fn what_is_put_in_the_place_of_an_approved_file_does_not_run() {
    for bench in [Some(Bench::new()), Bench::without_namespaces().map(Bench::flat)].into_iter().flatten().map(bench) {
        let mounts = bench.programs.helper == bench.path("helper") && !bench.path("second").exists();
        let approved = "approved program\napproved data\nExit code: 0";
        assert_eq!(run(&bench, Trust::Owner, || {}).await, approved);
        let evil = "#!/bin/sh\necho evil; cat \"$1\"\n";
        assert_eq!(run(&bench, Trust::Owner, || put(&bench.path(TOOL), evil)).await, approved, "written over");
        let bench = self::bench(bench);
        let swapped = || {
            put(&bench.path("home/workspace/other"), evil);
            fs::rename(bench.path("home/workspace/other"), bench.path(TOOL)).unwrap();
        };
        assert_eq!(run(&bench, Trust::Owner, swapped).await, approved, "another one in its place");
        let bench = self::bench(bench);
        let told = run(&bench, Trust::Owner, || put(&bench.path(DATA), "evil data\n")).await;
        assert!(told.contains("data is not the file any more that was approved") && !told.contains("evil"), "{told}");
        // Where the program may not write it, the copy stands in its place.
        let bench = self::bench(bench);
        let told = run(&bench, Trust::Outside, || put(&bench.path(DATA), "evil data\n")).await;
        assert!(!told.contains("evil") && (!mounts || told == approved), "{told}");
    }
}

// SEC-076
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_swaps_between_the_look_and_the_start_run_nothing_else() {
    let bench = Arc::new(bench(Bench::new()));
    let is_over = Arc::new(AtomicBool::new(false));
    let approved = fs::read_to_string(bench.path(TOOL)).unwrap();
    let swapping = std::thread::spawn({
        let (bench, is_over) = (Arc::clone(&bench), Arc::clone(&is_over));
        move || {
            let (tool, new) = (bench.path(TOOL), bench.path("home/workspace/new"));
            let mut swaps = 0_u64;
            while !is_over.load(Ordering::SeqCst) {
                for text in ["#!/bin/sh\necho evil\n", &approved] {
                    put(&new, text);
                    fs::rename(&new, &tool).unwrap();
                    swaps += 1;
                }
            }
            swaps
        }
    });
    let (mut ran, mut looked_at_evil) = (0, 0);
    for _ in 0..1000 {
        let exec = Exec::new(Arc::new(bench.programs.clone()));
        let arguments = json!({ "command": "./tool data" });
        let mut snapshot = Snapshot::new(bench.path("home/data/scratch/approved/1")).unwrap();
        let tool = bench.path(TOOL).canonicalize().unwrap();
        let hash = snapshot.keep(&tool, Opened::at_no_link(&tool).unwrap(), 1 << 20).unwrap().unwrap();
        hand_over(&bench.path("home/data"));
        let is_evil = hash.1 < 25;
        let context = ToolContext { approved: true, snapshot: Some(Arc::new(snapshot)), ..context(Trust::Owner) };
        let said = exec.run(&judged(&exec, &context, &arguments), arguments).await.unwrap().into_parts().0;
        assert_eq!(said.contains("evil"), is_evil, "what was hashed is what runs: {said}");
        ran += 1;
        looked_at_evil += usize::from(is_evil);
    }
    is_over.store(true, Ordering::SeqCst);
    let swaps = swapping.join().unwrap();
    assert!(swaps >= 1000 && ran == 1000 && looked_at_evil > 0 && looked_at_evil < 1000, "{swaps} {looked_at_evil}");
}
