//! Programs through the real program: they run in the sandbox, and nothing of them gets out or stays.

use std::fs;

use serde_json::Value;

use crate::files::results;
use crate::kit::World;

/// Says loudly that a test did nothing, where the kernel has no sandbox.
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

/// A model that runs commands, one after another.
pub(crate) fn script(commands: &[&str]) -> String {
    let reply = |command: &&str| {
        let arguments = serde_json::json!({ "command": command }).to_string();
        format!("[[reply]]\ncalls = [{{ name = \"exec\", arguments = {} }}]\n\n", Value::String(arguments))
    };
    let script: String = commands.iter().map(reply).collect();
    format!("{script}[[reply]]\ntext = \"ok\"\n")
}

/// Has the model run commands, one after another, and returns what it read of each.
pub(crate) async fn ran(config: &str, commands: &[&str]) -> (World, Vec<String>) {
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

// PICO-088 KAI-114
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

// PICO-088 SEC-021
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
#[tokio::test]
async fn when_the_time_is_up_everything_ends_and_what_was_said_is_returned() {
    if no_sandbox() {
        return;
    }
    // Numbers that no other sleeping program of this machine has.
    let [inner, outer] = [61_000, 62_000].map(|seconds| seconds + std::process::id() % 1000);
    let command = format!("echo begun; setsid sleep {inner} & sleep {outer}");
    let (_, seen) = ran("[exec]\nshell = true\nseconds = 1\n", &[&command]).await;
    let limit = "`seconds` under [exec] in limpid.toml says how long programs may take.";
    assert_eq!(seen[0], format!("begun\nEnded after 1 s; it had not finished. {limit}"));
    for entry in fs::read_dir("/proc").unwrap() {
        let line = fs::read(entry.unwrap().path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        assert!(!line.starts_with(&format!("sleep {inner}")) && !line.starts_with(&format!("sleep {outer}")), "{line}");
    }
}

// SEC-021
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

/// The settings that once let programs run unconfined are none any more.
// SEC-021 SEC-080 SEC-082
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
    // SEC-084
    assert!(told.contains("by a cgroup") || told.contains("are counted, without a cgroup: "), "{told}");
    for old in ["sandbox = \"off\"", "modes = true"] {
        world.write("limpid.toml", &format!("[exec]\n{old}\n"));
        let run = world.run(&["chat", "hi"]).await;
        assert!(run.code != 0 && run.err.contains("unknown field"), "{}", run.err);
    }
}

// SEC-082
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
