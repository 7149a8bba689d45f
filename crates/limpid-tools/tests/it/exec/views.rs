//! Which places a program sees and writes.

mod closed;
mod links;
mod read;
mod strangers;
mod toolchains;

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use limpid_core::Trust;
use limpid_tools::Tool;
use limpid_tools::exec::Exec;
use serde_json::json;

use super::kit::{Bench, hand_over, judged};
use crate::kit::context;

/// Places that hold a stranger's text, and Limpid's own file.
const LOW: [&str; 4] = ["home/outside/letter.md", "mine/theirs/letter.md", "theirs/letter.md", "nowhere/letter.md"];

// SEC-058
#[tokio::test]
async fn the_high_view_writes_the_owners_places_and_has_no_low_one() {
    let bench = Bench::new();
    let told =
        bench.run("cp tea.md {}/mine/tea.md && cat {}/read/own.md && chmod 700 tea.md && rm {}/mine/own.md").await;
    assert_eq!(told, "my own\nExit code: 0");
    assert_eq!(fs::read_to_string(bench.path("mine/tea.md")).unwrap(), "oolong\n");
    assert!(!bench.path("mine/own.md").exists());
    assert!(bench.run("touch {}/read/new").await.contains("Read-only file system"));
    // Words that only the shell puts together, so that the call itself names no low place.
    for low in LOW {
        let (start, rest) = low.split_at(3);
        let told =
            bench.run(&format!("cd {{}}; cat \"{start}\"\"{rest}\"; ls \"$(dirname \"{start}\"\"{rest}\")\"")).await;
        // Within a folder of the owner's it is closed; elsewhere nothing of it is there.
        let why = if low.starts_with("mine/") { "Permission denied" } else { "No such file" };
        assert!(told.contains(why) && !told.contains("Dear all") && !told.contains("letter.md\n"), "{told}");
    }
    let told = bench.run("cat {}/home/soul.md; ls -a {}/home").await;
    assert!(told.contains("soul.md: No such file") && told.contains("\nskills\nworkspace\n"), "{told}");
}

// SEC-058
#[tokio::test]
async fn the_low_view_reads_both_and_writes_only_what_is_for_strangers() {
    let bench = Bench::new();
    let read = "cat tea.md {}/mine/own.md {}/theirs/letter.md {}/mine/theirs/letter.md {}/home/outside/letter.md";
    let told = bench.run_as(Trust::Outside, read).await;
    assert_eq!(told, "oolong\nmy own\nDear all\nDear all\nDear all\nExit code: 0");
    // What nobody was asked about leaves nothing of what it read.
    let told = bench.run_as(Trust::Owner, "cp tea.md /tmp/x; cat tea.md; cp tea.md {}/home/outside/copy.md").await;
    assert!(told.starts_with("oolong\n") && told.contains("Read-only file system"), "{told}");
    assert!(told.contains("It could write nothing") && !bench.path("home/outside/copy.md").exists(), "{told}");
    let told = bench.run_approved("cp tea.md {}/home/outside/copy.md && cp tea.md /tmp/x && cp tea.md ~/x").await;
    assert_eq!(told, "Exit code: 0");
    assert!(bench.path("home/outside/copy.md").exists());
    for place in ["home/workspace/new", "mine/new", "theirs/new", "mine/theirs/new", "read/new"] {
        let told = bench.run_approved(&format!("touch {{}}/{place} {{}}/home/workspace/new {{}}/theirs/x")).await;
        assert!(told.contains("Read-only file system") && told.contains("/home/outside`."), "{place}: {told}");
        assert!(!bench.path(place).exists(), "{place}");
    }
    let told = bench.run_as(Trust::Outside, "cat {}/home/soul.md {}/nowhere/letter.md").await;
    assert_eq!(told.matches("No such file").count(), 2, "{told}");
}

// SEC-058
#[tokio::test]
async fn no_link_and_no_rename_leads_from_low_to_high() {
    let bench = Bench::new();
    symlink(bench.path("home/workspace/tea.md"), bench.path("home/outside/link")).unwrap();
    symlink(bench.path("home/outside"), bench.path("home/workspace/away")).unwrap();
    fs::hard_link(bench.path("home/outside/letter.md"), bench.path("home/outside/hard.md")).unwrap();
    hand_over(bench.folder.path());
    let tries = [
        "echo low > {}/home/outside/link",
        "ln {}/home/outside/letter.md {}/home/workspace/hard.md",
        "mv {}/home/outside/letter.md {}/home/workspace/moved.md",
        "ln tea.md {}/home/outside/tea.md && echo low >> {}/home/outside/tea.md",
        "mv tea.md {}/home/outside/tea.md",
        "exec 7< {}/home/workspace/tea.md; echo low > /proc/self/fd/7",
        "exec 7< {}/home/workspace; echo low > /proc/self/fd/7/new.md",
        "chmod 777 tea.md",
        "touch -d 2001-01-01 tea.md",
    ];
    for attempt in tries {
        let told = bench.run_approved(attempt).await;
        assert!(told.contains("STDERR:"), "{attempt}: {told}");
    }
    assert_eq!(fs::read_to_string(bench.path("home/workspace/tea.md")).unwrap(), "oolong\n");
    assert_eq!(fs::read_dir(bench.path("home/workspace")).unwrap().count(), 3, "sub, tea.md, away");
    // The clean program follows the planted link, and nothing is there.
    let told = bench.run("cat \"$(echo aw)ay/letter.md\"; echo high > \"$(echo aw)ay/new.md\"").await;
    assert_eq!(told.matches("STDERR:").count(), 1, "{told}");
    assert!(!bench.path("home/outside/new.md").exists() && !told.contains("Dear all"), "{told}");
}

// SEC-058
#[tokio::test]
async fn a_call_that_names_a_low_place_or_has_the_network_gets_the_low_view() {
    let mut bench = Bench::new();
    for command in ["cat {}/theirs/letter.md", "grep -r --file={}/theirs/letter.md .", "cd {}/theirs && cat letter.md"]
    {
        let told = bench.run(&format!("{command}; touch {{}}/home/workspace/new")).await;
        assert!(told.contains("Read-only file system"), "{command}: {told}");
    }
    bench.programs.network.names.push("a.example".to_owned());
    assert!(bench.run("touch new").await.contains("Read-only file system"));
    // A host that the owner trusts is no stranger; with another one beside it anybody may answer.
    bench.programs.network.trusted.push("A.example".to_owned());
    assert_eq!(bench.run("touch new").await, "Exit code: 0");
    bench.programs.network.names.push("b.example".to_owned());
    assert!(bench.run("touch newer").await.contains("Read-only file system"));
}

// SEC-086
#[tokio::test]
async fn a_home_is_new_for_each_call_and_has_the_skills() {
    let bench = Bench::new();
    let told = bench.run("ls -A ~; cat ~/skills/tea/SKILL.md; echo low > ~/.bashrc; touch ~/skills/tea/new; env").await;
    assert!(told.starts_with("skills\n# Tea\n") && told.contains("Read-only file system"), "{told}");
    for switch in ["PYTHONNOUSERSITE=1", "PYTHONSAFEPATH=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"] {
        assert!(told.contains(&format!("\n{switch}\n")), "{told}");
    }
    assert!(!told.contains("XDG_") && !told.contains("HOME=/tmp"), "{told}");
    assert_eq!(bench.run("ls -A ~").await, "skills\nExit code: 0");
}

// SEC-058 SEC-079
#[tokio::test]
async fn without_namespaces_landlock_holds_the_views() {
    let Some(bench) = Bench::without_namespaces() else { return };
    let bench = bench.flat();
    let told = bench.run("cp tea.md {}/mine/tea.md && cat {}/read/own.md ~/skills/tea/SKILL.md; ls -A ~").await;
    assert_eq!(told, "my own\n# Tea\nskills\nExit code: 0");
    let told =
        bench.run("cd {}; cat \"the\"irs/letter.md; ls \"home/out\"side; cat home/soul.md; touch read/new").await;
    assert_eq!(told.matches("ermission denied").count(), 4, "{told}");
    let reads = "cat {}/theirs/letter.md; cp tea.md {}/home/outside/copy.md; touch new";
    let told = bench.run_as(Trust::Outside, reads).await;
    assert!(told.starts_with("Dear all\n") && told.matches("ermission denied").count() == 2, "{told}");
    let told = bench.run_approved(reads).await;
    assert!(told.starts_with("Dear all\n") && told.matches("ermission denied").count() == 1, "{told}");
    assert!(bench.path("home/outside/copy.md").exists());
    // Modes and times by path could be anybody's here.
    let told = bench.run("chmod 700 {}/nowhere/letter.md; chmod 700 tea.md; kill -9 $PPID; echo alive").await;
    assert_eq!(told.matches("not implemented").count(), 2, "{told}");
    assert!(told.contains("not permitted") && told.contains("alive\n"), "{told}");
    assert_eq!(fs::read_dir(bench.path("home/data/scratch")).unwrap().count(), 0);
}

// SEC-058 SEC-087
#[tokio::test]
async fn what_may_be_a_strangers_never_has_the_network_and_sight_of_the_owners_places() {
    let mut bench = Bench::new();
    bench.programs.shell = false;
    bench.programs.network.names.push("a.example".to_owned());
    bench.programs.own_environment = vec![("OWN_TOKEN".to_owned(), "4711".to_owned())];
    fs::create_dir(bench.path("bin")).unwrap();
    fs::write(bench.path("bin/backup"), "a password").unwrap();
    bench.programs.path = vec![bench.path("bin")];
    let script = "import os\nfor path in ['bin/backup', 'home/workspace/tea.md', 'mine/own.md', 'read/own.md', 'home/skills/tea/SKILL.md', \
                  'theirs/letter.md', 'mine/theirs/letter.md', 'home/outside/letter.md']:\n    \
                  print(path, os.path.exists('BENCH/' + path))\n\
                  print('skills', os.path.exists(os.path.expanduser('~/skills')))\n\
                  print('network', '0100007F' in open('/proc/net/tcp').read(), 'OWN_TOKEN' in os.environ)\n\
                  open('BENCH/home/outside/made', 'w')\n";
    let script = script.replace("BENCH", &bench.folder.path().display().to_string());
    for folder in ["theirs", "home/workspace", "home/outside"] {
        fs::write(bench.path(folder).join("test.py"), &script).unwrap();
    }
    symlink(bench.path("mine/theirs"), bench.path("theirs/link")).unwrap();
    hand_over(bench.folder.path());
    let run = async |command: &str, folder: &str, trust: Trust| {
        let at = |text: &str| text.replace("{}", &bench.folder.path().display().to_string());
        let call = json!({ "command": at(command), "working_dir": at(folder) });
        let exec = Exec::new(Arc::new(bench.programs.clone()));
        let unjudged = exec.run(&context(trust), call.clone()).await;
        let judged = judged(&exec, &context(trust), &call);
        assert_eq!(unjudged.is_err(), judged.program.is_some(), "what was judged as no stranger's runs as none");
        let said = exec.run(&judged, call).await.unwrap();
        assert_eq!(said.trust(), Trust::Outside);
        format!(
            "{command} in {folder} ({trust})\n{}",
            said.value().replace(bench.folder.path().to_str().unwrap(), "[BENCH]")
        )
    };
    let told = [
        run("python3 test.py", "{}/theirs", Trust::Owner).await,
        run("python3 test.py", "{}/home/outside", Trust::Owner).await,
        // Of strangers' folders it sees what the call names, and not where a link of that stranger's leads.
        run("python3 test.py link", "{}/theirs", Trust::Owner).await,
        run("python3 test.py {}/mine/theirs", "{}/theirs", Trust::Owner).await,
        // It needs what is the owner's, so it has no network.
        run("python3 test.py {}/home/workspace", "{}/theirs", Trust::Owner).await,
        run("python3 ../../theirs/test.py", ".", Trust::Owner).await,
        // A stranger's text led to it, and nobody was asked.
        run("python3 test.py", "{}/theirs", Trust::Outside).await,
        run("python3 test.py", ".", Trust::Outside).await,
        // The owner's own.
        run("python3 test.py", ".", Trust::Owner).await,
    ];
    insta::assert_snapshot!(told.join("\n\n"));
}
