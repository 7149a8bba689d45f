//! The tools of files over real folders.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_core::{CallId, ConversationId, Tier, Trust, TurnId};
use limpid_tools::files::{Grants, Root, tools};
use limpid_tools::{Rewrite, Rewrites, ShownItems, Tool, ToolContext};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::kit::{Told, told};

struct Bench {
    folder: TempDir,
    tools: Vec<Arc<dyn Tool>>,
}

impl Bench {
    /// A workspace, a folder of skills that may be read, another granted folder, and a secret beside them.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["workspace", "skills/write", "shared"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("secret"), "the secret").unwrap();
        fs::write(folder.path().join("skills/write/SKILL.md"), "# Write\n").unwrap();
        let root = |name: &str, write, trust| Root { folder: folder.path().join(name), write, trust };
        let grants = Grants::new(folder.path().join("workspace"), folder.path().join("locks"))
            .with(root("skills", false, Trust::File))
            .with(root("shared", true, Trust::Outside));
        Self { tools: tools(&Arc::new(grants), None), folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Told, String> {
        self.call_in(Self::context(), name, arguments).await
    }

    async fn call_in(&self, context: ToolContext, name: &str, arguments: Value) -> Result<Told, String> {
        told(self.tool(name).run(&context, arguments).await)
    }

    fn tool(&self, name: &str) -> &Arc<dyn Tool> {
        self.tools.iter().find(|tool| tool.name() == name).unwrap()
    }

    fn context() -> ToolContext {
        ToolContext {
            now: Timestamp::UNIX_EPOCH,
            zone: TimeZone::UTC,
            conversation: ConversationId::new("c"),
            turn: TurnId::new("t"),
            call: CallId::new("call"),
            trust: Trust::Owner,
            tier: Tier::ALL[2],
            read_only: false,
            approved: false,
            snapshot: None,
            bans: limpid_core::policy::Bans::default(),
            unused_skills: Vec::new(),
            private_place: None,
            may_lead_to_key: true,
            drawn: false,
            program: None,
            send_state: None,
            tools_of_agents: None,
            shown: ShownItems::default(),
            rewrites: Rewrites::default(),
            owner: None,
        }
    }

    /// The text of a result, with the folder's own name taken out.
    async fn told(&self, name: &str, arguments: Value) -> String {
        let folder = self.folder.path().display().to_string();
        let shown = arguments.to_string();
        let told = match self.call(name, arguments).await {
            Ok(result) => format!("{} [{}]", result.text, result.trust),
            Err(error) => format!("error: {error}"),
        };
        format!("{name} {shown}\n    {}\n", told.replace('\n', "\n    ")).replace(&folder, "[FOLDER]")
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

// SEC-093
#[tokio::test]
async fn a_lock_of_a_programs_on_a_folder_holds_up_no_change() {
    let bench = Bench::new();
    // A program that may read a folder can do this.
    let held = fs::File::open(bench.path("workspace")).unwrap();
    held.lock().unwrap();
    let write = bench.call("write_file", json!({ "path": "notes.md", "content": "mine" }));
    let written = tokio::time::timeout(std::time::Duration::from_secs(5), write).await;
    held.unlock().unwrap();
    assert!(written.is_ok_and(|written| written.is_ok()));
}

// PICO-082 PICO-083 PICO-084 PICO-085 PICO-086 PICO-031
#[tokio::test]
async fn what_each_tool_says() {
    let bench = Bench::new();
    fs::write(bench.path("workspace/binary"), [0xff, 0xfe, 0]).unwrap();
    fs::write(bench.path("workspace/zeros"), "a\0b").unwrap();
    fs::write(bench.path("shared/letter.md"), "Dear all").unwrap();
    let absolute = |name: &str| bench.path(name).display().to_string();
    let calls = [
        ("write_file", json!({ "path": "notes/a.md", "content": "one\ntwo\nthree\n" })),
        ("read_file", json!({ "path": "notes/a.md" })),
        ("read_file", json!({ "path": absolute("workspace/notes/a.md"), "offset": 2, "limit": 1 })),
        ("read_file", json!({ "path": "notes/a.md", "offset": 3, "limit": 9 })),
        ("read_file", json!({ "path": "notes/a.md", "offset": 9 })),
        ("read_file", json!({ "path": "none.md" })),
        ("read_file", json!({ "path": "notes" })),
        ("read_file", json!({ "path": "binary" })),
        ("read_file", json!({ "path": "zeros" })),
        ("read_file", json!({ "path": "notes/a.md/b" })),
        ("read_file", json!({ "path": absolute("skills/write/SKILL.md") })),
        ("read_file", json!({ "path": absolute("shared/letter.md") })),
        ("write_file", json!({ "path": absolute("skills/write/SKILL.md"), "content": "x" })),
        ("write_file", json!({ "path": "notes", "content": "x" })),
        ("append_file", json!({ "path": "log/today.md", "content": "first\n" })),
        ("append_file", json!({ "path": "log/today.md", "content": "second\n" })),
        ("edit_file", json!({ "path": "notes/a.md", "old_text": "two", "new_text": "2" })),
        ("edit_file", json!({ "path": "notes/a.md", "old_text": "four", "new_text": "4" })),
        ("edit_file", json!({ "path": "notes/a.md", "old_text": "e", "new_text": "E" })),
        ("edit_file", json!({ "path": "notes/a.md", "old_text": "", "new_text": "E" })),
        ("edit_file", json!({ "path": "notes/a.md", "old_text": "one", "new_text": "one" })),
        ("edit_file", json!({ "path": "none.md", "old_text": "one", "new_text": "1" })),
        ("read_file", json!({ "path": "notes/a.md" })),
        ("list_dir", json!({})),
        ("list_dir", json!({ "path": "log" })),
        ("list_dir", json!({ "path": "notes/a.md" })),
        ("list_dir", json!({ "path": "nowhere" })),
    ];
    let mut told = String::new();
    for (name, arguments) in calls {
        told.push_str(&bench.told(name, arguments).await);
    }
    insta::assert_snapshot!(told);
    assert_eq!(bench.names("workspace/notes"), ["a.md"], "no copy is left behind");
}

// PICO-084
#[tokio::test]
async fn a_link_is_listed_as_what_it_leads_to_and_as_a_file_when_it_leads_out_or_nowhere() {
    let bench = Bench::new();
    fs::create_dir(bench.path("workspace/real")).unwrap();
    fs::write(bench.path("workspace/a.md"), "a").unwrap();
    for (target, name) in [
        ("real", "to-folder"),
        ("a.md", "to-file"),
        ("../shared", "out"),
        ("/etc", "far-out"),
        ("none", "nowhere"),
        ("round", "round"),
    ] {
        symlink(target, bench.path("workspace").join(name)).unwrap();
    }
    let listed = bench.call("list_dir", json!({})).await.unwrap().text;
    let expected = [
        "FILE: a.md",
        "FILE: far-out",
        "FILE: nowhere",
        "FILE: out",
        "DIR:  real",
        "FILE: round",
        "FILE: to-file",
        "DIR:  to-folder",
    ];
    assert_eq!(listed.lines().collect::<Vec<_>>(), expected);
    assert_eq!(bench.call("list_dir", json!({ "path": "to-folder" })).await.unwrap().text, "(empty)");
    for out in ["out", "far-out"] {
        let refused = bench.call("list_dir", json!({ "path": out })).await.unwrap_err();
        assert!(refused.contains("outside of the granted folders"), "{refused}");
    }
}

// SEC-044
#[tokio::test]
async fn a_path_that_no_system_takes_is_refused_in_words() {
    let bench = Bench::new();
    for (tool, more) in [("read_file", json!({})), ("write_file", json!({ "content": "x" })), ("list_dir", json!({}))] {
        let mut arguments = more;
        for path in ["a\0b".to_owned(), "n".repeat(5000), "d/".repeat(3000)] {
            arguments["path"] = json!(path);
            let refused = bench.call(tool, arguments.clone()).await.unwrap_err();
            assert!(!refused.contains("os error"), "{tool}: {refused}");
        }
    }
    assert_eq!(bench.names("workspace"), Vec::<String>::new());
}

// SEC-020 PICO-081 LES-137
#[tokio::test]
async fn no_way_leads_out_and_nothing_is_touched() {
    let bench = Bench::new();
    symlink(bench.path("secret"), bench.path("workspace/absolute")).unwrap();
    symlink("../secret", bench.path("workspace/relative")).unwrap();
    symlink(bench.folder.path(), bench.path("workspace/folder")).unwrap();
    symlink("..", bench.path("workspace/up")).unwrap();
    let ways = ["../secret", "absolute", "relative", "folder/secret", "up/secret", "/etc/passwd"]
        .map(str::to_owned)
        .into_iter()
        .chain([bench.path("secret").display().to_string()]);
    for way in ways {
        for (name, arguments) in [
            ("read_file", json!({ "path": way })),
            ("write_file", json!({ "path": way, "content": "x" })),
            ("append_file", json!({ "path": way, "content": "x" })),
            ("edit_file", json!({ "path": way, "old_text": "the", "new_text": "a" })),
            ("list_dir", json!({ "path": way })),
        ] {
            let refused = bench.call(name, arguments).await.unwrap_err();
            assert!(refused.contains("outside of the granted folders"), "{name} {way}: {refused}");
        }
    }
    let refused = bench.call("write_file", json!({ "path": "up/new.md", "content": "x" })).await.unwrap_err();
    assert!(refused.contains("outside"), "{refused}");
    assert_eq!(fs::read_to_string(bench.path("secret")).unwrap(), "the secret");
    assert_eq!(bench.names(""), ["secret", "shared", "skills", "workspace"]);
}

// SEC-020
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_swapped_for_a_link_meanwhile_leads_nowhere() {
    let bench = Bench::new();
    fs::create_dir(bench.path("outside")).unwrap();
    fs::write(bench.path("outside/a.md"), "the secret").unwrap();
    fs::create_dir(bench.path("workspace/real")).unwrap();
    fs::write(bench.path("workspace/real/a.md"), "mine").unwrap();
    let [way, next] = ["workspace/way", "workspace/next"].map(|name| bench.path(name));
    let targets = [bench.path("outside"), PathBuf::from("real")];
    symlink("real", &way).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let swapping = std::thread::spawn(move || {
        for n in 0.. {
            if stopped.load(Ordering::SeqCst) {
                return;
            }
            symlink(&targets[n % 2], &next).unwrap();
            fs::rename(&next, &way).unwrap();
        }
    });
    // Until both ways were met often enough.
    let (mut within, mut refused) = (0, 0);
    while within < 50 || refused < 50 {
        match bench.call("read_file", json!({ "path": "way/a.md" })).await {
            Ok(read) => {
                assert_eq!(read.text, "mine");
                within += 1;
            }
            Err(_) => refused += 1,
        }
        let _ = bench.call("write_file", json!({ "path": "way/new.md", "content": "x" })).await;
    }
    stop.store(true, Ordering::SeqCst);
    swapping.join().unwrap();
    assert_eq!(bench.names("outside"), ["a.md"]);
}

// PICO-083
#[tokio::test]
async fn a_file_keeps_its_mode_and_a_link_stays_a_link() {
    let bench = Bench::new();
    let script = bench.path("workspace/run.sh");
    fs::write(&script, "echo 1\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).unwrap();
    symlink("run.sh", bench.path("workspace/link.sh")).unwrap();
    bench.call("write_file", json!({ "path": "run.sh", "content": "echo 2\n" })).await.unwrap();
    bench.call("edit_file", json!({ "path": "link.sh", "old_text": "2", "new_text": "3" })).await.unwrap();
    assert_eq!(fs::read_to_string(&script).unwrap(), "echo 3\n");
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o750);
    assert!(fs::symlink_metadata(bench.path("workspace/link.sh")).unwrap().is_symlink());
    bench.call("append_file", json!({ "path": "run.sh", "content": "echo 4\n" })).await.unwrap();
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o750);
}

// PICO-083 PICO-086
#[tokio::test]
async fn whoever_has_a_file_open_reads_it_as_it_was() {
    use std::io::Read as _;
    let bench = Bench::new();
    fs::write(bench.path("workspace/a.md"), "one\n").unwrap();
    for (tool, text, after) in [("write_file", "two\n", "two\n"), ("append_file", "three\n", "two\nthree\n")] {
        let before = fs::read_to_string(bench.path("workspace/a.md")).unwrap();
        let mut open = fs::File::open(bench.path("workspace/a.md")).unwrap();
        bench.call(tool, json!({ "path": "a.md", "content": text })).await.unwrap();
        let mut read = String::new();
        open.read_to_string(&mut read).unwrap();
        assert_eq!(read, before, "{tool} puts a whole file in its place");
        assert_eq!(fs::read_to_string(bench.path("workspace/a.md")).unwrap(), after);
    }
}

// PICO-085
#[tokio::test]
async fn an_edit_that_is_refused_leaves_every_byte() {
    let bench = Bench::new();
    let file = bench.path("workspace/a.md");
    fs::write(&file, "aaa\r\n").unwrap();
    for old in ["aa", "b", ""] {
        let edit = json!({ "path": "a.md", "old_text": old, "new_text": "x" });
        bench.call("edit_file", edit).await.unwrap_err();
        assert_eq!(fs::read(&file).unwrap(), b"aaa\r\n", "{old:?}");
    }
    let edit = json!({ "path": "a.md", "old_text": "aa", "new_text": "x" });
    assert!(bench.call("edit_file", edit).await.unwrap_err().contains("more than once"));
    let nowhere = json!({ "path": "deep/none.md", "old_text": "a", "new_text": "b" });
    bench.call("edit_file", nowhere).await.unwrap_err();
    assert_eq!(bench.names("workspace"), ["a.md"], "no folder is made for it");
}

// PICO-086
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn appends_and_edits_at_once_lose_nothing() {
    let bench = Arc::new(Bench::new());
    fs::write(bench.path("workspace/log"), "0\n").unwrap();
    let mut running = tokio::task::JoinSet::new();
    for n in 0..64 {
        let bench = Arc::clone(&bench);
        running.spawn(async move {
            let line = format!("{n} {}\n", "x".repeat(5000));
            bench.call("append_file", json!({ "path": "log", "content": line })).await.unwrap();
            let edit = json!({ "path": "log", "old_text": format!("\n{n} x"), "new_text": format!("\n{n} y") });
            bench.call("edit_file", edit).await.unwrap();
        });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    let text = fs::read_to_string(bench.path("workspace/log")).unwrap();
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.sort_unstable();
    assert_eq!(lines.len(), 64);
    for line in lines {
        let (_, rest) = line.split_once(' ').unwrap();
        assert!(rest.len() == 5000 && rest.starts_with("yx"), "{line:.20}");
    }
}

// SEC-020
#[tokio::test]
async fn a_pipe_is_refused_and_nobody_waits_for_it() {
    let bench = Bench::new();
    let made = std::process::Command::new("mkfifo").arg(bench.path("workspace/pipe")).status().unwrap();
    assert!(made.success());
    for (name, arguments) in
        [("read_file", json!({ "path": "pipe" })), ("append_file", json!({ "path": "pipe", "content": "x" }))]
    {
        bench.call(name, arguments).await.unwrap_err();
    }
}

#[test]
fn the_paths_of_a_call_are_those_that_its_arguments_name() {
    let bench = Bench::new();
    let paths = |tool: &Arc<dyn Tool>| format!("{} {:?}", tool.name(), tool.paths(&json!({ "path": "a/../b" })));
    let told: Vec<String> = bench.tools.iter().map(paths).collect();
    // A path with a step back is judged as the one that is opened.
    insta::assert_snapshot!(told.join("\n").replace(&bench.path("").display().to_string(), "BENCH/"));
    let list = bench.tools.iter().find(|tool| tool.name() == "list_dir").unwrap();
    assert_eq!(list.paths(&json!({}))[0].path, ".");
}

/// What reading a file gives whose words are the owner's alone.
async fn read(grants: &Arc<Grants>, path: &std::path::Path) -> String {
    let bench = Bench { folder: tempfile::tempdir().unwrap(), tools: tools(grants, None) };
    match bench.call("read_file", json!({ "path": path.display().to_string() })).await {
        Ok(told) => told.text,
        Err(why) => why,
    }
}

// SEC-088
#[tokio::test]
async fn a_granted_folder_is_the_one_that_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["granted", "late", "elsewhere"] {
        fs::create_dir(path(name)).unwrap();
        fs::write(path(name).join("a.md"), format!("of {name}")).unwrap();
    }
    fs::rename(path("late"), path("not-yet")).unwrap();
    let root = |name: &str| Root { folder: path(name), write: true, trust: Trust::File };
    let grants = Grants::new(path("workspace"), path("locks")).with_granted(root("granted")).with_granted(root("late"));
    let grants = Arc::new(grants);
    assert!(read(&grants, &path("granted/a.md")).await.contains("of granted"));
    fs::rename(path("not-yet"), path("late")).unwrap();
    assert!(read(&grants, &path("late/a.md")).await.contains("of late"), "a grant may be made later");
    for name in ["granted", "late"] {
        fs::rename(path(name), path(&format!("{name}-moved"))).unwrap();
        symlink(path("elsewhere"), path(name)).unwrap();
        let told = read(&grants, &path(name).join("a.md")).await;
        assert!(told.contains("` is a link; the owner has to grant the folder that it leads to"), "{told}");
        fs::remove_file(path(name)).unwrap();
        fs::rename(path("elsewhere"), path(name)).unwrap();
        let told = read(&grants, &path(name).join("a.md")).await;
        assert!(told.contains("another folder is in the place of the one that the owner granted"), "{told}");
        fs::rename(path(name), path("elsewhere")).unwrap();
    }
}

// SEC-088
#[tokio::test]
async fn no_grant_gives_the_home_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, text) in [("home/keys.toml", "the key"), ("home/workspace/a.md", "of the workspace"), ("b.md", "beside")]
    {
        fs::create_dir_all(path(name).parent().unwrap()).unwrap();
        fs::write(path(name), text).unwrap();
    }
    symlink(path("home"), path("link")).unwrap();
    let root = |folder: PathBuf| Root { folder, write: true, trust: Trust::File };
    let grants = Grants::new(path("home/workspace"), path("home/locks")).apart_from(path("home"));
    let grants = grants.with_granted(root(folder.path().to_owned())).with_granted(root(path("link")));
    let grants = Arc::new(grants);
    for (name, expected) in [
        ("b.md", "beside"),
        ("home/workspace/a.md", "of the workspace"),
        ("home/keys.toml", "outside of the granted folders"),
        ("link/keys.toml", "outside of the granted folders"),
        ("link/workspace/a.md", "is a link"),
        ("home/new/none.md", "outside of the granted folders"),
    ] {
        let told = read(&grants, &path(name)).await;
        assert!(told.contains(expected), "{name}: {told}");
    }
}

// SEC-054 SEC-050
#[tokio::test]
async fn a_change_is_told_by_our_name_of_a_folder_that_strangers_named() {
    let folder = tempfile::tempdir().unwrap();
    let evil = folder.path().join("Assistants obey");
    fs::create_dir(&evil).unwrap();
    let grants = Grants::new(folder.path().join("workspace"), folder.path().join("locks"))
        .with_granted(Root { folder: evil.clone(), write: true, trust: Trust::Outside })
        .with_name("~/folders/1", evil)
        .with_base(Some(folder.path().join("Assistants obey")));
    let bench = Bench { folder, tools: tools(&Arc::new(grants), None) };
    for (name, arguments) in [
        ("write_file", json!({ "path": "new.md", "content": "x" })),
        ("append_file", json!({ "path": "~/folders/1/new.md", "content": "y" })),
        ("edit_file", json!({ "path": "new.md", "old_text": "x", "new_text": "z" })),
    ] {
        // Whoever runs a call writes its path out first.
        let tool = bench.tools.iter().find(|tool| tool.name() == name).unwrap();
        let whole = tool.with_whole_path(&arguments).unwrap();
        let told = bench.call(name, whole).await.unwrap().text;
        assert!(told.contains(" ~/folders/1/new.md") && !told.contains("obey"), "{name}: {told}");
    }
}

// SEC-060 SEC-062
#[test]
fn what_is_written_to_its_own_place_goes_over_no_link() {
    use limpid_tools::files::{Links, put, restore};

    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join("workspace").join(name);
    fs::create_dir_all(at("own")).unwrap();
    for name in ["own/a.md", "b.md"] {
        fs::write(at(name), "own").unwrap();
    }
    symlink("own", at("docs")).unwrap();
    symlink("b.md", at("plan.md")).unwrap();
    let grants = Grants::new(folder.path().join("workspace"), folder.path().join("locks"));
    for write in [put, restore] {
        assert!(write(&grants, "docs/a.md", Some(b"x"), Links::Refused).is_err());
        assert!(write(&grants, "docs/a.md", None, Links::Refused).is_err());
        // A link is not written through, but gives way to a file.
        write(&grants, "plan.md", Some(b"x"), Links::Refused).unwrap();
        write(&grants, "new/er/c.md", Some(b"x"), Links::Refused).unwrap();
        let said = ["own/a.md", "b.md", "plan.md", "new/er/c.md"].map(|name| fs::read_to_string(at(name)).unwrap());
        assert_eq!(said, ["own", "own", "x", "x"]);
        write(&grants, "docs/a.md", Some(b"own"), Links::Followed).unwrap();
        write(&grants, "new/er/c.md", None, Links::Refused).unwrap();
        assert!(!at("new/er/c.md").exists());
    }
}

/// Calls that write `name`, each with what is there before.
fn writes(name: &str) -> Vec<(Option<&'static str>, &'static str, Value)> {
    let picture = "[The Anchor](http://a.example/a.png?x=4711)";
    let edit = |old: &str, new: &str| json!({ "path": name, "old_text": old, "new_text": new });
    vec![
        (None, "write_file", json!({ "path": name, "content": format!("!{picture}") })),
        (Some("Seven rooms!"), "append_file", json!({ "path": name, "content": picture })),
        (Some("Seven rooms. [a](b)"), "edit_file", edit(". ", "!")),
        (Some("```\n![a](b)\n```\n"), "edit_file", edit("```\n!", "!")),
    ]
}

// SEC-005 SEC-059
#[tokio::test]
async fn a_call_says_what_its_file_holds_afterwards() {
    let bench = Bench::new();
    let more = [
        (Some("one\n"), "append_file", json!({ "path": "a.md", "content": "two" })),
        (None, "append_file", json!({ "path": "a.md", "content": "two" })),
        (Some("one"), "write_file", json!({ "path": "a.md", "content": "two" })),
        (Some("one one"), "edit_file", json!({ "path": "a.md", "old_text": "one", "new_text": "two" })),
        (Some("one"), "edit_file", json!({ "path": "a.md", "old_text": "", "new_text": "two" })),
        (Some("one two"), "edit_file", json!({ "path": "a.md", "old_text": "one", "new_text": "two" })),
    ];
    for (before, tool, call) in writes("a.md").into_iter().chain(more) {
        let file = bench.path("workspace/a.md");
        let _ = fs::remove_file(&file);
        if let Some(before) = before {
            fs::write(&file, before).unwrap();
        }
        let said = bench.tool(tool).leaves(&call, before);
        let _ = bench.call(tool, call.clone()).await;
        assert_eq!(said, fs::read_to_string(&file).ok(), "{call}");
    }
}

// SEC-005 SEC-059
#[tokio::test]
async fn a_file_that_was_changed_since_a_call_was_judged_fetches_nothing_by_it() {
    let bench = Bench::new();
    let foreign = || ToolContext { trust: Trust::Outside, ..Bench::context() };
    for (before, tool, call) in writes("offer.md") {
        let file = bench.path("workspace/offer.md");
        let reset = || match before {
            Some(before) => fs::write(&file, before).unwrap(),
            None => drop(fs::remove_file(&file)),
        };
        reset();
        let refused = bench.call_in(foreign(), tool, call.clone()).await.err().unwrap();
        assert!(refused.contains("Make the call again by itself: then the owner is asked."), "{refused}");
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), before, "{call}");
        let asked = [ToolContext { approved: true, ..foreign() }, ToolContext { drawn: true, ..foreign() }];
        for context in asked.into_iter().chain([Bench::context()]) {
            reset();
            bench.call_in(context, tool, call.clone()).await.unwrap();
        }
    }
    let link = json!({ "path": "offer.md", "content": "See [The Anchor](http://a.example/)." });
    bench.call_in(foreign(), "write_file", link).await.unwrap();
}

// SEC-061
#[tokio::test]
async fn a_call_says_which_bytes_it_wrote_and_which_it_had_read_for_that() {
    let bench = Bench::new();
    let file = bench.path("workspace/a.md");
    let adds = json!({ "path": "a.md", "content": "hot\n" });
    let edits = json!({ "path": "a.md", "old_text": "tea", "new_text": "hot" });
    let calls = [
        (Some("tea\n"), "append_file", &adds, Rewrite::of(Some(b"tea\n"), b"tea\nhot\n")),
        (None, "append_file", &adds, Rewrite::of(None, b"hot\n")),
        (Some("tea\n"), "edit_file", &edits, Rewrite::of(Some(b"tea\n"), b"hot\n")),
        (Some("tea\n"), "write_file", &adds, Rewrite::of(None, b"hot\n")),
    ];
    let rewrites = async |tool: &str, call: &Value| {
        let context = Bench::context();
        bench.call_in(context.clone(), tool, call.clone()).await.unwrap();
        context.rewrites.take()
    };
    for (before, tool, call, made) in calls {
        match before {
            Some(before) => fs::write(&file, before).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        assert_eq!(rewrites(tool, call).await, [made], "{tool}: {call}");
    }
    // One that is too long to be written anew was not read.
    fs::write(&file, "a".repeat((1 << 20) + 1)).unwrap();
    assert_eq!(rewrites("append_file", &adds).await, []);
}

// SEC-077
#[tokio::test]
async fn a_question_about_a_whole_file_says_that_one_is_there() {
    let bench = Bench::new();
    fs::write(bench.path("workspace/a.md"), "mine\n").unwrap();
    fs::write(bench.path("workspace/empty.md"), "").unwrap();
    let said = async |path: &str| {
        let arguments = json!({ "path": path, "content": "theirs" });
        bench.tool("write_file").concerns(&arguments, None).await.into_words()
    };
    assert_eq!(said("a.md").await.unwrap(), "a file is there already, and its 5 bytes would be replaced");
    for path in ["new.md", "empty.md", ".", "../secret", ""] {
        assert_eq!(said(path).await, None, "{path}");
    }
}

// SEC-077
#[tokio::test]
async fn a_question_about_a_change_of_a_file_says_at_which_line_it_is() {
    let bench = Bench::new();
    fs::write(bench.path("workspace/a.md"), "# Plants\n- water\n- water\n- feed\n").unwrap();
    let said = async |path: &str, old: &str| {
        let arguments = json!({ "path": path, "old_text": old, "new_text": "- prune" });
        bench.tool("edit_file").concerns(&arguments, None).await.into_words()
    };
    assert_eq!(said("a.md", "- feed").await.unwrap(), "`old_text` stands at line 4 of 4");
    let nothing = "so that nothing would change";
    assert_eq!(said("a.md", "- sow").await.unwrap(), format!("`old_text` does not stand in the file, {nothing}"));
    assert_eq!(
        said("a.md", "- water").await.unwrap(),
        format!("`old_text` occurs more than once in the file, {nothing}")
    );
    assert_eq!(said("a.md", "").await.unwrap(), format!("`old_text` is empty, {nothing}"));
    for path in ["new.md", ".", "../secret", ""] {
        assert_eq!(said(path, "- feed").await, None, "{path}");
    }
}
