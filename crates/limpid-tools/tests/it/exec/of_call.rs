//! A call is judged by what its command leads to at one moment, and runs as nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;

use limpid_core::Trust;
use limpid_core::policy::Destination;
use limpid_tools::exec::{Exec, FolderRules};
use limpid_tools::{StrangersProgram, Tool};
use serde_json::{Value, json};

use super::kit::{Bench, hand_over, judged};
use crate::kit::context;

fn home() -> Bench {
    let mut bench = Bench::new();
    bench.programs.shell = false;
    fs::create_dir_all(bench.path("theirs/data")).unwrap();
    fs::write(bench.path("theirs/data/readme.md"), "a readme\n").unwrap();
    fs::create_dir(bench.path("home/outside/data")).unwrap();
    hand_over(bench.folder.path());
    bench
}

fn call(bench: &Bench, command: &str, folder: &str) -> Value {
    let command = command.replace("{}", &bench.folder.path().display().to_string());
    json!({ "command": command, "working_dir": bench.path(folder).display().to_string() })
}

/// Whether a call leads to the same after something was done as before.
fn stays(bench: &Bench, call: &Value, done: impl FnOnce()) -> bool {
    let exec = Exec::new(Arc::new(bench.programs.clone()));
    let found = || exec.for_call(call).unwrap().leads_to(call);
    let before = found();
    assert!(before.is_some() && found() == before, "nothing has changed");
    done();
    found() == before
}

fn exchange(folder: &Path, with: &Path) {
    fs::remove_dir_all(folder).unwrap();
    symlink(with, folder).unwrap();
}

// SEC-058 SEC-078
#[test]
fn another_folder_or_another_program_is_another_call() {
    for (command, folder) in [("ls", "theirs/data"), ("cat data/own.md", "theirs")] {
        let bench = home();
        let call = call(&bench, command, folder);
        let links = || exchange(&bench.path("theirs/data"), &bench.path("mine"));
        assert!(!stays(&bench, &call, links), "a link leads elsewhere: {command}");
    }
    let bench = home();
    let anew = || {
        fs::rename(bench.path("theirs/data"), bench.path("theirs/old")).unwrap();
        fs::create_dir(bench.path("theirs/data")).unwrap();
    };
    assert!(!stays(&bench, &call(&bench, "ls", "theirs/data"), anew), "another one of the same name");
    let tool = bench.path("theirs/tool");
    let put = |text: &str| {
        // Beside it, so that it is another file.
        fs::write(bench.path("theirs/new"), text).unwrap();
        fs::set_permissions(bench.path("theirs/new"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(bench.path("theirs/new"), &tool).unwrap();
    };
    put("#!/bin/sh\n");
    assert!(!stays(&bench, &call(&bench, "./tool", "theirs"), || put("#!/bin/sh\nls\n")), "another program");
}

/// Programs of one turn make files for each other.
// SEC-058
#[test]
fn what_decides_nothing_may_come_and_go() {
    let bench = home();
    let reads = call(&bench, "cat new/report.md tea.md", "home/workspace");
    let made = || {
        fs::create_dir(bench.path("home/workspace/new")).unwrap();
        fs::write(bench.path("home/workspace/new/report.md"), "ready").unwrap();
        fs::remove_file(bench.path("home/workspace/tea.md")).unwrap();
    };
    assert!(stays(&bench, &reads, made));
}

/// Both views are those of programs that see something, but one of them sees what is the owner's.
// SEC-058 SEC-065
#[test]
fn a_call_that_would_see_the_owners_places_is_not_one_that_would_not() {
    let mut bench = home();
    let listed = bench.path("home/outside/data");
    let rules = FolderRules { folder: listed.clone(), programs: vec!["cat".to_owned()], limits: bench.programs.limits };
    bench.programs.folders = vec![rules];
    let way = bench.path("theirs/way");
    symlink(&listed, &way).unwrap();
    let reads = call(&bench, "cat {}/home/workspace/tea.md", "theirs/way");
    let exec = Exec::new(Arc::new(bench.programs.clone()));
    let program = || exec.strangers_program(Trust::Outside, false, &reads);
    assert_eq!((program(), exec.runs_unasked(&reads)), (Some(StrangersProgram::Sees), true));
    let elsewhere = || {
        fs::remove_file(&way).unwrap();
        symlink(bench.path("home/workspace"), &way).unwrap();
    };
    assert!(!stays(&bench, &reads, elsewhere));
    assert_eq!((program(), exec.runs_unasked(&reads)), (Some(StrangersProgram::Sees), false));
}

// SEC-058 SEC-078 SEC-100
#[tokio::test]
async fn a_call_is_what_was_found_for_it_and_starts_in_no_other_folder() {
    for is_link in [true, false] {
        let mut bench = home();
        bench.programs.network.names.push("a.example".to_owned());
        let lists = call(&bench, "ls", "home/outside/data");
        let exec = Exec::new(Arc::new(bench.programs.clone()));
        let of_call = exec.for_call(&lists).unwrap();
        let knows = judged(&exec, &context(Trust::Owner), &lists);
        let before = of_call.destination(&lists);
        let Some(Destination::Program { sees, .. }) = &before else { panic!("{before:?}") };
        assert_eq!(Vec::from_iter(sees), ["outside/"]);
        let said = of_call.run(&knows, lists.clone()).await.unwrap().into_parts().0;
        assert_eq!(said, "Exit code: 0");
        // Between the last look and the start of the program.
        fs::rename(bench.path("home/outside/data"), bench.path("home/outside/old")).unwrap();
        if is_link {
            symlink(bench.path("theirs"), bench.path("home/outside/data")).unwrap();
        } else {
            fs::create_dir(bench.path("home/outside/data")).unwrap();
            fs::write(bench.path("home/outside/data/letter.md"), "").unwrap();
        }
        hand_over(bench.folder.path());
        assert_eq!(of_call.destination(&lists), before, "all is said of what was found");
        let said = of_call.run(&knows, lists.clone()).await.unwrap().into_parts().0;
        assert!(!said.contains("letter.md") && !said.contains("Exit code: 0"), "{said}");
        assert!(is_link || said.contains("was replaced after the call was checked; call it again"), "{said}");
        assert_ne!(exec.for_call(&lists).unwrap().leads_to(&lists), of_call.leads_to(&lists));
    }
}
