//! What a program sees that is called over links: whoever writes where a link lies chose what it leads to.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use limpid_core::Trust;
use limpid_tools::exec::command::Command;
use limpid_tools::files::Root;

use crate::exec::kit::{Bench, hand_over};

/// Links of strangers and of the owner, most of them to a program of the system.
fn linked(mut bench: Bench) -> Bench {
    bench.programs.shell = false;
    for folder in ["bin", "tools/bin"] {
        fs::create_dir_all(bench.path(folder)).unwrap();
    }
    for script in ["mine/tool.sh", "home/skills/tea/boil.sh"] {
        fs::write(bench.path(script), "#!/bin/sh\nrm tea.md\n").unwrap();
        fs::set_permissions(bench.path(script), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (to, at) in [
        ("/usr/bin/rm", "theirs/lint"),
        ("/usr/bin", "theirs/bin"),
        ("../mine/tool.sh", "theirs/tool"),
        ("../home/skills/tea/boil.sh", "theirs/setup.sh"),
        ("../home/workspace", "theirs/way"),
        ("/usr/bin/rm", "mine/theirs/fmt"),
        ("/usr/bin/rm", "home/outside/check"),
        ("/usr/bin/rm", "nowhere/lint"),
        // Of the owner's, to those of strangers.
        ("../theirs/lint", "mine/over"),
        ("../theirs/lint", "bin/over"),
        // Of the owner's alone.
        ("/usr/bin/rm", "mine/own"),
        ("/usr/bin/rm", "tools/bin/named"),
        ("../../mine/tool.sh", "home/workspace/own"),
        ("../skills/tea/boil.sh", "home/workspace/boil.sh"),
        ("tools", "way"),
    ] {
        symlink(to, bench.path(at)).unwrap();
    }
    bench.programs.path = vec![bench.path("bin"), bench.path("way/bin")];
    hand_over(bench.folder.path());
    bench
}

/// Whether a command in a turn of the owner's own may change what is theirs.
fn changes_the_owners(bench: &Bench, command: &str) -> bool {
    let command = command.replace("{}", &bench.folder.path().display().to_string());
    let command = Command::parse(&command, None, &bench.programs).unwrap();
    bench.programs.view(Trust::Owner, false, &command).writes_high()
}

// SEC-058 SEC-061
#[test]
fn a_link_in_a_strangers_place_makes_a_program_theirs_wherever_it_leads() {
    let bench = linked(Bench::new());
    for command in [
        "{}/theirs/lint tea.md",
        "../../theirs/lint tea.md",
        "{}/theirs/bin/rm tea.md",
        "{}/theirs/tool",
        "sh {}/theirs/setup.sh",
        "{}/mine/theirs/fmt tea.md",
        "../outside/check tea.md",
        "{}/nowhere/lint tea.md",
        "{}/mine/over tea.md",
        "over tea.md",
        // A word besides the program leads over one.
        "rm ../../theirs/way/tea.md",
    ] {
        assert!(!changes_the_owners(&bench, command), "{command}");
    }
}

// SEC-058
#[test]
fn links_of_the_owners_and_of_the_system_lead_to_programs_of_theirs() {
    let bench = linked(Bench::new());
    for command in [
        "{}/mine/own tea.md",
        "./own",
        "sh ./boil.sh",
        "sh {}/home/skills/tea/boil.sh",
        "rm tea.md",
        "/bin/rm tea.md",
        "python3 tea.py",
        "/usr/bin/python3 tea.py",
        "named tea.md",
        // A link on the way to what is granted is the system's.
        "{}/way/bin/named tea.md",
    ] {
        assert!(changes_the_owners(&bench, command), "{command}");
    }
}

// SEC-058 SEC-079
#[tokio::test]
async fn what_is_called_over_a_strangers_link_changes_nothing_of_the_owners() {
    for with_namespaces in [true, false] {
        let bench = if with_namespaces { Some(Bench::new()) } else { Bench::without_namespaces().map(Bench::flat) };
        let Some(bench) = bench.map(linked) else { continue };
        for command in
            ["{}/theirs/lint tea.md", "{}/theirs/tool", "sh {}/theirs/setup.sh", "rm ../../theirs/way/tea.md"]
        {
            let told = bench.run(command).await;
            assert!(bench.path("home/workspace/tea.md").exists(), "{command}: {told}");
        }
        let told = bench.run("{}/mine/own tea.md").await;
        assert!(!bench.path("home/workspace/tea.md").exists(), "{told}");
    }
}

/// A commit to the owner's repository, or a package that it runs, puts a link in the place of a folder that was granted.
// SEC-058
#[tokio::test]
async fn a_granted_folder_in_the_workspace_that_became_a_link_is_no_place_of_programs() {
    let mut bench = Bench::new();
    let root = |bench: &Bench, name: &str| Root { folder: bench.path(name), write: true, trust: Trust::File };
    symlink(bench.path("nowhere"), bench.path("home/workspace/far")).unwrap();
    symlink(bench.folder.path(), bench.path("up")).unwrap();
    hand_over(bench.folder.path());
    let [far, theirs] = [root(&bench, "home/workspace/far"), root(&bench, "up/theirs")];
    bench.programs.grants = bench.programs.grants.clone().with(far).with(theirs);
    let left_out = bench.programs.left_out();
    assert_eq!(left_out.len(), 1, "{left_out:?}");
    assert!(left_out[0].contains("is a link; programs do not get it"), "{left_out:?}");
    // The owner named a stranger's folder by another name: it stays a stranger's.
    let view = |folder: &str| {
        let folder = bench.path(folder).display().to_string();
        let command = Command::parse("ls", Some(&folder), &bench.programs).unwrap();
        bench.programs.view(Trust::Owner, false, &command)
    };
    assert_eq!(view("up/theirs"), view("theirs"));
    assert_ne!(view("up/theirs"), view("mine"));
}
