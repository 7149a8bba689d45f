//! What the owner wrote down about a folder: more room for what starts there, and programs that run there unasked.

use limpid_core::Trust;
use limpid_tools::Tool;
use limpid_tools::exec::confinement::Limits;
use limpid_tools::exec::{Exec, FolderRules};
use serde_json::json;
use std::sync::Arc;

use super::kit::{Bench, judged};
use crate::kit::context;

fn rules(bench: &Bench, folder: &str, programs: &[&str], limits: Limits) -> FolderRules {
    let programs = programs.iter().map(|name| (*name).to_owned()).collect();
    FolderRules { folder: bench.path(folder), programs, limits }
}

// SEC-085
#[tokio::test]
async fn a_folder_may_have_more_disk_files_and_time_than_others() {
    let mut bench = Bench::new();
    bench.programs.limits = Limits { disk_bytes: 4 << 20, files: 20, seconds: 60, ..Limits::default() };
    let more = Limits { disk_bytes: 64 << 20, files: 200, seconds: 120, ..bench.programs.limits };
    bench.programs.folders = vec![rules(&bench, "mine", &[], more)];
    let writes = "dd if=/dev/zero of=big bs=1M count=12 2>/dev/null; i=0; while [ $i -lt 60 ]; do touch f$i; i=$((i+1)); done; sleep 0.4; rm big f*";
    let run = |folder: &'static str| {
        let (bench, exec) = (&bench, Exec::new(Arc::new(bench.programs.clone())));
        async move {
            let call = json!({ "command": writes, "working_dir": bench.path(folder).display().to_string() });
            exec.run(&judged(&exec, &context(Trust::Owner), &call), call).await.unwrap().into_parts().0
        }
    };
    let told = run("home/workspace").await;
    assert!(told.contains("it wrote more than 4 MiB") || told.contains("it made more than 20 files"), "{told}");
    assert_eq!(run("mine").await, "Exit code: 0");
    let exec = Exec::new(Arc::new(bench.programs.clone()));
    assert!(exec.timeout().unwrap().as_secs() > 120, "a call may take as long as its folder allows");
}

// SEC-065
#[tokio::test]
async fn only_a_named_program_of_the_system_in_a_folder_of_others_runs_unasked() {
    let mut bench = Bench::new();
    bench.programs.shell = false;
    let limits = bench.programs.limits;
    bench.programs.folders =
        vec![rules(&bench, "theirs", &["cat", "touch"], limits), rules(&bench, "mine", &["cat"], limits)];
    bench.programs.network.names.push("a.example".to_owned());
    std::fs::copy("/usr/bin/env", bench.path("theirs/cat")).unwrap();
    let exec = Exec::new(Arc::new(bench.programs.clone()));
    let call = |command: &str, folder: &str| json!({ "command": command, "working_dir": bench.path(folder).display().to_string() });
    let table = [
        ("cat letter.md", "theirs", true),
        ("/usr/bin/cat letter.md", "theirs", true),
        ("ls", "theirs", false),
        ("./cat letter.md", "theirs", false),
        ("cat letter.md", "mine/theirs", false),
        // The owner's own folder needs no such yes, and gets none: programs there have the high view.
        ("cat own.md", "mine", false),
        ("cat letter.md", "home/outside", false),
        ("cat tea.md", "home/workspace", false),
    ];
    for (command, folder, unasked) in table {
        assert_eq!(exec.runs_unasked(&call(command, folder)), unasked, "{command} in {folder}");
    }
    // It has a view of its own, whatever the turn has read, and nothing of the network that others have.
    for trust in [Trust::Owner, Trust::Outside] {
        let run = async |command| {
            let call = call(command, "theirs");
            exec.run(&judged(&exec, &context(trust), &call), call).await.unwrap()
        };
        let said = run("touch new.md").await;
        assert!(said.value().contains("Read-only file system"), "{}", said.value());
        assert_eq!(said.trust(), Trust::Outside);
        let said = run("cat /proc/net/route /proc/net/tcp").await;
        assert!(!said.value().contains("0100007F"), "no proxy listens: {}", said.value());
    }
    for (command, folder) in [("cat /proc/net/tcp", "home/workspace"), ("head /proc/net/tcp", "theirs")] {
        let call = call(command, folder);
        let said = exec.run(&judged(&exec, &context(Trust::Owner), &call), call).await.unwrap();
        assert!(said.value().contains("0100007F"), "with the network one does: {}", said.value());
    }
}
