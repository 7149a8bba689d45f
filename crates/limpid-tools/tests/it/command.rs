//! Which program a command runs, and which are refused.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use limpid_core::Trust;
use limpid_core::policy::{ArgumentPattern, Destination};
use limpid_tools::Tool;
use limpid_tools::exec::command::Command;
use limpid_tools::exec::confinement::Limits;
use limpid_tools::exec::places::Places;
use limpid_tools::exec::{Exec, Programs};
use limpid_tools::files::{Grants, Root};
use serde_json::json;
use tempfile::TempDir;

fn programs(folder: &TempDir) -> Programs {
    Programs {
        scripts: Vec::new(),
        grants: Grants::new(folder.path().join("workspace"), folder.path().join("locks")),
        helper: "limpid".into(),
        home: folder.path().to_owned(),
        outside: folder.path().join("strangers"),
        toolchains: Vec::new(),
        shell: false,
        network: Default::default(),
        path: vec![folder.path().join("bin")],
        environment: Vec::new(),
        own_environment: Vec::new(),
        limits: Limits::default(),
        folders: Vec::new(),
        places: Places::default(),
    }
}

/// A workspace, a folder of programs of the test's own, and a folder outside.
fn bench() -> (TempDir, Programs) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["workspace/sub", "bin", "outside"] {
        fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    for name in ["bin/jq", "bin/env", "bin/zsh", "bin/tool", "workspace/run", "outside/run"] {
        let program = folder.path().join(name);
        fs::write(&program, "").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::write(folder.path().join("workspace/plain"), "").unwrap();
    symlink("zsh", folder.path().join("bin/harmless")).unwrap();
    symlink(folder.path().join("outside"), folder.path().join("workspace/away")).unwrap();
    let programs = programs(&folder);
    (folder, programs)
}

// PICO-088 SEC-021 LES-136
#[test]
fn a_command_is_judged_by_its_program_and_its_words() {
    let (folder, programs) = bench();
    let commands = [
        ("tool -r -f 'a b'", None),
        ("tool", Some("sub")),
        ("tool", Some("")),
        ("./run", None),
        ("../run", Some("sub")),
        ("jq env", None),
        ("", None),
        ("   ", None),
        ("nothing-like-it", None),
        ("./plain", None),
        ("tool 'open", None),
        ("tool && tool", None),
        ("tool ~/.ssh", None),
        ("zsh -c 'rm -rf /'", None),
        ("harmless -c 'rm -rf /'", None),
        ("env tool", None),
        ("tool", Some("..")),
        ("tool", Some("/etc")),
        ("tool", Some("away")),
        ("tool", Some("away/../sub")),
        ("tool", Some("none")),
        ("tool", Some("plain")),
    ];
    let name = folder.path().canonicalize().unwrap().display().to_string();
    let told = commands.map(|(command, at)| {
        let told = match Command::parse(command, at, &programs) {
            Ok(found) => format!("{} {:?} in {}", found.program.display(), found.words, found.folder.display()),
            Err(error) => format!("error: {error}"),
        };
        format!("{command:?} in {at:?}\n    {}", told.replace(&name, "[FOLDER]"))
    });
    insta::assert_snapshot!(told.join("\n"));
}

// SEC-021
#[test]
fn a_granted_shell_gets_the_whole_text() {
    let (_folder, programs) = bench();
    let programs = Programs { shell: true, ..programs };
    let command = Command::parse("ls ~ | wc -l > out; echo \"$HOME\"", None, &programs).unwrap();
    assert_eq!(command.words, ["sh", "-c", "ls ~ | wc -l > out; echo \"$HOME\""]);
}

// SEC-042 SEC-093
#[test]
fn a_command_that_the_system_could_not_start_is_refused() {
    let (_folder, programs) = bench();
    for shell in [false, true] {
        let programs = Programs { shell, ..programs.clone() };
        let parsed = |bytes: usize| Command::parse(&format!("tool {}", "a".repeat(bytes - 5)), None, &programs);
        assert!(parsed(131_071).is_ok());
        let refused = "`command` has 131072 bytes; at most 131071 are run. Put what is long into a file";
        assert_eq!(parsed(131_072).unwrap_err(), refused);
    }
}

// SEC-071 LES-136
#[test]
fn a_rule_that_holds_a_program_back_means_it_under_each_of_its_names() {
    let (folder, programs) = bench();
    let bin = folder.path().join("bin");
    symlink("tool", bin.join("linked")).unwrap();
    fs::hard_link(bin.join("tool"), bin.join("hard")).unwrap();
    let (whole, exec) = (bin.join("linked").display().to_string(), Exec::new(programs.into()));
    let text = |text: &str| ArgumentPattern::Text(text.to_owned());
    let spelled = |command: &str, rule: ArgumentPattern| {
        let rule = ArgumentPattern::Fields(vec![("command".to_owned(), rule)]);
        exec.spelled_as(&json!({ "command": command }), &rule)
    };
    let names = ["tool", "linked", "hard", whole.as_str()];
    for (called, ruled) in names.iter().flat_map(|called| names.map(|ruled| (called, ruled))) {
        let call = format!("{called} -r 'a b'");
        let rule = ArgumentPattern::List(vec![text(ruled), text("**")]);
        assert_eq!(spelled(&call, rule), [json!({ "command": [ruled, "-r", "a b"] })], "{call}");
        let as_text = spelled(&call, text(&format!("{ruled} *")));
        assert!(as_text.contains(&json!({ "command": format!("{ruled} -r a b") })), "{as_text:?}");
        let to = exec.destinations_as(&json!({ "command": call }), &format!("a.test, {ruled}"));
        assert_eq!(to, [Destination::Place(ruled.to_owned())], "{call}");
    }
    let begins_like = ArgumentPattern::List(vec![text("lin*"), text("**")]);
    assert_eq!(spelled("hard", begins_like), [json!({ "command": ["linked"] })]);
    let anywhere = ArgumentPattern::List(vec![text("*/linked"), text("**")]);
    assert_eq!(spelled("hard", anywhere), [json!({ "command": [whole] })]);
    let from_below = json!({ "command": "../bin/tool", "working_dir": "sub" });
    fs::create_dir_all(folder.path().join("workspace/sub")).unwrap();
    fs::create_dir_all(folder.path().join("workspace/bin")).unwrap();
    fs::hard_link(bin.join("tool"), folder.path().join("workspace/bin/tool")).unwrap();
    let as_said = exec.spelled_as(
        &from_below,
        &ArgumentPattern::Fields(vec![("command".to_owned(), ArgumentPattern::List(vec![text("bin/tool")]))]),
    );
    assert_eq!(as_said[0]["command"], json!(["bin/tool"]), "a rule's path begins at the workspace too");
    for other in ["jq", "*", "gone", "j*"] {
        assert!(spelled("tool -r", ArgumentPattern::List(vec![text(other), text("**")])).is_empty(), "{other}");
    }
}

// SEC-071
#[test]
fn a_program_that_is_another_one_under_each_name_is_known_by_the_name_of_the_call_alone() {
    let (folder, programs) = bench();
    let bin = folder.path().join("bin");
    fs::hard_link(bin.join("tool"), bin.join("rustup")).unwrap();
    symlink("rustup", bin.join("rustc")).unwrap();
    let exec = Exec::new(programs.into());
    let words = ArgumentPattern::List(vec![ArgumentPattern::Text("tool".to_owned())]);
    let rule = ArgumentPattern::Fields(vec![("command".to_owned(), words)]);
    assert!(exec.spelled_as(&json!({ "command": "rustc" }), &rule).is_empty());
    assert_eq!(exec.judged(&json!({ "command": "rustc" })), json!({ "command": ["rustc"] }));
}

/// Another program under the same name, by a link or by its bytes, and another folder are other calls.
/// What rules are compared with: the words, by the program's own name, and the folder when it is not the workspace.
// LES-136
#[test]
fn rules_are_compared_with_words_and_the_programs_own_name() {
    let (folder, programs) = bench();
    let outside = folder.path().join("bin/tool").display().to_string();
    symlink(&outside, folder.path().join("workspace/innocent")).unwrap();
    fs::copy(&outside, folder.path().join("workspace/tool")).unwrap();
    let exec = Exec::new(programs.into());
    let calls = [
        ("tool -r -f", None),
        ("tool -rf", None),
        ("'tool'  '-r' \"-f\"", Some(".")),
        (outside.as_str(), Some("sub/..")),
        ("./innocent -r", None),
        ("../innocent -r", Some("sub")),
        ("./tool -r", None),
        ("./run", None),
        ("tool", Some("./sub/")),
        ("tool && tool", None),
        ("env tool", None),
        ("tool", Some("/etc")),
    ];
    let name = folder.path().canonicalize().unwrap().display().to_string();
    let told = calls.map(|(command, at)| {
        let mut arguments = serde_json::json!({ "command": command });
        if let Some(at) = at {
            arguments["working_dir"] = at.into();
        }
        format!("{arguments}\n    {}", exec.judged(&arguments)).replace(&name, "[FOLDER]")
    });
    insta::assert_snapshot!(told.join("\n"));
}

/// A skill's own script is judged as itself, whichever shell is named; every other file keeps its shell refused.
// SEC-011 LES-136
#[test]
fn a_shell_runs_a_script_of_a_skill_as_that_script() {
    let (folder, programs) = bench();
    for name in ["skills/tea/scripts", "notes", "open", "library"] {
        fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    for name in ["skills/tea/scripts/boil.sh", "skills/tea/SKILL.md", "notes/own.sh", "open/own.sh", "library/own.sh"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    symlink(folder.path().join("workspace/plain"), folder.path().join("skills/tea/away.sh")).unwrap();
    symlink(folder.path().join("skills/tea/scripts/boil.sh"), folder.path().join("workspace/link.sh")).unwrap();
    let root = |name: &str, write, trust| Root { folder: folder.path().join(name), write, trust };
    let grants = programs.grants.clone().with(root("skills", false, Trust::File));
    let grants = grants.with(root("notes", true, Trust::File)).with(root("open", false, Trust::Outside));
    let grants = grants.with(root("library", false, Trust::File));
    let scripts = vec![folder.path().join("skills"), folder.path().join("notes"), folder.path().join("open")];
    let exec = Exec::new(Programs { grants, scripts, ..programs }.into());
    let name = folder.path().canonicalize().unwrap().display().to_string();
    let script = format!("{name}/skills/tea/scripts/boil.sh");
    let commands = [
        format!("zsh {script} -n 3"),
        "harmless ../skills/tea/scripts/boil.sh".to_owned(),
        "zsh ./link.sh".to_owned(),
        format!("zsh -e {script}"),
        format!("zsh -c {script}"),
        format!("env zsh {script}"),
        format!("zsh {name}/skills/tea/SKILL.md"),
        format!("zsh {name}/skills/tea/away.sh"),
        format!("zsh {name}/skills/tea/none.sh"),
        format!("zsh {name}/skills/tea"),
        format!("zsh {name}/notes/own.sh"),
        format!("zsh {name}/open/own.sh"),
        "zsh ./plain".to_owned(),
        "zsh".to_owned(),
    ];
    let told = commands.map(|command| {
        let arguments = json!({ "command": command });
        let told = match exec.check(&arguments) {
            Ok(()) => format!("{} to {}", exec.judged(&arguments), exec.destination(&arguments).unwrap()),
            Err(error) => format!("error: {}", error.text()),
        };
        format!("{command}\n    {told}").replace(&name, "[FOLDER]")
    });
    insta::assert_snapshot!(told.join("\n"));
    // The script's bytes are part of what is approved.
    let started = exec.starts(&json!({ "command": format!("zsh {script} tea.md --to=tea.md none") })).unwrap();
    assert_eq!(
        started.files,
        [fs::canonicalize(&script).unwrap()],
        "and so are those of the files that its words name"
    );
}

/// A question says "your folders", and those are the ones that there were.
// SEC-011 SEC-077
#[test]
fn a_yes_to_a_program_is_one_to_the_folders_that_there_are() {
    let (folder, programs) = bench();
    let bound =
        |programs: &Programs| Exec::new(programs.clone().into()).bound_to(&serde_json::json!({ "command": "tool -x" }));
    let taxes = folder.path().join("taxes");
    fs::create_dir(&taxes).unwrap();
    let granted = |trust| {
        let root = Root { folder: taxes.clone(), write: false, trust };
        bound(&Programs { grants: programs.grants.clone().with(root), ..programs.clone() })
    };
    assert_ne!(granted(Trust::File), bound(&programs));
    assert_ne!(granted(Trust::File), granted(Trust::Outside), "whose it is counts too");
}

// SEC-061
#[test]
fn programs_can_change_the_owners_folders_that_are_granted_for_writing() {
    let (folder, programs) = bench();
    for name in ["notes", "library", "open"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let root = |name: &str, write, trust| Root { folder: folder.path().join(name), write, trust };
    let grants = programs.grants.clone().with(root("notes", true, Trust::File));
    let grants = grants.with(root("library", false, Trust::File)).with(root("open", true, Trust::Outside));
    let exec = Exec::new(Programs { grants, ..programs }.into());
    let real = folder.path().canonicalize().unwrap();
    assert_eq!(exec.writes_in(), ["workspace", "notes"].map(|name| real.join(name)));
}

// SEC-011 LES-136
#[test]
fn an_approval_is_bound_to_the_program_and_the_folder_that_the_words_lead_to() {
    let (folder, programs) = bench();
    let exec = Exec::new(programs.into());
    let bound = |command: &str, at: &str| exec.bound_to(&serde_json::json!({ "command": command, "working_dir": at }));
    let first = bound("tool -x", ".");
    assert!(first[0].ends_with("/bin/tool") && first[1].ends_with("/workspace"), "{first:?}");
    assert_eq!(bound("tool -x", "."), first);
    let sub = bound("tool -x", "sub");
    assert_ne!(sub, first);
    fs::write(folder.path().join("workspace/sub/new"), "").unwrap();
    assert_eq!(bound("tool -x", "sub"), sub, "it is the same folder, whatever is in it");
    fs::rename(folder.path().join("workspace/sub"), folder.path().join("workspace/old")).unwrap();
    fs::create_dir(folder.path().join("workspace/sub")).unwrap();
    assert_ne!(bound("tool -x", "sub"), sub, "another folder in its place");
    let tool = folder.path().join("bin/tool");
    let starts = |command: &str| exec.starts(&serde_json::json!({ "command": command })).unwrap();
    assert_eq!(starts("tool -x").program, tool.canonicalize().unwrap(), "its bytes are bound");
    fs::write(folder.path().join("workspace/in.txt"), "").unwrap();
    assert_eq!(
        starts("tool --of=in.txt in.txt sub").files,
        [folder.path().join("workspace/in.txt").canonicalize().unwrap()]
    );
    fs::remove_file(&tool).unwrap();
    symlink(folder.path().join("outside/run"), &tool).unwrap();
    let linked = bound("tool -x", ".");
    assert!(linked[0].ends_with("/outside/run"), "{linked:?}");
    assert!(bound("nothing-like-it", ".").is_empty());
}
