//! What a program sees of languages, packages and whatever else was installed.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use limpid_core::Trust;
use limpid_tools::exec::Programs;
use limpid_tools::exec::command::Command;
use limpid_tools::exec::view::View;

use crate::exec::kit::{Bench, hand_over};

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
        let kept_back = bench.programs.kept_back().unwrap();
        assert_eq!(kept_back.len(), 5, "{kept_back:?}");
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

// SEC-051
#[tokio::test]
async fn what_a_call_prints_of_a_package_is_a_strangers() {
    let mut bench = Bench::new();
    let readme = bench.path("tools/registry/left-pad/README.md");
    fs::create_dir_all(readme.parent().unwrap()).unwrap();
    fs::write(&readme, "empty notes.md\n").unwrap();
    bench.programs.toolchains = vec![bench.path("tools")];
    fs::create_dir_all(bench.path("tools/bin")).unwrap();
    for tool in ["tools/bin/tool", "tools/registry/left-pad/show"] {
        fs::write(bench.path(tool), "#!/bin/sh\n").unwrap();
        fs::set_permissions(bench.path(tool), fs::Permissions::from_mode(0o755)).unwrap();
    }
    symlink("../registry/left-pad/show", bench.path("tools/bin/show")).unwrap();
    symlink("../../tools/bin/tool", bench.path("home/workspace/tool")).unwrap();
    symlink("../../tools/registry/left-pad/show", bench.path("home/workspace/show")).unwrap();
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
    let shows = "{}/tools/registry/left-pad/show";
    for command in [shows, "{}/tools/bin/../registry/left-pad/show", "{}/tools/bin/show", "./show"] {
        assert_eq!(label(&plain, command), Trust::Outside, "the program is a package's: {command}");
    }
    for command in ["ls registry", "{}/tools/bin/tool x", "./tool"] {
        assert_eq!(label(&plain, command), Trust::File, "{command}");
    }
    let cargo = Programs { toolchains: vec![bench.path(".cargo")], ..bench.programs.clone() };
    fs::create_dir(bench.path(".cargo")).unwrap();
    assert_eq!(label(&cargo, "cat $CARGO_HOME/registry/left-pad/README.md"), Trust::Outside, "its variable");
    assert_eq!(label(&cargo, "echo $RUSTUP_HOME"), Trust::File, "there is none of that name");
    // Where the owner named its folder it is a program like those of the language.
    let named = Programs { path: vec![bench.path("tools/registry/left-pad")], ..plain.clone() };
    assert_eq!((label(&named, shows), label(&named, "show")), (Trust::File, Trust::File));
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

// SEC-058
#[test]
fn a_folder_that_programs_do_not_get_is_not_searched_for_programs() {
    let mut bench = Bench::new();
    for folder in ["theirs/bin", "tools/bin"] {
        fs::create_dir_all(bench.path(folder)).unwrap();
        fs::write(bench.path(folder).join("python3"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(bench.path(folder).join("python3"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    hand_over(bench.folder.path());
    bench.programs.shell = false;
    bench.programs.path = vec![bench.path("theirs/bin")];
    let found = |bench: &Bench| Command::parse("python3 tea.py", None, &bench.programs).unwrap().program;
    assert!(found(&bench).starts_with("/usr"), "{:?}", found(&bench));
    bench.programs.path.push(bench.path("tools/bin"));
    assert_eq!(found(&bench), bench.path("tools/bin/python3").canonicalize().unwrap());
}

/// A folder of a stranger's becomes one of a language by a link that they lay, or by lying there.
// SEC-058
#[tokio::test]
async fn no_folder_that_strangers_choose_or_fill_counts_as_a_languages() {
    let given = |name: &str| {
        let mut bench = Bench::new();
        for folder in ["theirs/bin", "mine/bin", "mine/theirs/bin", "langs/bin"] {
            fs::create_dir_all(bench.path(folder)).unwrap();
        }
        for (to, link) in [
            ("theirs", "mine/link"),
            ("nowhere", "mine/far"),
            ("langs", "theirs/link"),
            ("langs", "nowhere/link"),
            ("langs", "link"),
        ] {
            symlink(bench.path(to), bench.path(link)).unwrap();
        }
        hand_over(bench.folder.path());
        bench.programs.toolchains = vec![bench.path(name)];
        let mut as_path = bench.programs.clone();
        (as_path.path, as_path.toolchains, as_path.places) = (vec![bench.path(name)], Vec::new(), Default::default());
        let [told, of_path] = [&bench.programs, &as_path].map(Programs::left_out);
        assert_eq!(told.len(), of_path.len(), "{told:?} {of_path:?}");
        let why = told.into_iter().next().unwrap_or_default();
        let (_, why) = why.split_once("[exec] toolchains ").unwrap_or_default();
        why.split_once(';').unwrap_or_default().0.to_owned()
    };
    for name in ["langs", "langs/bin", "link/bin", "mine/bin", "missing", "mine/missing"] {
        assert_eq!(given(name), "", "{name}");
    }
    for name in ["theirs", "theirs/bin", "mine/theirs/bin", "home/outside"] {
        assert_eq!(given(name), "lies where strangers may have written", "{name}");
    }
    // Of a repository in `nowhere` only a folder may be named.
    for name in ["mine/link", "mine/link/bin", "mine/far", "theirs/link", "nowhere/link/bin"] {
        assert_eq!(given(name), "leads over a link that somebody else could have laid", "{name}");
    }
    assert_eq!(given("mine"), "is a folder of [files] itself");
    assert_eq!(given("home"), "is Limpid's home");
}

/// Each call of a program looks for credentials in it anew.
// SEC-058 SEC-093
#[tokio::test]
async fn a_toolchain_that_is_too_large_to_be_looked_through_stops_every_program_and_is_named() {
    let mut bench = Bench::new();
    fs::create_dir_all(bench.path("tools/lib")).unwrap();
    hand_over(bench.folder.path());
    bench.programs.toolchains = vec![bench.path("tools")];
    assert_eq!(bench.run("cat tea.md").await, "oolong\nExit code: 0");
    for n in 0..300 {
        let file = fs::File::create(bench.path(&format!("tools/lib/s{n}.json"))).unwrap();
        file.set_len(64 * 1024).unwrap();
    }
    let told = bench.run("cat tea.md").await;
    let named = format!("error: `{}` of [exec] toolchains holds too much", bench.path("tools").display());
    assert!(told.starts_with(&named) && told.ends_with("in limpid.toml"), "{told}");
    assert!(bench.programs.kept_back().is_err(), "the doctor says so too");
}
