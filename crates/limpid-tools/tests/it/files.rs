//! The tools of files over real folders.

mod changes;
mod confined;
mod judged;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_core::{CallId, ConversationId, Tier, Trust, TurnId};
use limpid_tools::files::{Grants, Root, tools};
use limpid_tools::{ShownItems, Tool, ToolContext, Written};
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
            written: Written::default(),
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

/// By the name that it was asked for, it lies elsewhere.
// SEC-056 SEC-061
#[tokio::test]
async fn what_was_written_after_foreign_text_is_found_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("workspace")).unwrap();
    fs::create_dir_all(path("outside")).unwrap();
    let outside = Root { folder: path("outside"), write: true, trust: Trust::Outside };
    let grants = Grants::new(path("workspace"), path("locks")).with(outside);
    let grants = grants.with_short("outside", [path("outside")]);
    let bench = Bench { tools: tools(&Arc::new(grants), None), folder };
    let list = async || bench.call("list_dir", json!({})).await.unwrap().text;
    assert_eq!(list().await, "(empty)", "of an empty folder nothing is said");
    fs::create_dir_all(bench.path("outside/notes")).unwrap();
    fs::write(bench.path("outside/notes/trip.md"), "Tea.\n").unwrap();
    assert_eq!(list().await, "DIR:  outside (beside this folder: written after foreign text was read)");
    let there = "`trip.md` does not exist; `outside/notes/trip.md` does, which was written after foreign text was read";
    assert_eq!(bench.call("read_file", json!({ "path": "trip.md" })).await.unwrap_err(), there);
    let add = |path: &str| bench.call("append_file", json!({ "path": path, "content": "Milk.\n" }));
    let refused = add("trip.md").await.unwrap_err();
    assert_eq!(refused, format!("{there}. Add to that one, or make a new file with write_file."));
    assert!(!bench.path("workspace/trip.md").exists());
    assert!(add("outside/notes/trip.md").await.unwrap().text.starts_with("added 6 bytes to"));
    assert_eq!(add("new.md").await.unwrap().text, "made new.md with 6 bytes");
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
