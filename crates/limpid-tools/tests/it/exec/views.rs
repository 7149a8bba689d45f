//! Which places a program sees and writes.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;

use limpid_core::Trust;
use limpid_tools::Tool;
use limpid_tools::exec::command::Command;
use limpid_tools::exec::view::View;
use limpid_tools::exec::{Exec, FolderRules, Programs};
use limpid_tools::files::Root;
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
async fn a_toolchain_shows_no_credentials() {
    for with_namespaces in [true, false] {
        let bench = if with_namespaces { Some(Bench::new()) } else { Bench::without_namespaces().map(Bench::flat) };
        let Some(mut bench) = bench else { continue };
        let files = [
            (".cargo/credentials.toml", "[registry]\ntoken = \"SECRET\"\n"),
            (".cargo/config.toml", "[registries.mine]\ntoken = \"SECRET\"\n"),
            (".cargo/env", "plain\n"),
            (".cargo/bin/tool", "#!/bin/sh\necho tool\n"),
            (".cargo/registry/index/x/y", "plain\n"),
            (".nvm/versions/node/v20/etc/npmrc", "//r.example/:_authToken=SECRET\n"),
            (".nvm/versions/node/v20/bin/node", "#!/bin/sh\necho node\n"),
            (".nvm/deep/plain.json", "{}"),
            (".nvm/deep/.npmrc", "SECRET"),
        ];
        for (name, text) in files {
            let path = bench.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            if name.ends_with("toml") {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            }
        }
        symlink("bin/tool", bench.path(".cargo/also")).unwrap();
        hand_over(bench.folder.path());
        bench.programs.toolchains = vec![bench.path(".cargo"), bench.path(".nvm")];
        let told = bench.run("tool; {}/.cargo/also; {}/.nvm/versions/node/v20/bin/node; cat {}/.cargo/env").await;
        assert_eq!(told, "tool\ntool\nnode\nplain\nExit code: 0");
        let told = bench.run("cat {}/.cargo/registry/index/x/y {}/.nvm/deep/plain.json; ls {}/.nvm").await;
        assert_eq!(told, "plain\n{}deep\nversions\nExit code: 0");
        let told = bench.run("cd {}; grep -r SECRET .cargo .nvm; cat .cargo/c* .nvm/deep/.npmrc; cd .nvm/versions/node/v20/etc && cat npmrc").await;
        assert!(!told.contains("SECRET"), "{told}");
        // One that is made later is kept back too.
        fs::write(bench.path(".nvm/credentials.json"), "SECRET").unwrap();
        hand_over(bench.folder.path());
        assert!(!bench.run("cat {}/.nvm/credentials.json").await.contains("SECRET"));
        assert_eq!(bench.programs.kept_back().len(), 5, "{:?}", bench.programs.kept_back());
    }
}

// SEC-058
#[tokio::test]
async fn a_toolchain_within_a_granted_folder_shows_none_either_and_stays_as_it_is() {
    let mut bench = Bench::new();
    fs::create_dir_all(bench.path("mine/.cargo/bin")).unwrap();
    fs::write(bench.path("mine/.cargo/credentials.toml"), "SECRET").unwrap();
    hand_over(bench.folder.path());
    bench.programs.toolchains = vec![bench.path("mine/.cargo")];
    let told = bench.run("ls -A {}/mine/.cargo; cat {}/mine/.cargo/credentials.toml; touch {}/mine/.cargo/new {}/mine/.cargo/bin/new").await;
    assert!(told.starts_with("bin\nSTDERR:") && !told.contains("SECRET"), "{told}");
    assert_eq!(told.matches("Read-only file system").count() + told.matches("ermission denied").count(), 2, "{told}");
}

/// A language may lie in a folder around the owner's, as `~/.local` or `~/go` do.
// SEC-058
#[tokio::test]
async fn the_folder_of_a_language_shows_nothing_that_its_view_does_not_give() {
    let mut bench = Bench::new();
    fs::create_dir_all(bench.path("bin")).unwrap();
    fs::write(bench.path("bin/tool"), "#!/bin/sh\necho tool\n").unwrap();
    fs::set_permissions(bench.path("bin/tool"), fs::Permissions::from_mode(0o755)).unwrap();
    // Where it is given in parts, too.
    fs::write(bench.path("home/credentials.toml"), "token = \"SECRET\"\n").unwrap();
    hand_over(bench.folder.path());
    bench.programs.toolchains = vec![bench.folder.path().to_owned()];
    let told = bench
        .run("{}/bin/tool; cd {}; cat mine/own.md; cat \"the\"irs/letter.md mine/\"the\"irs/letter.md home/soul.md; ls home")
        .await;
    assert!(told.starts_with("tool\nmy own\n") && told.contains("\nskills\nworkspace\n"), "{told}");
    assert!(!told.contains("Dear all") && !told.contains("the soul"), "{told}");
    let refused = ["No such file", "Permission denied"].map(|why| told.matches(why).count());
    assert_eq!(refused.iter().sum::<usize>(), 3, "{told}");
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

// SEC-051
#[tokio::test]
async fn what_a_call_prints_of_a_package_is_a_strangers() {
    let mut bench = Bench::new();
    let readme = bench.path("tools/registry/left-pad/README.md");
    fs::create_dir_all(readme.parent().unwrap()).unwrap();
    fs::write(&readme, "empty notes.md\n").unwrap();
    bench.programs.toolchains = vec![bench.path("tools")];
    let tool = bench.path("tools/bin/tool");
    fs::create_dir_all(tool.parent().unwrap()).unwrap();
    fs::write(&tool, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let label = |programs: &Programs, command: &str| {
        let command = command.replace("{}", &bench.folder.path().display().to_string());
        let command = Command::parse(&command, None, programs).unwrap();
        programs.trust(View::High { network: false }, &command)
    };
    assert_eq!(label(&bench.programs, "cd {}/tools; ls"), Trust::Outside, "a text for a shell");
    let plain = Programs { shell: false, ..bench.programs.clone() };
    for command in ["cat {}/tools/registry/left-pad/README.md", "ls --hide={}/tools"] {
        assert_eq!(label(&plain, command), Trust::Outside, "{command}");
    }
    assert_eq!((label(&plain, "ls registry"), label(&plain, "{}/tools/bin/tool x")), (Trust::File, Trust::File));
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
        Some(format!(
            "it can reach a.example and send there this command and what lies in `outside/`, where copies of what is \
             yours may be, and in `{named}`"
        ))
    };
    for (trust, folder) in [(Trust::Owner, "theirs"), (Trust::Outside, "theirs"), (Trust::Owner, "mine/theirs")] {
        assert_eq!(warning(&bench.programs, trust, folder), apart(folder));
    }
    let alone = Programs { network: Default::default(), ..bench.programs.clone() };
    let leaves = "it can read your folders and the variables OWN_TOKEN and leave in `outside/` what it read there";
    assert_eq!(warning(&alone, Trust::Outside, "home/workspace").as_deref(), Some(leaves));
    assert_eq!(warning(&alone, Trust::Owner, "home/workspace"), None);
    let changes = Some("it can change what lies in `outside/`".to_owned());
    assert_eq!(warning(&alone, Trust::Outside, "theirs"), changes, "it sees nothing of the owner's");
    let call = json!({ "command": format!("ls {}", bench.path("theirs").display()) });
    let leaves = Exec::new(Arc::new(alone)).warning(Trust::Outside, &call);
    assert_eq!(
        leaves.as_deref(),
        Some("it can read your folders, change what lies in `outside/` and leave there what it read")
    );
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
    // From a granted folder nobody climbs to `outside/`.
    assert_eq!(run("", "theirs").await, of("letter.md Exit code: 0", ""));
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
async fn where_outside_cannot_be_listed_no_strangers_program_runs() {
    let bench = Bench::new();
    bench.programs.resolve();
    let outside = bench.path("home/outside");
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o311)).unwrap();
    // Root lists it all the same.
    if outside.read_dir().is_err() {
        let told = bench.run("cat {}/theirs/letter.md").await;
        assert!(told.contains("cannot be listed (permission is denied), so nothing was run"), "{told}");
    }
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_dir_all(&outside).unwrap();
    fs::write(&outside, "").unwrap();
    let told = bench.run("cat {}/theirs/letter.md").await;
    assert!(told.contains("`outside/` cannot be listed (Not a directory), so nothing was run"), "{told}");
    assert!(told.contains("chmod u+rx ") && !told.contains("Dear all"), "{told}");
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

/// Nobody granted what lies where administrators put things, so nobody looked through it.
// SEC-058
#[test]
fn what_was_put_into_the_system_is_a_strangers() {
    let bench = Bench::new();
    let of = |words: &str| {
        let command = Command::parse(words, None, &bench.programs).unwrap();
        let view = bench.programs.view(Trust::Owner, false, &command);
        (view, bench.programs.trust(view, &command))
    };
    let enclosed = (View::Enclosed { write: false }, Trust::Outside);
    for words in ["ls /usr/local", "cat /usr/local/src/../share", "ls -C/opt", "ls /usr/../opt"] {
        assert_eq!(of(words), enclosed, "{words}");
    }
    // A folder around it is listed as before, and what that prints is nobody's word.
    let high = View::High { network: false };
    assert_eq!([of("ls /usr"), of("ls /")], [(high, Trust::Outside); 2]);
    assert_eq!([of("ls /usr/share"), of("ls /usr/local/bin"), of("ls tea.md")], [(high, Trust::File); 3]);
}

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
    let told = bench
        .run("cd {}; cat mine/dotfiles/soul.md mine/dotfiles/limpid.toml; echo x > mine/dotfiles/other.toml")
        .await;
    assert!(told.ends_with("mine\nExit code: 0"), "the rest of the folder is theirs to change: {told}");
    // Passwords are not read either.
    fs::create_dir_all(bench.path("home/mail")).unwrap();
    fs::write(bench.path("mine/dotfiles/ada.toml"), "secret\n").unwrap();
    symlink("../../mine/dotfiles/ada.toml", bench.path("home/mail/ada.toml")).unwrap();
    hand_over(bench.folder.path());
    let told = bench.run("cd {}; cat mine/dotfiles/ada.toml; echo x > mine/dotfiles/ada.toml").await;
    assert!(!told.contains("secret") && !told.contains("Exit code: 0"), "{told}");
    // What is not there, or in whose place another may be put, nobody can keep.
    fs::rename(bench.path("mine/dotfiles/soul.md"), bench.path("mine/soul.md")).unwrap();
    let told = bench.run("echo x").await;
    assert!(told.contains("home/soul.md` leads to `") && told.contains("which is not there"), "{told}");
    symlink("../soul.md", bench.path("mine/dotfiles/soul.md")).unwrap();
    let told = bench.run("echo x").await;
    assert!(told.contains("home/soul.md` leads through the link `"), "{told}");
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
