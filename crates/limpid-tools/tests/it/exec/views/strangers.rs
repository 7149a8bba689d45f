//! What a program that may be a stranger's sees: what the call names, and nothing of the owner's besides.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;

use limpid_core::Trust;
use limpid_tools::Tool;
use limpid_tools::exec::confinement::Limits;
use limpid_tools::exec::{Exec, FolderRules, Programs};
use serde_json::json;

use crate::exec::kit::{Bench, hand_over, judged};
use crate::kit::context;

// SEC-058 SEC-087
#[tokio::test]
async fn a_question_says_what_a_program_could_read_and_where_it_could_send() {
    let mut bench = Bench::new();
    bench.programs.shell = false;
    bench.programs.network.names.push("a.example".to_owned());
    bench.programs.own_environment = vec![("OWN_TOKEN".to_owned(), "4711".to_owned())];
    let warning = |programs: &Programs, trust, folder: &str| {
        let call = json!({ "command": "ls", "working_dir": bench.path(folder).display().to_string() });
        Exec::new(Arc::new(programs.clone())).warning(trust, &call)
    };
    let both = Some("it can read your folders and the variables OWN_TOKEN and send to a.example".to_owned());
    assert_eq!(warning(&bench.programs, Trust::Outside, "home/workspace"), both);
    assert_eq!(warning(&bench.programs, Trust::Owner, "home/workspace"), both);
    let apart = |folder: &str| {
        let named = bench.path(folder).display().to_string();
        Some(format!("it can reach a.example and send there this command and what lies in `{named}`"))
    };
    for (trust, folder) in [(Trust::Owner, "theirs"), (Trust::Outside, "theirs"), (Trust::Owner, "mine/theirs")] {
        assert_eq!(warning(&bench.programs, trust, folder), apart(folder));
    }
    let alone = Programs { network: Default::default(), ..bench.programs.clone() };
    let leaves = "it can read your folders and the variables OWN_TOKEN, change nothing in them, and leave in `outside/` what it read there";
    assert_eq!(warning(&alone, Trust::Outside, "home/workspace").as_deref(), Some(leaves));
    assert_eq!(warning(&alone, Trust::Owner, "home/workspace"), None);
    let leaves = Some("it can leave files in `outside/`".to_owned());
    assert_eq!(warning(&alone, Trust::Outside, "theirs"), leaves, "it sees nothing of the owner's");
    let changes = Some("it can change what lies in `outside/`".to_owned());
    assert_eq!(warning(&alone, Trust::Outside, "home/outside"), changes);
    let names = |programs: &Programs, place: &str, folder: &str| {
        let (words, folder) = (format!("ls {}", bench.path(place).display()), bench.path(folder).display().to_string());
        let call = json!({ "command": words, "working_dir": folder });
        Exec::new(Arc::new(programs.clone())).warning(Trust::Outside, &call).unwrap_or_default()
    };
    let leaves = "it can read your folders and leave in `outside/` what it read";
    assert_eq!(names(&alone, "theirs", "home/workspace"), leaves);
    let changes = "it can read your folders, change what lies in `outside/` and leave there what it read";
    assert_eq!(names(&alone, "home/outside", "home/workspace"), changes);
    let sends = "it can reach a.example and send there this command and what lies in `outside/`, where copies of what is yours may be";
    let theirs = bench.path("theirs").display().to_string();
    assert_eq!(names(&bench.programs, "home/outside", "theirs"), format!("{sends}, and in `{theirs}`"));
}

// SEC-058 SEC-087
#[tokio::test]
async fn a_question_names_the_languages_and_the_own_network_that_leave_by_a_yes() {
    let mut bench = Bench::new();
    bench.programs.shell = false;
    let language = bench.path(".cargo");
    fs::create_dir(&language).unwrap();
    hand_over(bench.folder.path());
    bench.programs.toolchains = vec![language.clone()];
    let warning = |programs: &Programs, command: &str, folder: &str| {
        let command = command.replace("{}", &bench.folder.path().display().to_string());
        let call = json!({ "command": command, "working_dir": bench.path(folder).display().to_string() });
        let exec = Exec::new(Arc::new(programs.clone()));
        (exec.warning(Trust::Outside, &call).unwrap_or_default(), exec.bound_to(&call))
    };
    let language = language.display().to_string();
    let (told, bound) = warning(&bench.programs, "ls", "theirs");
    assert_eq!(told, format!("it can leave in `outside/` what lies in `{language}`"));
    assert!(bound.contains(&language), "{bound:?}");
    let (told, _) = warning(&bench.programs, "ls {}/theirs", "home/workspace");
    let reads = format!("it can read your folders, `{language}`");
    assert_eq!(told, format!("{reads} and leave in `outside/` what it read"));
    let (told, _) = warning(&bench.programs, "ls", "home/workspace");
    assert_eq!(told, format!("{reads}, change nothing in them, and leave in `outside/` what it read there"));
    let mut programs = bench.programs.clone();
    programs.network.names = vec!["a.example".to_owned(), "10.20.30.40:8080".to_owned()];
    let (told, before) = warning(&programs, "ls", "theirs");
    let seen = format!(" and what lies in `{}`, and in `{language}`", bench.path("theirs").display());
    assert!(told.ends_with(&seen), "{told}");
    programs.network.also = vec!["10.20.30.40".parse().unwrap()];
    let own = "; what 10.20.30.40:8080 says, in your own network, it can send to a.example";
    for folder in ["theirs", "home/workspace"] {
        let (told, _) = warning(&programs, "ls", folder);
        assert!(told.ends_with(own), "{told}");
    }
    assert_ne!(warning(&programs, "ls", "theirs").1, before, "a yes is to what it told of");
    let call = json!({ "command": "ls", "working_dir": bench.path("theirs").display().to_string() });
    let leads = Exec::new(Arc::new(programs.clone())).destination(&call).unwrap().to_string();
    let theirs = bench.path("theirs").display().to_string();
    let mut sees = [language.clone(), theirs, "10.20.30.40:8080 in your network".to_owned()];
    sees.sort();
    let sees = sees.map(|seen| format!("{seen:?}")).join(", ");
    assert!(
        leads.ends_with(&format!(" to 10.20.30.40:8080, a.example, seeing {sees}")),
        "so is a lasting one: {leads}"
    );
    programs.network.names.remove(0);
    assert!(!warning(&programs, "ls", "theirs").0.contains("own network"), "there is nobody to send it to");
}

/// A lasting yes was told of what the command names, and whoever wrote the link may have it lead elsewhere by the next call.
// SEC-058 SEC-078
#[tokio::test]
async fn what_a_strangers_link_leads_to_among_what_people_installed_is_not_seen() {
    let mut bench = Bench::new();
    bench.programs.shell = false;
    symlink("/opt", bench.path("theirs/data")).unwrap();
    hand_over(bench.folder.path());
    let bound = |word: &str| {
        let command = format!("ls {}", word.replace("{}", &bench.folder.path().display().to_string()));
        let call = json!({ "command": command, "working_dir": bench.path("theirs").display().to_string() });
        Exec::new(Arc::new(bench.programs.clone())).bound_to(&call)
    };
    let names_opt = |word: &str| bound(word).iter().any(|seen| seen == "/opt");
    assert!(names_opt("/opt"), "it is named itself: {:?}", bound("/opt"));
    assert!(!names_opt("{}/theirs/data") && !names_opt("data"), "{:?}", bound("data"));
}

/// A program that says which of these paths it sees.
fn sees(paths: &[&str]) -> String {
    let paths = paths.iter().map(|path| format!("'{{}}/{path}'")).collect::<Vec<_>>().join(", ");
    format!("python3 -c \"import os; print([path[-3:] for path in [{paths}] if os.path.exists(path)])\"")
}

// SEC-058 SEC-065
#[tokio::test]
async fn of_outside_a_strangers_program_sees_its_own_folder_and_those_that_it_names() {
    let mut bench = Bench::new();
    bench.programs.shell = false;
    for folder in ["own/deep", "two", "node_modules"] {
        fs::create_dir_all(bench.path("home/outside").join(folder)).unwrap();
        fs::write(bench.path("home/outside").join(folder).join("a.x"), "1").unwrap();
    }
    fs::write(bench.path("home/outside/own/a.x"), "1").unwrap();
    symlink("../two", bench.path("home/outside/own/way")).unwrap();
    let paths = ["own/a.x", "two/a.x", "node_modules/a.x", "letter.md"];
    let looks = "import os, sys\n[print(path) for path in PATHS if os.path.exists('BENCH/' + path)]\n";
    let looks = looks.replace("PATHS", &format!("{paths:?}"));
    let looks = looks.replace("BENCH", &bench.path("home/outside").display().to_string());
    fs::write(bench.path("home/outside/own/deep/look.py"), &looks).unwrap();
    fs::write(bench.path("theirs/look.py"), &looks).unwrap();
    hand_over(bench.folder.path());
    let exec = Exec::new(Arc::new(bench.programs.clone()));
    let run = async |words: &str, folder: &str| {
        let command =
            format!("python3 look.py {words}").replace("{}", &bench.path("home/outside").display().to_string());
        let call = json!({ "command": command, "working_dir": bench.path(folder).display().to_string() });
        let started = exec.starts(&call).unwrap();
        let bound: std::collections::BTreeSet<_> = started.folders.into_iter().chain(started.files_in).collect();
        let bound = bound.iter().filter_map(|path| path.strip_prefix(bench.path("home/outside")).ok());
        let bound = bound.map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ");
        let said = exec.run(&judged(&exec, &context(Trust::Owner), &call), call).await.unwrap().into_parts().0;
        (said.replace('\n', " "), bound)
    };
    let (own, start) = ("own/a.x letter.md Exit code: 0", "home/outside/own/deep");
    let of = |said: &str, bound: &str| (said.to_owned(), bound.to_owned());
    assert_eq!(run("", start).await, of(own, " own"));
    let both = "own/a.x two/a.x letter.md Exit code: 0";
    assert_eq!(run("{}/two", start).await, of(both, " own two"));
    assert_eq!(run("--with={}/two/a.x", start).await, of(both, " own two"));
    // Whoever may change a link would choose what is seen.
    assert_eq!(run("../way", start).await, of(own, " own two"));
    let all = "own/a.x two/a.x node_modules/a.x letter.md Exit code: 0";
    assert_eq!(run("{}", start).await, of(all, ""));
    // From a granted folder it sees nothing of `outside/`.
    assert_eq!(run("", "theirs").await, of("Exit code: 0", ""));
}

// SEC-058 SEC-065
#[tokio::test]
async fn of_many_folders_in_outside_none_is_seen_that_is_not_named() {
    let mut bench = Bench::new();
    bench.programs.shell = false;
    let outside = bench.path("home/outside");
    let fill = |names: &mut dyn Iterator<Item = String>| {
        names.for_each(|name| {
            fs::create_dir_all(outside.join(&name)).unwrap();
            fs::write(outside.join(name).join("a.x"), "1").unwrap();
        });
        let looks = "import glob; print(len(glob.glob('../*')), len(glob.glob('../*/a.x')))";
        fs::create_dir_all(outside.join("own")).unwrap();
        fs::write(outside.join("own/look.py"), looks).unwrap();
        hand_over(bench.folder.path());
    };
    let exec = Exec::new(Arc::new(bench.programs.clone()));
    let call = json!({ "command": "python3 look.py", "working_dir": outside.join("own").display().to_string() });
    let run = async || {
        let said = exec.run(&judged(&exec, &context(Trust::Owner), &call), call.clone()).await;
        said.map_or_else(|refused| refused.text().to_owned(), |said| said.into_parts().0)
    };
    fill(&mut (0..300).map(|number| number.to_string()));
    assert_eq!(run().await, "302 0\nExit code: 0");
    fill(&mut (0..500).map(|number| format!("{number:0200}")));
    let refused = run().await;
    assert!(refused.contains("too many folders to pass to the sandbox"), "{refused}");
    fs::remove_dir_all(&outside).unwrap();
    fill(&mut std::iter::empty());
    let odd = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"a\xff");
    fs::create_dir(outside.join(odd)).unwrap();
    let refused = run().await;
    assert!(refused.contains("has a name that is no text"), "{refused}");
}

/// A program may have closed it, and what lies there opens by its name all the same.
// SEC-058
#[tokio::test]
async fn where_outside_cannot_be_listed_no_strangers_program_runs_that_names_something_there() {
    let bench = Bench::new();
    bench.programs.resolve();
    let outside = bench.path("home/outside");
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o311)).unwrap();
    // Root lists it all the same.
    if outside.read_dir().is_err() {
        let told = bench.run("cat {}/theirs/letter.md {}/home/outside/x").await;
        assert!(told.contains("cannot be listed (permission is denied), so nothing was run"), "{told}");
    }
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_dir_all(&outside).unwrap();
    fs::write(&outside, "").unwrap();
    let told = bench.run("cat {}/theirs/letter.md {}/home/outside/x").await;
    assert!(told.contains("`outside/` cannot be listed (Not a directory), so nothing was run"), "{told}");
    assert!(told.contains("chmod u+rx ") && !told.contains("Dear all"), "{told}");
}

/// A package of the owner's repository puts a link in the place of a folder with rules of its own, or of one above it.
// SEC-058 SEC-065
#[test]
fn programs_run_unasked_in_no_folder_that_a_link_leads_to() {
    let mut bench = Bench::new();
    bench.programs.shell = false;
    let rules = |folder| FolderRules {
        folder,
        programs: vec!["python3".to_owned()],
        limits: Limits { seconds: 7, ..Limits::default() },
    };
    fs::create_dir_all(bench.path("theirs/sub")).unwrap();
    symlink("../theirs", bench.path("mine/link")).unwrap();
    hand_over(bench.folder.path());
    let folder = bench.path("theirs/sub").display().to_string();
    let unasked = |bench: &Bench| {
        let exec = Exec::new(Arc::new(bench.programs.clone()));
        exec.runs_unasked(&json!({ "command": "python3 run.py", "working_dir": folder }))
    };
    for name in ["theirs", "theirs/sub"] {
        bench.programs.folders = vec![rules(bench.path(name))];
        assert!(unasked(&bench), "{name}");
    }
    for name in ["mine/link", "mine/link/sub", "mine/link/gone"] {
        bench.programs.folders = vec![rules(bench.path(name))];
        assert!(!unasked(&bench), "{name}");
    }
}

// SEC-058 SEC-065
#[tokio::test]
async fn what_may_be_a_strangers_and_names_nothing_of_the_owners_sees_nothing_of_it() {
    let mut bench = Bench::new();
    bench.programs.shell = false;
    bench.programs.own_environment = vec![("OWN_TOKEN".to_owned(), "4711".to_owned())];
    let limits = bench.programs.limits;
    let programs = vec!["python3".to_owned()];
    bench.programs.folders = vec![FolderRules { folder: bench.path("theirs"), programs, limits }];
    let paths = ["home/workspace/tea.md", "mine/own.md", "read/own.md", "home/skills/tea/SKILL.md", "theirs/letter.md"];
    let command = sees(&paths).replace("{}", &bench.folder.path().display().to_string());
    let exec = Exec::new(Arc::new(bench.programs.clone()));
    let run = async |folder: &str, command: &str, trust| {
        let call = json!({ "command": command, "working_dir": bench.path(folder).display().to_string() });
        exec.run(&judged(&exec, &context(trust), &call), call).await.unwrap().into_parts().0
    };
    for trust in [Trust::Owner, Trust::Outside] {
        // It may name what it likes: its words are its own.
        assert_eq!(run("theirs", &command, trust).await, "['.md']\nExit code: 0", "{trust}");
        let told = run("theirs", "python3 -c 'import os; print(os.environ.get(\"OWN_TOKEN\"))'", trust).await;
        assert_eq!(told, "None\nExit code: 0");
    }
    fs::write(bench.path("home/outside/test.py"), "import glob; print(glob.glob('../workspace/*'))").unwrap();
    hand_over(bench.folder.path());
    assert_eq!(run("home/outside", "python3 test.py", Trust::Owner).await, "[]\nExit code: 0");
    // Where it starts in a folder of the owner's, as every call that says nothing else, that folder is empty for it.
    let starts = format!("python3 {}", bench.path("home/outside/list.py").display());
    let lists = "import os; print(os.getcwd()[-9:], os.listdir('.'), os.access(__file__, os.W_OK))";
    fs::write(bench.path("home/outside/list.py"), lists).unwrap();
    hand_over(bench.folder.path());
    for folder in ["home/workspace", "home/workspace/sub"] {
        let told = run(folder, &starts, Trust::Owner).await;
        assert!(told.ends_with(" [] False\nExit code: 0"), "{told}");
    }
}
