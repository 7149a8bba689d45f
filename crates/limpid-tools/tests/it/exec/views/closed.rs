//! Places within the owner's folders that are closed to a program, or that it leaves as they are.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use limpid_core::Trust;
use limpid_tools::Tool;
use limpid_tools::exec::Exec;
use limpid_tools::files::Root;
use serde_json::json;

use crate::exec::kit::{Bench, hand_over, judged};
use crate::kit::context;

/// An empty folder would be put down as one whose files were removed.
// SEC-058
#[tokio::test]
async fn a_strangers_folder_that_is_not_named_is_closed_and_not_empty() {
    let mut bench = Bench::new();
    let theirs = bench.path("mine/theirs");
    // What it is called on the disk is a stranger's text.
    bench.programs.grants = bench.programs.grants.clone().with_name("~/folders/1", theirs.clone());
    fs::write(theirs.join("letter.md"), "Dear all\n").unwrap();
    hand_over(bench.folder.path());
    let exec = Exec::new(Arc::new(bench.programs.clone()));
    let run = async |command: &str| {
        let call = json!({ "command": command, "working_dir": bench.path("mine").display().to_string() });
        exec.run(&judged(&exec, &context(Trust::Owner), &call), call).await.unwrap().into_parts().0
    };
    for command in ["tar cf copy.tar .", "cp -r . /tmp/copy"] {
        let told = run(command).await;
        assert!(told.contains("Permission denied") && !told.contains("Exit code: 0"), "{told}");
        assert!(told.contains("`~/folders/1` was closed to it, since it is not the owner's."), "{told}");
    }
    assert_eq!(run("ls theirs").await, "letter.md\nExit code: 0");
}

// SEC-058
#[tokio::test]
async fn what_lies_in_a_closed_folder_and_is_the_owners_is_reached_and_the_rest_is_not_listed() {
    let mut bench = Bench::new();
    let own = bench.path("mine/theirs/vendored/own");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("own.md"), "my own\n").unwrap();
    bench.programs.grants =
        bench.programs.grants.clone().with(Root { folder: own.clone(), write: true, trust: Trust::File });
    hand_over(bench.folder.path());
    let told = bench.run("cat {}/mine/theirs/vendored/own/own.md; touch {}/mine/theirs/vendored/own/new.md").await;
    assert_eq!(told, "my own\nExit code: 0");
    let told = bench.run("cd {}/mine; tar cf copy.tar .").await;
    assert!(told.contains("Permission denied") && !told.contains("Exit code: 0"), "{told}");
}

/// Many keep their settings in a folder of their own, with links to it.
// SEC-061
#[tokio::test]
async fn what_the_home_leads_to_by_links_no_program_changes() {
    let bench = Bench::new();
    fs::remove_file(bench.path("home/soul.md")).unwrap();
    fs::create_dir_all(bench.path("mine/dotfiles/profiles/own")).unwrap();
    fs::create_dir_all(bench.path("home/profiles")).unwrap();
    for (link, file) in [
        ("home/soul.md", "mine/dotfiles/soul.md"),
        ("home/limpid.toml", "mine/dotfiles/limpid.toml"),
        ("home/profiles/own", "mine/dotfiles/profiles/own"),
    ] {
        if !bench.path(file).is_dir() {
            fs::write(bench.path(file), "mine\n").unwrap();
        }
        symlink(bench.path(file), bench.path(link)).unwrap();
    }
    hand_over(bench.folder.path());
    for change in [
        "echo x >> mine/dotfiles/soul.md",
        "echo x > mine/dotfiles/other.toml",
        "mkdir mine/dotfiles/profiles/new",
        "rm mine/dotfiles/limpid.toml",
        "mv mine/dotfiles/soul.md mine/dotfiles/old.md",
        "echo x > mine/new.toml; mv mine/new.toml mine/dotfiles/limpid.toml",
        "mv mine/dotfiles mine/old",
        "echo x > mine/dotfiles/profiles/own/soul.md",
        "chmod 600 mine/dotfiles/soul.md",
    ] {
        let told = bench.run(&format!("cd {{}}; {change}")).await;
        let is_refused = ["Read-only file system", "Device or resource busy"].iter().any(|why| told.contains(why));
        assert!(is_refused && !told.contains("Exit code: 0"), "{change}: {told}");
    }
    for file in ["soul.md", "limpid.toml"] {
        assert_eq!(fs::read_to_string(bench.path("mine/dotfiles").join(file)).unwrap(), "mine\n", "{file}");
    }
    assert_eq!(fs::read_dir(bench.path("mine/dotfiles/profiles/own")).unwrap().count(), 0);
    let told = bench.run("cd {}; cat mine/dotfiles/soul.md mine/dotfiles/limpid.toml; echo x > mine/other.toml").await;
    assert!(told.ends_with("mine\nExit code: 0"), "what lies around the folder is theirs to change: {told}");
    // Whoever saves a file while a program runs may put a new one in its place.
    let saves = async {
        while !bench.path("mine/started").exists() {
            tokio::task::yield_now().await;
        }
        fs::write(bench.path("mine/dotfiles/new.md"), "mine\n").unwrap();
        hand_over(bench.folder.path());
        fs::rename(bench.path("mine/dotfiles/new.md"), bench.path("mine/dotfiles/soul.md")).unwrap();
        fs::write(bench.path("mine/saved"), "").unwrap();
        std::future::pending::<String>().await
    };
    let waits = "cd {}/mine; touch started; until [ -e saved ]; do :; done; echo x >> dotfiles/soul.md";
    let told = tokio::select! { told = bench.run(waits) => told, told = saves => told };
    assert!(told.contains("Read-only file system"), "{told}");
    assert_eq!(fs::read_to_string(bench.path("mine/dotfiles/soul.md")).unwrap(), "mine\n");
    // Passwords are not read either.
    fs::create_dir_all(bench.path("home/mail")).unwrap();
    fs::write(bench.path("mine/dotfiles/ada.toml"), "secret\n").unwrap();
    symlink("../../mine/dotfiles/ada.toml", bench.path("home/mail/ada.toml")).unwrap();
    hand_over(bench.folder.path());
    let told = bench.run("cd {}; ls mine/dotfiles; cat mine/dotfiles/ada.toml; echo x > mine/dotfiles/ada.toml").await;
    let names = ["secret", "Exit code: 0", "limpid.toml"];
    assert!(!names.iter().any(|name| told.contains(name)), "{told}");
    // What is not there, or in whose place another may be put, nobody can keep.
    fs::rename(bench.path("mine/dotfiles/soul.md"), bench.path("mine/soul.md")).unwrap();
    let told = bench.run("echo x").await;
    assert!(told.contains("home/soul.md` leads to `") && told.contains("which is not there"), "{told}");
    symlink("../soul.md", bench.path("mine/dotfiles/soul.md")).unwrap();
    let told = bench.run("echo x").await;
    assert!(told.contains("home/soul.md` leads through the link `"), "{told}");
    // Nor what lies where programs may put anything.
    fs::remove_file(bench.path("home/soul.md")).unwrap();
    symlink(bench.path("mine/soul.md"), bench.path("home/soul.md")).unwrap();
    let told = bench.run("echo x").await;
    assert!(told.contains("home/soul.md` leads to `") && told.contains("a file right in a folder"), "{told}");
}

// SEC-061 SEC-088
#[tokio::test]
async fn a_link_within_the_home_shows_nothing_of_it() {
    let mut bench = Bench::new();
    let all = Root { folder: bench.folder.path().to_owned(), write: true, trust: Trust::File };
    bench.programs.grants = bench.programs.grants.clone().with(all);
    fs::rename(bench.path("home/soul.md"), bench.path("home/kind.md")).unwrap();
    symlink("kind.md", bench.path("home/soul.md")).unwrap();
    hand_over(bench.folder.path());
    let told = bench.run("cat {}/home/kind.md; ls {}/home").await;
    assert!(told.contains("programs could change. Nothing was run."), "{told}");
}

// SEC-061
#[tokio::test]
async fn no_program_runs_while_a_file_of_the_owners_has_a_second_name() {
    let bench = Bench::new();
    hand_over(bench.folder.path());
    // They are of whoever starts the program.
    fs::write(bench.path("home/limpid.toml"), "").unwrap();
    fs::create_dir_all(bench.path("home/profiles/mine")).unwrap();
    fs::write(bench.path("home/profiles/mine/section.md"), "Be kind.\n").unwrap();
    let told = bench.run("echo it runs").await;
    assert!(told.contains("it runs"), "{told}");
    for name in ["home/limpid.toml", "home/profiles/mine/section.md"] {
        fs::hard_link(bench.path(name), bench.path("mine/other")).unwrap();
        let told = bench.run("echo it runs").await;
        assert!(told.contains("has a second name") && !told.contains("Exit code"), "{told}");
        fs::remove_file(bench.path("mine/other")).unwrap();
    }
}

// SEC-061
#[tokio::test]
async fn a_grant_within_what_is_the_owners_alone_is_written_by_no_program() {
    let mut bench = Bench::new();
    let (mine, far) = (bench.path("home/profiles/mine"), bench.path("far/kind"));
    for folder in [&mine, &far] {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("section.md"), "Be kind.\n").unwrap();
        let root = Root { folder: folder.clone(), write: true, trust: Trust::File };
        bench.programs.grants = bench.programs.grants.clone().with(root);
    }
    symlink(bench.path("far"), bench.path("home/profiles/far")).unwrap();
    hand_over(bench.folder.path());
    let told = bench
        .run("cat {}/far/kind/section.md; echo x >> {}/far/kind/section.md; echo x >> {}/home/profiles/mine/section.md")
        .await;
    assert!(told.contains("Be kind.") && told.contains("Read-only"), "{told}");
    for folder in [mine, far] {
        assert_eq!(fs::read_to_string(folder.join("section.md")).unwrap(), "Be kind.\n", "{told}");
    }
}

// SEC-061
#[tokio::test]
async fn no_grant_shows_a_program_passwords_or_conversations() {
    // Folders of the home, and one that a link of it leads to.
    for (granted, link) in [("home/mail", None), ("home/data", None), ("far/mail", Some("home/mail"))] {
        let mut bench = Bench::new();
        fs::create_dir_all(bench.path(granted)).unwrap();
        fs::write(bench.path(granted).join("ada.toml"), "password = \"4711\"\n").unwrap();
        if let Some(link) = link {
            let _ = fs::remove_dir_all(bench.path(link));
            symlink(bench.path(granted), bench.path(link)).unwrap();
        }
        let root = Root { folder: bench.path(granted), write: true, trust: Trust::File };
        bench.programs.grants = bench.programs.grants.clone().with(root);
        hand_over(bench.folder.path());
        let told = bench.run(&format!("echo it runs; cat {{}}/{granted}/ada.toml")).await;
        assert!(told.contains("it runs") && !told.contains("4711"), "{granted}: {told}");
    }
}

/// At its new place it would be neither hidden nor a stranger's for the next program.
// SEC-058
#[tokio::test]
async fn no_folder_around_a_strangers_is_renamed() {
    let mut bench = Bench::new();
    // A grant around Limpid's home, in which the workspace is shown and all else is hidden.
    let all = Root { folder: bench.folder.path().to_owned(), write: true, trust: Trust::File };
    let kept = bench.path("home/workspace/around/theirs");
    fs::create_dir_all(&kept).unwrap();
    let in_workspace = Root { folder: kept, write: true, trust: Trust::Outside };
    bench.programs.grants = bench.programs.grants.clone().with(all).with(in_workspace);
    let moved = bench.path("mine/around/theirs");
    fs::create_dir_all(&moved).unwrap();
    fs::write(moved.join("letter.md"), "Dear all\n").unwrap();
    let theirs = Root { folder: moved.clone(), write: true, trust: Trust::Outside };
    bench.programs.grants = bench.programs.grants.clone().with(theirs);
    hand_over(bench.folder.path());
    let told = bench.run("mv {}/home/workspace/around {}/home/workspace/elsewhere").await;
    assert!(told.contains("busy") && !bench.path("home/workspace/elsewhere").exists(), "{told}");
    let told = bench.run("mv {}/mine/around {}/mine/elsewhere; echo x > {}/mine/around/own.md").await;
    assert!(told.contains("busy") && moved.join("letter.md").exists(), "{told}");
    assert!(bench.path("mine/around/own.md").exists(), "the rest of it is the owner's to change");
}
