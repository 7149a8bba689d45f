//! Files that languages, shells and build tools load unasked, left by a stranger where a clean program must not find them.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use limpid_core::Trust;
use limpid_tools::Tool as _;
use limpid_tools::exec::Exec;
use serde_json::json;

use super::kit::{Bench, hand_over, judged};
use crate::kit::context;

/// A file that a program loads unasked: its name, its text, and a command that loads it when it is in the home folder,
/// in the folder that the command starts in, or in one above. `{}` in a text is a command that says so.
const PLANTED: [(&str, &str, &str); 32] = [
    (".local/lib/python3.11/site-packages/usercustomize.py", "import os; os.system('{}')", "/usr/bin/python3.11 -c 1"),
    (".local/lib/python3.11/site-packages/x.pth", "import os; os.system('{}')", "/usr/bin/python3.11 -c 1"),
    ("json.py", "import os; os.system('{}')", "/usr/bin/python3 -c 'import json'"),
    ("random.py", "import os; os.system('{}')", "/usr/bin/python3 -m random"),
    ("calendar/__init__.py", "import os; os.system('{}')", "/usr/bin/python3 -c 'import calendar'"),
    (".pdbrc", "import os; os.system('{}')\n", "/usr/bin/python3 -m pdb -c c own.py </dev/null"),
    ("node_modules/x/index.js", "console.log('{}')", "node -e 'require(\"x\")'"),
    (".node_modules/y.js", "console.log('{}')", "node -e 'require(\"y\")'"),
    ("node_modules/.bin/tea", "#!/bin/sh\n{}\n", "npm_config_script_shell=sh npm exec --offline --no -- tea"),
    ("package.json", "{ \"name\": \"a\", \"version\": \"1.0.0\", \"scripts\": { \"test\": \"{}\" } }", "npm test"),
    (".npmrc", "script-shell=./npm-canary\n", "npm test"),
    (".git/config", "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ./git-canary\n", "git status"),
    (".git/hooks/pre-commit", "#!/bin/sh\n{}\n", "git -c user.name=a -c user.email=a@b commit --allow-empty -m a"),
    (".git/hooks/reference-transaction", "#!/bin/sh\n{}\n", "git tag -f b $(git hash-object -w own.py)"),
    (".gitconfig", "[alias]\n\ttea = !{}\n", "git tea"),
    (".config/git/config", "[alias]\n\tcoffee = !{}\n", "git coffee"),
    ("GNUmakefile", "all:\n\t{}\n", "make"),
    ("lib/Makefile", "all:\n\t{}\n", "make -C lib"),
    ("makefile", "all:\n\t{}\n", "rm -f GNUmakefile; make"),
    ("CMakeLists.txt", "project(a NONE)\nexecute_process(COMMAND {})", "cmake -S . -B \"$TMPDIR/build\""),
    (".cargo/config.toml", "[build]\nrustc = \"./cargo-canary\"\n", "cargo check --offline"),
    ("build.rs", "", "cargo metadata --offline --no-deps --format-version 1 | grep -o custom-build"),
    ("rules.h", "LOADED rules.h", "echo '#include \"rules.h\"' | gcc -xc -E -P -"),
    ("module.h", "LOADED module.h", "echo '#include \"module.h\"' | clang -xc -E -P -"),
    (".bashrc", "{}", "bash -ic true"),
    (".bash_profile", "{}", "bash -lc true"),
    (".bash_logout", "{}", "bash -lc exit"),
    (".profile", "{}", "dash -lc true"),
    (".vimrc", "silent !{}", "vim -T dumb -c q </dev/null"),
    (".gdbinit", "shell {}", "gdb -batch"),
    (".curlrc", "url = \"file://{folder}/said\"\n", "curl"),
    (".jq", "def tea: \"LOADED .jq\";", "jq -n tea"),
];

/// What a planted file says when it is loaded.
fn says(name: &str) -> String {
    format!("LOADED {name}")
}

/// Plants every file in a folder, with what commands need besides.
fn plant(folder: &Path) {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let git = Command::new("git").args(["init", "--quiet"]).arg(folder).status();
    assert!(git.is_ok_and(|status| status.success()));
    for (name, text, _) in PLANTED {
        let text = text.replace("{}", &format!("echo {}", says(name)));
        write(name, &text.replace("{folder}", &folder.display().to_string()));
    }
    write("said", &says(".curlrc"));
    for (name, file) in [("npm", ".npmrc"), ("git", ".git/config"), ("cargo", ".cargo/config.toml")] {
        write(&format!("{name}-canary"), &format!("#!/bin/sh\necho {} >&2\nexit 1\n", says(file)));
    }
    own(folder);
}

/// A project that is not the stranger's.
fn own(folder: &Path) {
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("own.py"), "1\n").unwrap();
    fs::write(folder.join("Cargo.toml"), "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n").unwrap();
    fs::write(folder.join("src/lib.rs"), "").unwrap();
}

/// One command that runs all of them, each with its name above what it says.
fn all() -> String {
    let one = |(name, _, command): (&str, &str, &str)| format!("echo '== {name}'; ( {command} ) 2>&1 </dev/null; ");
    PLANTED.map(one).concat()
}

/// What was said below a name.
fn part<'a>(told: &'a str, name: &str) -> &'a str {
    let from = told.split_once(&format!("== {name}\n")).map_or("", |(_, rest)| rest);
    from.split("\n== ").next().unwrap_or_default()
}

/// Every file is loaded where the rule does not hold: with the stranger's folder as home and as start. So the test below
/// can fail. That such a program is harmless is what its view is for.
// SEC-059 SEC-058
#[tokio::test]
async fn what_a_stranger_left_is_loaded_where_it_lies_and_changes_nothing() {
    let bench = bench();
    let home = "unset PYTHONNOUSERSITE PYTHONSAFEPATH GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM npm_config_userconfig; \
                cd {}/home/outside; export HOME=$PWD; ";
    let command = format!("{home}{}", all()).replace("{}", &bench.folder.path().display().to_string());
    let exec = Exec::new(std::sync::Arc::new(bench.programs.clone()));
    let said = {
        let call = json!({ "command": command });
        exec.run(&judged(&exec, &context(Trust::Owner), &call), call).await
    }
    .unwrap();
    let (told, trust) = said.into_parts();
    assert_eq!(trust, Trust::Outside);
    let silent = PLANTED.map(|(name, ..)| name).into_iter().filter(|name| {
        let said = part(&told, name);
        !said.contains(&says(name)) && !said.contains("custom-build")
    });
    let silent: Vec<&str> = silent.collect();
    if !silent.is_empty() {
        let _ =
            writeln!(std::io::stderr(), "SKIPPED: not loaded here, so nothing is known of them: {silent:?}\n{told}");
    }
    assert!(PLANTED.len() - silent.len() >= 20, "{silent:?}: {told}");
    assert_eq!(fs::read_dir(bench.path("home/workspace")).unwrap().count(), 5, "nothing new");
    assert_eq!(fs::read_to_string(bench.path("home/workspace/own.py")).unwrap(), "1\n");
}

// SEC-059 SEC-086
#[tokio::test]
async fn nothing_that_a_stranger_left_is_loaded_by_a_clean_program() {
    let bench = bench();
    for start in [".", "sub"] {
        let told = bench.run(&format!("cd {start}; {}", all())).await;
        assert!(told.contains("== .jq\n"), "every command ran: {told}");
        assert!(!told.contains("LOADED") && !told.contains("custom-build"), "{told}");
    }
    // No folder above the one that it starts in has any of them either, and no folder of its search paths.
    let found = PLANTED.map(|(name, ..)| format!("ls -d \"$d/{name}\"; ")).concat();
    let told = bench.run(&format!("d=$PWD; while [ \"$d\" != / ]; do {found} d=$(dirname \"$d\"); done 2>&1")).await;
    assert!(told.lines().all(|line| line.contains("No such file") || line.starts_with("Exit code")), "{told}");
    let told = bench.run("echo $HOME $PATH $PYTHONPATH $NODE_PATH").await;
    assert!(!told.contains("outside") && !told.contains("theirs"), "{told}");
}

/// A bench where all of it lies in every low place, with Cargo's own program.
fn bench() -> Bench {
    let mut bench = Bench::new();
    fs::create_dir(bench.path("tools")).unwrap();
    fs::copy(env!("CARGO"), bench.path("tools/cargo")).unwrap();
    bench.programs.path = vec![bench.path("tools")];
    for low in ["home/outside", "theirs", "mine/theirs"] {
        plant(&bench.path(low));
    }
    own(&bench.path("home/workspace"));
    hand_over(bench.folder.path());
    bench
}
