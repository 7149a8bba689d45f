//! What each layer of the sandbox keeps from a program.

use std::fs::{self, File};
use std::process::Command;

use limpid_tools::exec::calls::{Allowance, Allowed, allowed};
use limpid_tools::exec::sandbox::{Missing, TRY, WATCH};

use super::kit::{Bench, HELPER, is_root, unprivileged};

// SEC-079
#[tokio::test]
async fn a_program_sees_its_own_processes_and_nothing_beside_its_view() {
    let bench = Bench::new();
    let processes = bench.run("cat /proc/[0-9]*/comm").await;
    let processes: Vec<&str> = processes.lines().collect();
    assert!(
        processes[0] == "sandbox" && processes.len() == 3,
        "the first one, the shell, the exit code: {processes:?}"
    );
    let root = bench.run("ls / /home /root /var /run /dev").await;
    let listed = ["bin", "dev", "etc", "lib", "opt", "proc", "run", "tmp", "usr"];
    assert!(listed.iter().all(|name| root.lines().any(|line| line == *name)), "{root}");
    for absent in ["/home", "/root", "/var"] {
        assert!(root.contains(&format!("cannot access '{absent}'")), "{root}");
    }
    assert!(root.contains("/run:\ncall\n") && !root.contains("sda") && !root.contains("vda"), "{root}");
    let home = bench.run("cat {}/home/soul.md || ls {}/home").await;
    assert!(home.starts_with("skills\nworkspace\nSTDERR:\ncat: "), "{home}");
}

// SEC-079
#[tokio::test]
async fn a_program_does_not_see_what_the_sandbox_was_told() {
    let mut bench = Bench::new();
    bench.programs.network.names.push("a.example".to_owned());
    bench.programs.network.also.push("10.20.30.40".parse().unwrap());
    let told = bench.run("tr '\\0' '+' < /proc/1/cmdline; cat /proc/1/environ").await;
    assert_eq!(told.lines().next(), Some("/proc/self/exe+__sandbox-init+"), "{told}");
    assert!(!told.contains("10.20.30.40"), "{told}");
}

// SEC-079
#[tokio::test]
async fn the_system_is_read_only_and_temporary_files_are_of_the_call() {
    let bench = Bench::new();
    let told = bench.run("touch /usr/x /etc/x /x /proc/x /dev/x; echo kept > /tmp/x; cat /tmp/x; hostname").await;
    for place in ["/usr/x", "/etc/x", "/x", "/proc/x", "/dev/x"] {
        assert!(told.contains(&format!("cannot touch '{place}'")), "{told}");
    }
    assert!(told.contains("kept\nsandbox\n"), "{told}");
    assert!(bench.run("cat /tmp/x").await.contains("No such file"));
}

/// Every number is tried in a process of its own, with no values; what the kernel answers as if it had no such call was
/// not let through.
const PROBE: &str = r#"
use strict;
$SIG{CHLD} = 'DEFAULT';
my %let;
for my $number (0 .. 600, map { 0x40000000 + $_ } 0 .. 600) {
    pipe(my $r, my $w);
    my $child = fork() // die "no process: $!";
    if (!$child) {
        close $r;
        alarm 1;
        $! = 0;
        my $done = syscall($number, 0, 0, 0, 0, 0, 0);
        syswrite($w, "absent") if $done == -1 && $! == 38;
        kill 9, $$;
    }
    close $w;
    my $said = '';
    sysread($r, $said, 9);
    waitpid($child, 0);
    $let{$number} = 1 if $said ne 'absent';
}
print join(" ", sort { $a <=> $b } keys %let), "\n";
"#;

/// Calls that the kernel itself makes for its probes and lets past every filter; whoever else makes them is ended.
#[cfg(target_arch = "x86_64")]
const OF_THE_KERNEL: [i64; 2] = [335, 336];

// SEC-080
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn the_kernel_answers_the_calls_of_the_list_and_no_other() {
    let bench = Bench::new();
    fs::write(bench.path("home/workspace/probe.pl"), PROBE).unwrap();
    let told = bench.run("perl probe.pl").await;
    let numbers = told.lines().next().unwrap_or_default().split(' ');
    let let_through: Vec<i64> = numbers.filter_map(|number| number.parse().ok()).collect();
    let list = allowed(Allowance { attributes: true, network: false, watch: true }).unwrap();
    let others = let_through.iter().filter(|number| list.iter().all(|(call, ..)| call != *number));
    let others: Vec<&i64> = others.filter(|number| !OF_THE_KERNEL.contains(number)).collect();
    assert!(others.is_empty(), "let through, and not in the list: {others:?}");
    let named = list.iter().filter(|(call, ..)| let_through.contains(call));
    let named = named.map(|(call, name, how)| match how {
        Allowed::Whole => format!("{call:<3} {name}"),
        Allowed::SomeValues => format!("{call:<3} {name} with some values"),
        Allowed::WithoutEffect => format!("{call:<3} {name} without effect"),
    });
    insta::assert_snapshot!(named.collect::<Vec<_>>().join("\n"));
}

/// Calls with values, and whether they are let through.
#[cfg(target_arch = "x86_64")]
const VALUES: [(&str, &str, bool); 50] = [
    ("limits of its own", "302, 0, 7, 0, 0", true),
    ("limits of another", "302, 1, 7, 0, 0", false),
    ("processors of its own", "204, 0, 0, 0", true),
    ("processors of another", "203, 1, 0, 0", false),
    ("priority of its own", "141, 0, 0, 5", true),
    ("priority of its group", "141, 1, 0, 5", false),
    ("priority of another", "141, 0, 1, 5", false),
    ("disk priority of another", "251, 1, 1, 0", false),
    ("a pair of streams", "53, 1, 1, 0, 0", true),
    ("a pair of datagrams", "53, 1, 2, 0, 0", false),
    ("a larger buffer", "54, 0, 1, 7, 0, 0", false),
    ("another option", "54, 0, 6, 1, 0, 0", true),
    ("a socket", "41, 2, 1, 0", false),
    ("a socket of this machine", "41, 1, 1, 0", false),
    ("a pipe with a name", "133, 0, 0010644, 0", true),
    ("a device", "133, 0, 0020644, 0", false),
    ("memory as a file", "319, 0, 0", false),
    ("secret memory", "447, 0", false),
    ("a thread with a namespace", "56, 0x10000011, 0, 0, 0, 0", false),
    ("clone3", "435, 0, 0", false),
    ("a larger pipe", "72, 0, 1031, 4096", false),
    ("a terminal's input", "16, 0, 0x5412, 0", false),
    ("whether it is a terminal", "16, 0, 0x5401, 0", true),
    ("room for a file", "285, 1, 0, 0, 1", false),
    ("whether it may be looked into", "157, 4, 0, 0, 0, 0", false),
    ("a plain mode", "90, 0, 0755", true),
    ("a set-user-ID mode", "90, 0, 04755", false),
    ("a file to read, whatever the mode", "2, 0, 0, 06777", true),
    ("a new file with a set-group-ID mode", "2, 0, 0101, 02755", false),
    ("opening by a structure", "437, 0, 0, 0, 0", false),
    ("its own user again", "117, -1, $<, -1", true),
    ("another user", "117, 1, 1, 1", false),
    ("its name", "157, 15, 0, 0, 0, 0", true),
    ("whether a file is in memory", "27, 0, 0, 0", false),
    ("a part of a file to be in memory", "187, 0, 0, 0", false),
    ("a part of a file not to be in memory", "221, 0, 0, 0, 4", false),
    ("memory that is not needed", "28, 0, 0, 4", true),
    ("memory in huge pages", "28, 0, 0, 14", true),
    ("a guard", "28, 0, 0, 102", true),
    ("a part of a file to be read ahead", "28, 0, 0, 3", false),
    ("the same pages elsewhere", "28, 0, 0, 12", false),
    ("memory to be moved to a disk", "28, 0, 0, 20", false),
    ("parts of files to be pushed out", "28, 0, 0, 21", false),
    ("a read", "327, 0, 0, 0, 0, 0, 0", true),
    ("a read of what is in memory alone", "327, 0, 0, 0, 0, 0, 8", false),
    ("a write that leaves nothing in memory", "328, 0, 0, 0, 0, 0, 128", false),
    ("a session", "112", true),
    ("descriptors to be closed", "436, 900, 901, 0", true),
    ("a thread with descriptors of its own", "436, 900, 901, 2", false),
    ("the same from its beginning", "56, 0x10900, 0, 0, 0, 0", false),
];

// SEC-080
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn a_call_is_let_through_by_its_values_too() {
    let bench = Bench::new();
    let asks =
        VALUES.map(|(_, call, _)| format!("$! = 0; syscall({call}); print $!+0 == 38 ? \"no\\n\" : \"yes\\n\";\n"));
    fs::write(bench.path("home/workspace/values.pl"), asks.concat()).unwrap();
    let told = bench.run("perl values.pl").await;
    let answers: Vec<&str> = told.lines().collect();
    assert_eq!(answers.len(), VALUES.len() + 1, "{told}");
    for ((what, _, passes), answer) in VALUES.iter().zip(answers) {
        assert_eq!(answer == "yes", *passes, "{what}");
    }
}

// SEC-080 SEC-084
#[tokio::test]
async fn a_program_stands_behind_the_agent_and_no_session_of_its_own_changes_that() {
    let bench = Bench::new();
    let asks = "use POSIX; my $is = POSIX::setsid(); print defined $is && $is == 0 ? \"said 0\n\" : \"failed\n\"; \
                print getpriority(0, 0), \"\n\"; \
                setpriority(0, 0, 0); print getpriority(0, 0), \"\n\"; \
                open my $f, \"<\", \"/proc/self/autogroup\"; print <$f> // \"\"; \
                if (fork == 0) { setsid(); open my $f, \"<\", \"/proc/self/autogroup\"; print <$f> // \"\"; exit }; wait;";
    let told = bench.run(&format!("perl -e '{asks}'")).await;
    let lines: Vec<&str> = told.lines().collect();
    let sessions: Vec<&&str> = lines.iter().filter(|line| line.starts_with("/autogroup")).collect();
    assert_eq!(lines[0], "said 0", "setsid seems to succeed: {told}");
    // A kernel without them has none.
    assert!(sessions.is_empty() || sessions[0] == sessions[1] && sessions[0].ends_with(" nice 10"), "{told}");
    assert_eq!(lines[1..3], ["19", "19"], "{told}");
}

// SEC-081
#[tokio::test]
async fn no_descriptor_of_whoever_started_it_is_passed_on() {
    let bench = Bench::new();
    let secret = bench.path("nowhere/letter.md");
    let open: Vec<File> = (0..40).map(|_| File::open(&secret).unwrap()).collect();
    for file in &open {
        rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty()).unwrap();
    }
    let told = bench.run("ls /proc/self/fd; cat /proc/self/fd/9 /proc/self/fd/20").await;
    assert!(told.starts_with("0\n1\n2\n3\nSTDERR:"), "the last one is the listing's own: {told}");
    assert!(!told.contains("Dear all"), "{told}");
}

/// What is tried of the layers, with a call of the kernel that only pretends to have done it, or fails.
fn tried(injected: Option<&str>) -> Option<String> {
    let helper = format!("{} '{HELPER}' {TRY}", unprivileged());
    let command = match injected {
        None => helper,
        Some(injected) => {
            let call = injected.split(':').next().unwrap_or_default();
            format!("strace -f -qqq -o /dev/null -e trace={call} -e inject={injected} {helper}")
        }
    };
    let output = Command::new("sh").args(["-c", &command]).output().unwrap();
    if output.status.code() == Some(127) {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "SKIPPED: there is no strace, which switches a layer off");
        return None;
    }
    // Whether there is a cgroup hangs on where the tests run.
    let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let is_of_layer = |line: &&str| !line[1..].starts_with("cgroup");
    Some(told.split_inclusive('\n').filter(is_of_layer).collect())
}

// SEC-095
#[test]
fn every_layer_stops_what_is_tried_and_one_that_is_switched_off_is_named() {
    let whole = tried(None).unwrap();
    let layers = ["own processes", "own files", "own network", "Landlock", "system calls", "no rights", "limits"];
    assert_eq!(whole, layers.map(|layer| format!("+{layer}\n")).concat());
    for (injected, layer) in [("landlock_restrict_self:retval=0", "Landlock"), ("seccomp:retval=0", "system calls")] {
        let Some(told) = tried(Some(injected)) else { return };
        let missing: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix('-')).collect();
        assert_eq!(missing, [layer], "{injected}: {told}");
    }
    // Whoever waits for the word that all holds may be interrupted before it comes.
    let Some(told) = tried(Some("recvfrom:error=EINTR:when=1")) else { return };
    assert_eq!(told, whole);
    let Some(told) = tried(Some("unshare:error=EPERM")) else { return };
    assert_eq!(told, "-namespaces\n+signals\n+Landlock\n+system calls\n+no rights\n+limits\n");
    for (injected, why) in [
        ("landlock_create_ruleset:error=ENOSYS", "the kernel has no Landlock"),
        ("seccomp:error=EINVAL", "no seccomp filter"),
    ] {
        let Some(told) = tried(Some(injected)) else { return };
        assert!(told.contains(why), "{injected}: {told}");
    }
}

// SEC-082
#[tokio::test]
async fn a_program_has_no_rights_and_gets_none() {
    let bench = Bench::new();
    let told = bench.run("grep -E 'Cap|NoNewPrivs' /proc/self/status").await;
    assert_eq!(told.matches("\t0000000000000000\n").count(), 5, "{told}");
    assert!(told.contains("NoNewPrivs:\t1\n"), "{told}");
    let told = bench.run("mknod disk b 8 0; cp /usr/bin/id id; chmod 4755 id; ./id -u; ls -l id").await;
    assert!(told.contains("mknod: disk: ") && told.contains("chmod: changing permissions"), "{told}");
    assert!(!told.contains("-rws"), "{told}");
    assert!(!told.lines().any(|line| line == "0"), "{told}");
}

// SEC-082
#[test]
fn as_root_nothing_is_run_and_it_is_said_how_to_be_somebody_else() {
    assert!(Missing::Root.advice().contains("setpriv --reuid"));
    if !is_root() {
        return;
    }
    let output = Command::new(HELPER).args([WATCH, "/bin/true", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(126));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "cannot run it: Limpid runs as root\n");
}
