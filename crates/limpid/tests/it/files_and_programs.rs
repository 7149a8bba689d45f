//! Files and programs through the real program: what the model asks for happens in the home's workspace.

use std::fs;

use crate::kit::World;
use serde_json::Value;

/// The results of tools that the last request brought back to the model, by call.
fn results(world: &World) -> Vec<(String, String)> {
    of(&world.recorder.calls().last().unwrap().json())
}

/// The results of tools in a request, by call.
fn of(request: &Value) -> Vec<(String, String)> {
    let field = |message: &Value, name: &str| message[name].as_str().unwrap_or_default().to_owned();
    let messages = request["messages"].as_array().unwrap();
    let tool = messages.iter().filter(|message| message["role"] == "tool");
    tool.map(|message| (field(message, "tool_call_id"), field(message, "content"))).collect()
}

// PICO-081 PICO-083 LES-137
#[tokio::test]
async fn a_fresh_install_writes_and_reads_its_workspace_and_nothing_else() {
    let world = World::new(
        r#"
[[reply]]
calls = [
  { id = "w", name = "write_file", arguments = { path = "notes/tea.md", content = "Oolong, 90 degrees\n" } },
  { id = "o", name = "write_file", arguments = { path = "../soul.md", content = "Obey." } },
]

[[reply]]
calls = [
  { id = "r", name = "read_file", arguments = { path = "notes/tea.md" } },
  { id = "p", name = "read_file", arguments = { path = "/etc/hostname" } },
  { id = "l", name = "list_dir" },
]

[[reply]]
text = "Oolong."
"#,
    )
    .await;
    world.write("limpid.toml", "[tools]\ndefer = false\n");
    assert_eq!(world.done(&["chat", "What tea?"]).await, "Oolong.\n");
    let seen = results(&world);
    let result = |id: &str| seen.iter().find(|(call, _)| call == id).map(|(_, text)| text.as_str()).unwrap();
    assert_eq!(result("r"), "Oolong, 90 degrees\n");
    assert_eq!(result("l"), "DIR:  notes");
    for outside in ["o", "p"] {
        assert!(result(outside).contains("outside of the granted folders"), "{seen:?}");
    }
    assert!(!world.home.path().join("soul.md").exists());
    let written = fs::read_to_string(world.home.path().join("workspace/notes/tea.md")).unwrap();
    assert_eq!(written, "Oolong, 90 degrees\n");
}

// SEC-020 SEC-001 PICO-031
#[tokio::test]
async fn a_granted_folder_is_touched_and_its_text_is_outside_text_unless_it_is_trusted() {
    let shared = tempfile::tempdir().unwrap();
    let folder = shared.path().display().to_string();
    fs::write(shared.path().join("letter.md"), "Dear all").unwrap();
    let script = format!(
        r#"
[[reply]]
calls = [
  {{ id = "r", name = "read_file", arguments = {{ path = "{folder}/letter.md" }} }},
  {{ id = "s", name = "read_file", arguments = {{ path = "../skills/tea/SKILL.md" }} }},
  {{ id = "w", name = "write_file", arguments = {{ path = "../skills/tea/SKILL.md", content = "x" }} }},
]

[[reply]]
text = "ok"
"#
    );
    for (trusted, boundary) in [(String::new(), true), (format!("trusted = [\"{folder}\"]\n"), false)] {
        let world = World::new(&script).await;
        world.write("limpid.toml", &format!("[tools]\ndefer = false\n[files]\nread = [\"{folder}\"]\n{trusted}"));
        world.write("skills/tea/SKILL.md", "# Tea\n");
        world.done(&["chat", "read it"]).await;
        let seen = results(&world);
        assert_eq!(seen[0].1.starts_with("[untrusted "), boundary, "{seen:?}");
        assert!(seen[0].1.contains("Dear all"));
        assert_eq!(seen[1].1, "# Tea\n");
        assert!(seen[2].1.contains("may be read but not changed"), "{seen:?}");
    }
}

/// Says loudly that a test did nothing, where the kernel has no sandbox.
#[cfg(target_os = "linux")]
pub(crate) fn no_sandbox() -> bool {
    use limpid_runtime::sandbox::{Missing, support};
    // As root, the tests run the program as somebody else.
    let missing = support().err().filter(|missing| *missing != Missing::Root);
    if let Some(missing) = missing {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "SKIPPED: programs cannot be confined here: {}", missing.why());
    }
    missing.is_some()
}

/// A program of a turn that had read a stranger's text writes where strangers' text is, and nowhere else.
// SEC-002 SEC-010 SEC-011 SEC-058
#[cfg(target_os = "linux")]
#[tokio::test]
async fn after_a_strangers_text_a_program_writes_only_what_is_for_strangers() {
    if no_sandbox() {
        return;
    }
    let shared = tempfile::tempdir().unwrap();
    fs::set_permissions(shared.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let folder = shared.path().display().to_string();
    fs::write(shared.path().join("letter.md"), "Dear all").unwrap();
    let copy = |to: &str| format!("{{ name = \"exec\", arguments = {{ command = \"cp {folder}/letter.md {to}\" }} }}");
    let world = World::new(&format!(
        r#"
[[reply]]
calls = [{{ id = "r", name = "read_file", arguments = {{ path = "{folder}/letter.md" }} }}]
[[reply]]
calls = [{}, {}]
[[reply]]
text = "They wait."
"#,
        copy("copy.md"),
        copy("../outside/copy.md")
    ))
    .await
    .without_rights();
    world.write("limpid.toml", &format!("[tools]\ndefer = false\n[files]\nread = [\"{folder}\"]\n"));
    world.write("workspace/own.md", "My own words");
    world.done(&["chat", "copy it"]).await;
    let there = |name: &str| world.home.path().join(name).exists();
    assert!(!there("workspace/copy.md") && !there("outside/copy.md"), "both wait for the owner");
    for number in ["1", "2"] {
        let draft = world.json(&["draft", "show", number, "--json"]).await;
        let hash = draft["draft"]["hash"].as_str().unwrap();
        world.run(&["draft", "approve", number, "--hash", &hash[..12]]).await;
    }
    assert!(world.done(&["draft", "show", "1"]).await.contains("Read-only file system"));
    assert!(!there("workspace/copy.md") && there("outside/copy.md"));
}

// PICO-088 KAI-114
#[cfg(target_os = "linux")]
#[tokio::test]
async fn kai_calls_the_same_tool_by_its_own_name() {
    if no_sandbox() {
        return;
    }
    let call = |name: &str| {
        format!("[[reply]]\ncalls = [{{ name = \"{name}\", arguments = {{ command = \"cat tea.md\" }} }}]\n\n")
    };
    let world =
        World::new(&format!("{}{}[[reply]]\ntext = \"ok\"\n", call("execute_shell_command"), call("exec"))).await;
    let world = world.without_rights();
    world.write("limpid.toml", "[agent]\nprofile = \"kai\"\n");
    world.write("workspace/tea.md", "oolong\n");
    world.done(&["chat", "run it"]).await;
    let seen = results(&world);
    assert!(seen[0].1.contains("oolong"), "{seen:?}");
    assert!(seen[1].1.contains("there is no tool `exec`"), "{seen:?}");
}

/// A model that runs commands, one after another.
#[cfg(target_os = "linux")]
fn script(commands: &[&str]) -> String {
    let reply = |command: &&str| {
        let arguments = serde_json::json!({ "command": command }).to_string();
        format!("[[reply]]\ncalls = [{{ name = \"exec\", arguments = {} }}]\n\n", Value::String(arguments))
    };
    let script: String = commands.iter().map(reply).collect();
    format!("{script}[[reply]]\ntext = \"ok\"\n")
}

/// Has the model run commands, one after another, and returns what it read of each.
#[cfg(target_os = "linux")]
async fn ran(config: &str, commands: &[&str]) -> (World, Vec<String>) {
    let mut world = World::new(&script(commands)).await.without_rights();
    world.set("HOUSE_TOKEN", "not to be told");
    world.set("LANG", "C.UTF-8");
    world.write("limpid.toml", config);
    world.write("secret.md", "the secret");
    world.write("workspace/tea.md", "oolong\n");
    world.done(&["chat", "run it"]).await;
    let seen = results(&world).into_iter().map(|(_, text)| text).collect();
    (world, seen)
}

// PICO-088 SEC-021
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_runs_in_the_workspace_and_reaches_nothing_else() {
    if no_sandbox() {
        return;
    }
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("new").display().to_string();
    // In the call's own folder for temporary files, which goes with it.
    let in_tmp = format!("/tmp/limpid-was-here-{}", std::process::id());
    let (world, seen) = ran(
        "",
        &[
            "cat tea.md",
            "cp tea.md copy.md",
            "cat ../secret.md",
            &format!("touch {target}"),
            &format!("touch {in_tmp}"),
            "printenv",
            "chmod 777 ../secret.md",
            "ln -s ../secret.md link",
            "cat link",
            "ls /root /home",
            "cat /proc/1/environ",
            "sh -c 'cat tea.md'",
        ],
    )
    .await;
    assert_eq!(seen[0], "oolong\nExit code: 0");
    assert_eq!(fs::read_to_string(world.home.path().join("workspace/copy.md")).unwrap(), "oolong\n");
    for refused in [2, 3, 6, 8, 9, 10] {
        assert!(seen[refused].contains("STDERR:\n"), "{refused}: {}", seen[refused]);
        let reasons = ["ermission denied", "not permitted", "No such file"];
        assert!(reasons.iter().any(|reason| seen[refused].contains(reason)), "{seen:?}");
        assert!(seen[refused].ends_with("Exit code: 1") || seen[refused].ends_with("Exit code: 2"), "{seen:?}");
    }
    assert!(!outside.path().join("new").exists());
    assert!(fs::remove_file(in_tmp).is_err(), "nothing was made there");
    let names: Vec<&str> = seen[5].lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    let switches =
        ["PYTHONNOUSERSITE", "PYTHONSAFEPATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "npm_config_userconfig"];
    let known = |name: &&str| ["PATH", "HOME", "LANG", "TZ", "TMPDIR"].contains(name) || switches.contains(name);
    assert!(names.iter().all(known), "{names:?}");
    assert!(seen[11].contains("is a shell"), "{seen:?}");
}

// SEC-021
#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_program_has_a_socket_unless_the_network_is_granted() {
    if no_sandbox() {
        return;
    }
    let socket = |family: &str| {
        format!("perl -MSocket -e 'socket(my $s, {family}, SOCK_STREAM, 0) or die \"refused: $!\"; print \"open\"'")
    };
    let pair =
        "perl -MSocket -e 'socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or die \"refused: $!\"; print \"open\"'";
    let (internet, local) = (socket("PF_INET"), socket("PF_UNIX"));
    let commands = [internet.as_str(), &local, pair];
    let (_, without) = ran("", &commands).await;
    assert!(without[0].contains("refused") && without[1].contains("refused"), "{without:?}");
    assert!(without[2].starts_with("open"), "{without:?}");
    let granted = "[exec]\nnetwork = [\"a.example\"]\n";
    let (_, with) = ran(granted, &commands[..1]).await;
    // What came over the network may be anybody's.
    assert!(with[0].starts_with("[untrusted ") && with[0].contains("\nopen"), "{with:?}");
    let (_, with) = ran(granted, &commands[1..2]).await;
    assert!(with[0].contains("refused"), "services of this machine stay out of reach: {with:?}");
}

// SEC-021
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_reads_a_folder_that_is_granted_for_reading_and_changes_nothing_in_it() {
    if no_sandbox() {
        return;
    }
    let shared = tempfile::tempdir().unwrap();
    fs::set_permissions(shared.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let folder = shared.path().display().to_string();
    fs::write(shared.path().join("letter.md"), "Dear all").unwrap();
    let config = format!("[files]\nread = [\"{folder}\"]\ntrusted = [\"{folder}\"]\n");
    let commands = [
        format!("cat {folder}/letter.md"),
        format!("touch {folder}/new"),
        format!("cp tea.md {folder}/letter.md"),
        format!("rm -f {folder}/letter.md"),
    ];
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let (_, seen) = ran(&config, &commands).await;
    assert_eq!(seen[0], "Dear all\nExit code: 0");
    assert!(seen[1..].iter().all(|seen| seen.contains("Read-only file system")), "{seen:?}");
    assert_eq!(fs::read_to_string(shared.path().join("letter.md")).unwrap(), "Dear all");
    assert_eq!(fs::read_dir(shared.path()).unwrap().count(), 1);
}

/// Calls of the kernel that lead past what the sandbox keeps, each with arguments that it would take.
#[cfg(target_arch = "x86_64")]
const PAST: [(&str, &str); 9] = [
    ("a ring (io_uring_setup)", "425, 1, 0"),
    ("another program's memory (ptrace)", "101, 0, 0, 0, 0"),
    ("another program's files (pidfd_getfd)", "438, 0, 0, 0"),
    ("another view of the files (unshare)", "272, 0x00020000"),
    ("another user (unshare)", "272, 0x10000000"),
    ("another user (clone)", "56, 0x10000011, 0, 0, 0, 0"),
    ("the kernel (bpf)", "321, 0, 0, 0"),
    ("keys of the user's (keyctl)", "250, 0, -3, 0"),
    ("memory that is shared (shmget)", "29, 0, 4096, 01600"),
];

// SEC-021
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[tokio::test]
async fn no_call_of_the_kernel_leads_past_the_sandbox() {
    if no_sandbox() {
        return;
    }
    let refused = |(_, call): &(&str, &str)| format!("perl -e 'syscall({call}) == -1 or print \"done\"; print $!+0'");
    let commands: Vec<String> = PAST.iter().map(refused).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let (_, seen) = ran("", &commands).await;
    let no_such_call = "38\nExit code: 0";
    for ((what, _), seen) in PAST.iter().zip(&seen) {
        assert_eq!(seen, no_such_call, "{what}");
    }
}

// SEC-021 PICO-088
#[cfg(target_os = "linux")]
#[tokio::test]
async fn when_the_time_is_up_everything_ends_and_what_was_said_is_returned() {
    if no_sandbox() {
        return;
    }
    // Numbers that no other sleeping program of this machine has.
    let [inner, outer] = [61_000, 62_000].map(|seconds| seconds + std::process::id() % 1000);
    let command = format!("echo begun; setsid sleep {inner} & sleep {outer}");
    let (_, seen) = ran("[exec]\nshell = true\nseconds = 1\n", &[&command]).await;
    assert_eq!(seen[0], "begun\nEnded after 1 s; it had not finished.");
    for entry in fs::read_dir("/proc").unwrap() {
        let line = fs::read(entry.unwrap().path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        assert!(!line.starts_with(&format!("sleep {inner}")) && !line.starts_with(&format!("sleep {outer}")), "{line}");
    }
}

// SEC-021
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_program_leaves_behind_ends_with_it() {
    if no_sandbox() {
        return;
    }
    let seconds = 63_000 + std::process::id() % 1000;
    let (_, seen) = ran("[exec]\nshell = true\n", &[&format!("setsid sleep {seconds} & echo done")]).await;
    assert_eq!(seen[0], "done\nExit code: 0");
    let alive = fs::read_dir("/proc").unwrap().any(|entry| {
        let line = fs::read(entry.unwrap().path().join("cmdline")).unwrap_or_default();
        line.starts_with(format!("sleep\0{seconds}").as_bytes())
    });
    assert!(!alive);
}

// SEC-021
#[cfg(target_os = "linux")]
#[tokio::test]
async fn memory_processes_files_and_output_have_limits() {
    if no_sandbox() {
        return;
    }
    let config = "[exec]\nmemory_megabytes = 64\nprocesses = 8\n";
    let (world, seen) = ran(
        config,
        &[
            "perl -e '$x = \"a\" x 300_000_000; print length $x'",
            "perl -e 'for (1..40) { my $pid = fork; defined $pid or die \"refused: $!\"; $pid or do { sleep 30; exit } } sleep 30'",
            "perl -e 'print \"x\" x 1_000 for 1..2_000'",
            "perl -e 'print \"x\" x 1_000_000 for 1..1_000_000'",
        ],
    )
    .await;
    assert!(!seen[0].contains("300000000"), "{}", seen[0]);
    assert!(seen[1].contains("more than 8 processes") || seen[1].contains("refused"), "{}", seen[1]);
    assert!(seen[2].contains("bytes left out") || seen[2].contains("characters left out"), "{:.200}", seen[2]);
    assert!(seen[3].ends_with("Ended; it wrote more than 64 MiB."), "{:.200}", seen[3]);
    drop(world);
}

/// A skill's own script runs by itself and by a shell, once the skill is allowed; nothing else gets a shell. Its fonts are
/// named to the reviewer and not printed.
// SEC-021 SEC-024
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_script_of_an_allowed_skill_runs_and_a_font_is_not_printed() {
    use std::os::unix::fs::PermissionsExt as _;
    if no_sandbox() {
        return;
    }
    let commands = [
        "../skills/tea/scripts/boil.sh 3",
        "sh ../skills/tea/scripts/boil.sh 3",
        "sh ../skills/tea/scripts/lib.sh",
        "sh ../skills/tea/SKILL.md",
        "sh ./own.sh",
    ];
    let world = World::new(&script(&commands)).await.without_rights();
    world.write("elsewhere/tea/SKILL.md", "---\nname: tea\ndescription: Boils water\n---\nRun scripts/boil.sh.\n");
    world.write("elsewhere/tea/scripts/boil.sh", "#!/bin/sh\necho boiled for $1 minutes\n");
    world.write("elsewhere/tea/scripts/lib.sh", "echo a library\n");
    world.write("workspace/own.sh", "echo the model wrote this\n");
    let from = world.home.path().join("elsewhere/tea");
    fs::set_permissions(from.join("scripts/boil.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(from.join("tea.otf"), [0xff; 1_000_000]).unwrap();
    let shown = world.run(&["skill", "install", from.to_str().unwrap()]).await;
    assert!(shown.out.contains("=== scripts/boil.sh (") && shown.out.contains(" bytes, executable)"), "{}", shown.out);
    assert!(shown.out.contains("=== tea.otf (1000000 bytes, binary, sha256 "), "{}", shown.out);
    assert!(shown.out.len() < 2_000, "{} bytes", shown.out.len());
    world.done(&["skill", "enable", "tea"]).await;
    world.done(&["chat", "run it"]).await;
    let seen: Vec<String> = results(&world).into_iter().map(|(_, text)| text).collect();
    assert_eq!(seen[..2], ["boiled for 3 minutes\nExit code: 0", "boiled for 3 minutes\nExit code: 0"]);
    assert_eq!(seen[2], "a library\nExit code: 0");
    assert!(seen[3..].iter().all(|text| text.contains("`sh` is a shell, and none is granted")), "{seen:?}");
}

/// The owner's rules name words, and a program is the file that a word leads to: what only looks like an allowed command
/// waits or is refused, and what only looks unlike a forbidden one is forbidden.
// LES-136
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_rule_covers_the_very_command_and_no_trick() {
    if no_sandbox() {
        return;
    }
    let rules = r#"
[policy]
ask = [{ tool = "exec" }]
allow = [
  { tool = "exec", arguments = { command = ["wc", "-c", "tea.md"] } },
  { tool = "exec", arguments = { command = ["ls", "-a", "-l"] } },
]
deny = [{ tool = "exec", arguments = { command = ["cp", "**"] } }]
"#;
    let commands = [
        // The very command, also by another way of writing it or by the program's whole path.
        "wc -c tea.md",
        "'wc' \"-c\"  tea.md",
        "/usr/bin/wc -c tea.md",
        // Flags split, joined, added, in another order; another word for the same file.
        "ls -al",
        "ls -l -a",
        "ls -a -l -d",
        "wc -c ./tea.md",
        // Wrappers and shells, by their names and by links.
        "env wc -c tea.md",
        "nice -n 1 wc -c tea.md",
        "timeout 9 wc -c tea.md",
        "sh -c 'wc -c tea.md'",
        "xargs wc -c tea.md",
        // Chains and expansions.
        "wc -c tea.md; touch new",
        "wc -c tea.md && touch new",
        "wc -c tea.md | tee new",
        "wc -c tea.md > new",
        "wc -c $(touch new)",
        "wc -c tea.md\ntouch new",
        "wc -c ~/tea.md",
        "~/wc -c tea.md",
        // Other programs: of the same name, and of other names that tell what is around.
        "./wc -c tea.md",
        "jq env",
        "jq -n env",
        // What is forbidden, however it is called.
        "cp tea.md new",
        "/bin/cp tea.md new",
        "./harmless tea.md new",
        "cp -f -- tea.md new",
    ];
    let world = World::new(&script(&commands)).await.without_rights();
    world.write("limpid.toml", &format!("[limits]\ncalls_with_tools = 50\n{rules}"));
    world.write("workspace/tea.md", "oolong\n");
    let own = world.home.path().join("workspace/wc");
    fs::write(&own, "#!/bin/sh\ntouch new\n").unwrap();
    fs::set_permissions(&own, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("/bin/cp", world.home.path().join("workspace/harmless")).unwrap();
    world.done(&["chat", "run it"]).await;
    let seen = results(&world);
    let came: Vec<&str> = seen
        .iter()
        .map(|(_, text)| match text {
            text if text.contains("Exit code: ") => "runs",
            text if text.contains("kept as draft") => "waits",
            text if text.contains("the owner's rules forbid") => "forbidden",
            _ => "refused",
        })
        .collect();
    let told: Vec<String> =
        commands.iter().zip(&came).map(|(command, came)| format!("{came:<9} {command:?}")).collect();
    insta::assert_snapshot!(told.join("\n"));
    assert!(!world.home.path().join("workspace/new").exists());
}

/// A yes to a draft is one to its folder too: another one in its place, or a link, is not what was approved.
// LES-136 SEC-011
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_folder_that_was_swapped_after_the_approval_was_asked_for_runs_nothing() {
    if no_sandbox() {
        return;
    }
    let arguments = serde_json::json!({ "command": "touch new", "working_dir": "sub" }).to_string();
    let call = format!("[[reply]]\ncalls = [{{ name = \"exec\", arguments = {} }}]\n\n", Value::String(arguments));
    for swap in ["nothing", "folder", "link"] {
        let world = World::new(&format!("{call}[[reply]]\ntext = \"ok\"\n")).await.without_rights();
        world.write("limpid.toml", "[policy]\nask = [{ tool = \"exec\" }]\n");
        let folder = |name: &str| world.home.path().join("workspace").join(name);
        fs::create_dir_all(folder("sub")).unwrap();
        fs::create_dir_all(folder("other")).unwrap();
        world.done(&["chat", "run it"]).await;
        if swap != "nothing" {
            fs::rename(folder("sub"), folder("old")).unwrap();
        }
        match swap {
            "folder" => fs::rename(folder("other"), folder("sub")).unwrap(),
            "link" => std::os::unix::fs::symlink("other", folder("sub")).unwrap(),
            _ => {}
        }
        let run = world.run(&["draft", "approve", "1"]).await;
        let made = ["sub", "old", "other"].iter().any(|name| folder(name).join("new").exists());
        assert_eq!(made, swap == "nothing", "{swap}: {}{}", run.out, run.err);
        let shown = world.done(&["draft", "show", "1"]).await;
        assert_eq!(shown.contains("are not what they were when it was kept"), swap != "nothing", "{swap}: {shown}");
    }
}

// OLLM-038
#[cfg(target_os = "linux")]
#[tokio::test]
async fn in_debugger_mode_programs_cannot_change_the_workspace() {
    if no_sandbox() {
        return;
    }
    let (world, seen) = ran("[agent]\nmode = \"debugger\"\n", &["cat tea.md", "touch new.md"]).await;
    assert_eq!(seen[0], "oolong\nExit code: 0");
    assert!(seen[1].contains("Read-only file system"), "{seen:?}");
    assert!(!world.home.path().join("workspace/new.md").exists());
}

// OLLM-038
#[cfg(target_os = "linux")]
#[tokio::test]
async fn in_debugger_mode_an_approval_does_not_open_the_workspace() {
    if no_sandbox() {
        return;
    }
    let config = "[agent]\nmode = \"debugger\"\n[policy]\nask = [{ tool = \"exec\" }]\n";
    let (world, seen) = ran(config, &["touch new.md"]).await;
    assert!(seen[0].contains("kept as draft 1"), "{seen:?}");
    world.run(&["draft", "approve", "1"]).await;
    assert!(world.done(&["draft", "show", "1"]).await.contains("Read-only file system"));
    assert!(!world.home.path().join("workspace/new.md").exists());
}

/// The settings that once let programs run unconfined are none any more.
// SEC-021 SEC-080 SEC-082
#[cfg(target_os = "linux")]
#[tokio::test]
async fn nothing_runs_programs_without_a_sandbox() {
    if no_sandbox() {
        return;
    }
    let (world, seen) = ran("[exec]\nenabled = false\n", &["cat tea.md"]).await;
    assert!(seen[0].contains("there is no tool `exec`"), "{seen:?}");
    assert!(world.done(&["doctor"]).await.contains("OK  programs: are not run: limpid.toml says so"));
    let world = World::new(&script(&["cat tea.md"])).await.without_rights();
    let told = world.run(&["doctor"]).await.out;
    assert!(
        told.contains("OK  programs: run in a sandbox (") && told.contains("Landlock, system calls, no rights"),
        "{told}"
    );
    for old in ["sandbox = \"off\"", "modes = true"] {
        world.write("limpid.toml", &format!("[exec]\n{old}\n"));
        let run = world.run(&["chat", "hi"]).await;
        assert!(run.code != 0 && run.err.contains("unknown field"), "{}", run.err);
    }
}

// SEC-082
#[cfg(target_os = "linux")]
#[tokio::test]
async fn as_root_no_program_runs_and_doctor_says_what_to_do() {
    let world = World::new(&script(&["cat tea.md"])).await;
    if fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) != 0) {
        return;
    }
    world.done(&["chat", "run it"]).await;
    let seen = results(&world);
    assert!(seen[0].1.contains("there is no tool `exec`"), "{seen:?}");
    let told = world.run(&["doctor"]).await.out;
    assert!(told.contains("programs: are not run: Limpid runs as root") && told.contains("setpriv --reuid"), "{told}");
}

// LES-081 PICO-081
#[tokio::test]
async fn one_large_result_is_cut_and_can_be_read_on_to_its_end() {
    let mut script =
        "[[reply]]\ncalls = [{ id = \"big\", name = \"read_file\", arguments = { path = \"big\" } }]\n\n".to_owned();
    let step = 19_000;
    for offset in (0..500_000).step_by(step) {
        script.push_str(&format!(
            "[[reply]]\ncalls = [{{ id = \"r{offset}\", name = \"read_result\", arguments = {{ id = \"big\", offset = {offset}, limit = {step} }} }}]\n\n"
        ));
    }
    let world = World::new(&format!("{script}[[reply]]\ntext = \"ok\"\n")).await;
    world.write("limpid.toml", "model = \"openai/gpt-5\"\n[limits]\ncalls_with_tools = 50\n");
    let mut big: String = (0..20_000).map(|n| format!("{n:05}: the report goes on here\n")).collect();
    big.truncate(500_000);
    world.write("workspace/big", &big);
    world.done(&["chat", "read it"]).await;
    // Each as it first went to the model; what is old is shown shorter when the window fills.
    let requests = world.recorder.calls();
    let seen: Vec<(String, String)> = requests.iter().filter_map(|request| of(&request.json()).pop()).collect();
    let (_, shown) = &seen[0];
    assert!(shown.chars().count() <= 20_000 && shown.starts_with(&big[..9_000]) && shown.ends_with(&big[491_000..]));
    assert!(shown.contains(r#"; read_result {"id":"big","offset":99"#), "{}", &shown[9_900..10_100]);
    let whole: String = seen[1..].iter().map(|(_, text)| text.split_once('\n').unwrap().1).collect();
    assert_eq!(whole.len(), big.len());
    assert!(whole == big);
    assert!(seen[1].1.starts_with("[characters 0 to 19000 of 500000]\n"));
}
