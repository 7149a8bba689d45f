//! Grants are the folders that they were when the settings were read, and links give nothing.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use limpid_core::Trust;
use limpid_tools::Tool as _;
use limpid_tools::exec::Exec;
use limpid_tools::files::Root;
use serde_json::json;

use super::kit::{Bench, hand_over, judged};
use crate::kit::context;

// SEC-088
#[tokio::test]
async fn a_grant_is_the_folder_that_it_was_and_a_link_is_none() {
    let bench = Bench::new();
    assert_eq!(bench.run("cat {}/mine/own.md").await, "my own\nExit code: 0");
    // Swapped for a link, and for another folder, while programs run.
    fs::rename(bench.path("mine"), bench.path("old")).unwrap();
    symlink(bench.path("nowhere"), bench.path("mine")).unwrap();
    let told = bench.run("ls {}/mine/").await;
    assert!(!told.contains("letter.md") && told.contains("is not the one any more that was granted"), "{told}");
    fs::remove_file(bench.path("mine")).unwrap();
    fs::rename(bench.path("nowhere"), bench.path("mine")).unwrap();
    let told = bench.run("cat {}/mine/letter.md").await;
    assert!(!told.contains("Dear all") && told.contains("is not the one any more that was granted"), "{told}");
    let bench = Bench::new();
    fs::remove_dir_all(bench.path("read")).unwrap();
    symlink(bench.path("nowhere"), bench.path("read")).unwrap();
    let told = bench.run("cat {}/read/letter.md").await;
    assert!(told.contains("/read` is a link; programs do not get it") && !told.contains("Dear all"), "{told}");
}

// SEC-088
#[tokio::test]
async fn a_grant_by_way_of_a_link_in_another_one_is_named_and_left_out() {
    let mut bench = Bench::new();
    fs::create_dir(bench.path("nowhere/sub")).unwrap();
    fs::write(bench.path("nowhere/sub/letter.md"), "Dear all").unwrap();
    symlink(bench.path("nowhere"), bench.path("mine/way")).unwrap();
    symlink(bench.path("read"), bench.path("also")).unwrap();
    fs::create_dir(bench.path("read/deep")).unwrap();
    fs::write(bench.path("read/deep/own.md"), "my own\n").unwrap();
    hand_over(bench.folder.path());
    let grant = |name: &str| Root { folder: bench.path(name), write: true, trust: Trust::File };
    let grants = bench.programs.grants.clone().with(grant("mine/way/sub")).with(grant("also/deep"));
    bench.programs.grants = grants;
    let told = bench.run("cat {}/mine/way/sub/letter.md; cat {}/also/deep/own.md; cat {}/mine/way/letter.md").await;
    assert!(
        !told.contains("Dear all") && told.starts_with("my own\n"),
        "a link above every grant is the system's: {told}"
    );
    assert!(told.contains("/mine/way/sub` leads through the link `"), "{told}");
}

// SEC-058 SEC-088
#[tokio::test]
async fn no_program_takes_a_strangers_folder_for_the_owners_that_no_view_can_leave_out() {
    let named = |bench: &mut Bench, name: &str| {
        let root = Root { folder: bench.path(name), write: true, trust: Trust::Outside };
        bench.programs.grants = bench.programs.grants.clone().with(root);
    };
    let mut bench = Bench::new();
    fs::create_dir(bench.path("mine/vendor")).unwrap();
    fs::write(bench.path("mine/vendor/letter.md"), "Dear all").unwrap();
    symlink(bench.path("mine/vendor"), bench.path("way")).unwrap();
    named(&mut bench, "way");
    let told = bench.run("cat {}/mine/ven\"\"dor/letter.md").await;
    assert!(!told.contains("Dear all") && told.contains("/way` leads through a link to `"), "{told}");

    let mut bench = Bench::new();
    fs::write(bench.path("mine/letter.md"), "Dear all").unwrap();
    named(&mut bench, "mine/letter.md");
    let told = bench.run("cat {}/mine/let\"\"ter.md").await;
    assert!(!told.contains("Dear all") && told.contains("/mine/letter.md` is a single file"), "{told}");

    let mut bench = Bench::new();
    named(&mut bench, "mine/late");
    let told = bench.run("cat {}/mine/own.md").await;
    assert!(told.starts_with("my own\n") && told.contains("/mine/late` is not there"), "{told}");
    fs::create_dir(bench.path("mine/late")).unwrap();
    fs::write(bench.path("mine/late/letter.md"), "Dear all").unwrap();
    hand_over(bench.folder.path());
    let told = bench.run("cat {}/mine/la\"\"te/letter.md").await;
    assert!(!told.contains("Dear all") && told.contains("/mine/late` was made after Limpid was started"), "{told}");
}

// SEC-058 SEC-088
#[tokio::test]
async fn no_program_sees_a_folder_of_the_owners_that_was_made_later_in_one_that_is_not_theirs() {
    for around in ["theirs", "tools"] {
        let mut bench = Bench::new();
        fs::create_dir(bench.path("tools")).unwrap();
        bench.programs.toolchains = vec![bench.path("tools")];
        let late = bench.path(around).join("late");
        let root = Root { folder: late.clone(), write: true, trust: Trust::File };
        bench.programs.grants = bench.programs.grants.clone().with(root);
        hand_over(bench.folder.path());
        assert!(bench.run("cat {}/mine/own.md").await.starts_with("my own\n"));
        fs::create_dir(&late).unwrap();
        fs::write(late.join("diary.md"), "Dear diary").unwrap();
        hand_over(bench.folder.path());
        let told = bench.run(&format!("cat {{}}/{around}/la\"\"te/diary.md")).await;
        assert!(!told.contains("Dear diary") && told.contains("/late` was made after Limpid was started"), "{told}");
    }
}

// SEC-058 SEC-075
#[tokio::test]
async fn a_folder_whose_path_begins_like_a_strangers_is_none_of_theirs_and_a_yes_is_bound_to_theirs() {
    let bench = Bench::new();
    fs::create_dir(bench.path("mine/theirs-no-more")).unwrap();
    hand_over(bench.folder.path());
    let told = bench.run("touch {}/mine/theirs-no-more/new && echo made").await;
    assert_eq!(told, "made\nExit code: 0");
    let exec = Exec::new(Arc::new(bench.programs.clone()));
    let folders = |command: &str| {
        let command = command.replace("{}", &bench.folder.path().display().to_string());
        exec.starts(&json!({ "command": command })).unwrap().folders
    };
    let theirs = bench.path("theirs").canonicalize().unwrap();
    assert!(folders("cat {}/theirs/letter.md").contains(&theirs) && !folders("cat {}/mine/own.md").contains(&theirs));
}

// SEC-088
#[tokio::test]
async fn a_nested_grant_that_is_swapped_while_a_program_runs_shows_nothing_and_stops_the_next() {
    let bench = Bench::new();
    // The words are put together by the shell, so that the call itself names no low place.
    let looks = "touch ready; until [ -e go ]; do sleep 0.01; done; ls -R {}/mine; cat {}/mine/the\"\"irs/* {}/mine/old/*; echo end";
    let swap = async {
        while !bench.path("home/workspace/ready").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        fs::rename(bench.path("mine/theirs"), bench.path("mine/old")).unwrap();
        symlink(bench.path("nowhere"), bench.path("mine/theirs")).unwrap();
        fs::write(bench.path("home/workspace/go"), "").unwrap();
    };
    let (told, ()) = tokio::join!(bench.run(looks), swap);
    assert!(told.contains("was replaced or removed while it ran"), "{told}");
    assert!(!told.contains("letter.md\n") && !told.contains("Dear all"), "{told}");
    let told = bench.run("cat {}/mine/old/letter.md").await;
    assert!(told.contains("/mine/theirs` is not the one any more that was granted: that one is at `"), "{told}");
    assert!(!told.contains("Dear all"), "{told}");
}

/// The cover of a closed folder goes with the folder, as when another branch is checked out and the old one again.
// SEC-058 SEC-075
#[tokio::test]
async fn a_program_ends_and_says_nothing_of_the_owners_once_what_it_must_not_see_is_made_anew() {
    for change in ["removed and made anew", "another in its place", "made where none was", "none"] {
        let mut bench = Bench::new();
        let late = Root { folder: bench.path("mine/late"), write: true, trust: Trust::Outside };
        bench.programs.grants = bench.programs.grants.clone().with(late);
        let folder = bench.folder.path().display();
        let looks = format!(
            "touch ready; until [ -e go ]; do cat {folder}/mine/the\"\"irs/letter.md {folder}/mine/la\"\"te/letter.md; \
             sleep 0.01; done 2>/dev/null; echo end"
        );
        let (exec, call) = (Exec::new(Arc::new(bench.programs.clone())), json!({ "command": looks }));
        let other = async {
            while !bench.path("home/workspace/ready").exists() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            let (theirs, late) = (bench.path("mine/theirs"), bench.path("mine/late"));
            let made = match change {
                "removed and made anew" => {
                    fs::remove_dir_all(&theirs).unwrap();
                    theirs
                }
                "another in its place" => {
                    fs::rename(&theirs, bench.path("old")).unwrap();
                    theirs
                }
                "made where none was" => late,
                _ => {
                    // What lies in it may change.
                    fs::write(theirs.join("letter.md"), "Dear all, again").unwrap();
                    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
                    return fs::write(bench.path("home/workspace/go"), "").unwrap();
                }
            };
            fs::create_dir(&made).unwrap();
            fs::write(made.join("letter.md"), "Dear all").unwrap();
            hand_over(&made);
        };
        let context = judged(&exec, &context(Trust::Owner), &call);
        let (said, ()) = tokio::join!(exec.run(&context, call), other);
        let (told, trust) = said.unwrap().into_parts();
        if change == "none" {
            assert!(told.starts_with("end\nExit code: 0") && !trust.is_foreign(), "{told}");
            assert!(!told.contains("while it ran"), "{told}");
        } else {
            assert!(
                trust.is_foreign() && told.contains("Ended: a folder that it must not see or change was replaced"),
                "{change}: {told}"
            );
            assert!(told.contains("` was replaced or removed while it ran") && !told.contains("end\n"), "{told}");
        }
    }
}

// SEC-088 SEC-058
#[tokio::test]
async fn a_grant_around_the_home_shows_nothing_of_it_but_the_workspace() {
    let mut bench = Bench::new();
    let around = Root { folder: bench.folder.path().to_owned(), write: true, trust: Trust::File };
    bench.programs.grants = bench.programs.grants.clone().with(around);
    let told = bench.run("cat tea.md {}/nowhere/letter.md; ls {}/home; cat {}/home/soul.md; touch {}/home/new").await;
    assert!(told.starts_with("oolong\nDear all\noutside\nskills\nworkspace\nSTDERR:"), "{told}");
    assert!(told.contains("soul.md: No such file") && told.contains("Read-only file system"), "{told}");
}
