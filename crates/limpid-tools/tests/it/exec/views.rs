//! Which places a program sees and writes.

use std::fs;
use std::os::unix::fs::symlink;

use limpid_core::Trust;

use super::kit::{Bench, hand_over};

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
        assert!(told.contains("No such file") && !told.contains("Dear all") && !told.contains("letter.md\n"), "{told}");
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
    let told =
        bench.run_as(Trust::Outside, "cp tea.md {}/home/outside/copy.md && cp tea.md /tmp/x && cp tea.md ~/x").await;
    assert_eq!(told, "Exit code: 0");
    assert!(bench.path("home/outside/copy.md").exists());
    for place in ["home/workspace/new", "mine/new", "theirs/new", "mine/theirs/new", "read/new"] {
        let told = bench.run_as(Trust::Outside, &format!("touch {{}}/{place}")).await;
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
        let told = bench.run_as(Trust::Outside, attempt).await;
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
    bench.programs.network = true;
    assert!(bench.run("touch new").await.contains("Read-only file system"));
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

/// A file that something loads unasked, and what would load it.
const PLANTED: [(&str, &str); 24] = [
    ("usercustomize.py", "python3 -c 1"),
    ("sitecustomize.py", "python3 -c 1"),
    (".local/lib/python3.11/site-packages/usercustomize.py", "python3 -c 1"),
    ("json.py", "python3 -c 'import json'"),
    ("random.py", "python3 -m random"),
    (".pythonrc.py", "python3 -c 1"),
    ("pyvenv.cfg", "python3 -c 1"),
    (".bashrc", "bash -c true"),
    (".bash_profile", "bash -lc true"),
    (".profile", "sh -lc true"),
    (".bash_env", "bash -c true"),
    (".zshenv", "zsh -c true"),
    (".inputrc", "bash -ic true"),
    (".gitconfig", "git status"),
    (".git/config", "git status"),
    (".config/git/config", "git log"),
    (".git/hooks/post-checkout", "git init x"),
    ("Makefile", "make"),
    ("GNUmakefile", "make -n"),
    (".cargo/config.toml", "cargo --version"),
    ("node_modules/x/index.js", "node -e 'require(\"x\")'"),
    (".npmrc", "npm --version"),
    (".perldb", "perl -e 1"),
    (".gdbinit", "gdb --version"),
];

// SEC-059
#[tokio::test]
async fn nothing_that_a_stranger_left_is_loaded_by_a_clean_program() {
    let bench = Bench::new();
    let canary = "touch /tmp/loaded; echo LOADED";
    for (name, _) in PLANTED {
        let path = bench.path("home/outside").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = match name {
            name if name.ends_with(".py") => "import os; os.system('echo LOADED')".to_owned(),
            name if name.contains("config") => format!("[core]\n\tfsmonitor = \"{canary}\"\n\tpager = \"{canary}\"\n"),
            name if name.ends_with("akefile") => format!("all:\n\t{canary}\n"),
            name if name.ends_with(".js") => "console.log('LOADED')".to_owned(),
            _ => format!("#!/bin/sh\n{canary}\n"),
        };
        fs::write(path, text).unwrap();
    }
    hand_over(bench.folder.path());
    for (name, command) in PLANTED {
        let told = bench.run(command).await;
        assert!(!told.contains("LOADED"), "{name} by {command}: {told}");
        // No parent that a tool climbs to has it either.
        let told = bench
            .run(&format!("d=$PWD; while [ \"$d\" != / ]; do ls -d \"$d/{name}\"; d=$(dirname \"$d\"); done"))
            .await;
        assert!(!told.contains(&format!("/{name}\n")), "{name}: {told}");
    }
}

// SEC-088
#[tokio::test]
async fn a_grant_is_the_folder_that_it_was_and_a_link_is_none() {
    let bench = Bench::new();
    assert_eq!(bench.run("cat {}/mine/own.md").await, "my own\nExit code: 0");
    // Swapped for a link, and for another folder, while programs run.
    fs::rename(bench.path("mine"), bench.path("old")).unwrap();
    symlink(bench.path("nowhere"), bench.path("mine")).unwrap();
    let told = bench.run("ls {}/mine/").await;
    assert!(!told.contains("letter.md") && told.contains("no sandbox: "), "{told}");
    fs::remove_file(bench.path("mine")).unwrap();
    fs::rename(bench.path("nowhere"), bench.path("mine")).unwrap();
    let told = bench.run("cat {}/mine/letter.md").await;
    assert!(!told.contains("Dear all") && told.contains("is not the folder any more that was granted"), "{told}");
    let bench = Bench::new();
    fs::remove_dir_all(bench.path("read")).unwrap();
    symlink(bench.path("nowhere"), bench.path("read")).unwrap();
    let told = bench.run("cat {}/read/letter.md").await;
    assert!(told.contains("/read` is a link; programs do not get it") && !told.contains("Dear all"), "{told}");
}

// SEC-058 SEC-079
#[tokio::test]
async fn without_namespaces_landlock_holds_the_views() {
    let Some(bench) = Bench::without_namespaces() else { return };
    let bench = flat(bench);
    let told = bench.run("cp tea.md {}/mine/tea.md && cat {}/read/own.md ~/skills/tea/SKILL.md; ls -A ~").await;
    assert_eq!(told, "my own\n# Tea\nskills\nExit code: 0");
    let told =
        bench.run("cd {}; cat \"the\"irs/letter.md; ls \"home/out\"side; cat home/soul.md; touch read/new").await;
    assert_eq!(told.matches("ermission denied").count(), 4, "{told}");
    let told =
        bench.run_as(Trust::Outside, "cat {}/theirs/letter.md; cp tea.md {}/home/outside/copy.md; touch new").await;
    assert!(told.starts_with("Dear all\n") && told.matches("ermission denied").count() == 1, "{told}");
    assert!(bench.path("home/outside/copy.md").exists());
    // Modes and times by path could be anybody's here.
    let told = bench.run("chmod 700 {}/nowhere/letter.md; chmod 700 tea.md; kill -9 $PPID; echo alive").await;
    assert_eq!(told.matches("not implemented").count(), 2, "{told}");
    assert!(told.contains("not permitted") && told.contains("alive\n"), "{told}");
    assert_eq!(fs::read_dir(bench.path("home/data/scratch")).unwrap().count(), 0);
}

/// Without namespaces no part of a granted folder can be hidden, so none lies in another.
fn flat(mut bench: Bench) -> Bench {
    use limpid_tools::files::{Grants, Root};
    let path = |name: &str| bench.folder.path().join(name);
    let root = |name: &str, write, trust| Root { folder: path(name), write, trust };
    let grants = Grants::new(path("home/workspace"))
        .with(root("home/skills", false, Trust::File))
        .with(root("mine", true, Trust::File))
        .with(root("theirs", true, Trust::Outside))
        .with(root("read", false, Trust::File))
        .with(root("home/outside", true, Trust::Outside));
    bench.programs.grants = grants;
    bench
}
