use async_trait::async_trait;
use limpid_config::{FilesConfig, Home};
use limpid_core::policy::{Effect, PathFacts};
use limpid_core::{Labelled, Sentence, ToolClass};
use limpid_tools::{PathArgument, ToolContext};
use serde_json::{Map, json};

use super::*;
use crate::tools::policy::PathResolver;

/// Starts a program in a folder, with the file of its argument.
struct Runs {
    name: &'static str,
    version: &'static str,
    server: &'static str,
    program: PathBuf,
    folder: PathBuf,
    folders: Vec<PathBuf>,
    files_in: Option<PathBuf>,
}

#[async_trait]
impl Tool for Runs {
    fn name(&self) -> &'static str {
        self.name
    }

    fn group(&self) -> &'static str {
        "test"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Execute
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Run
    }

    fn schema(&self) -> Map<String, Value> {
        Map::new()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn version(&self) -> &'static str {
        self.version
    }

    fn looked_at(&self, _: &Value) -> Option<String> {
        Some(self.server.to_owned())
    }

    fn paths(&self, arguments: &Value) -> Vec<PathArgument> {
        arguments["file"]
            .as_str()
            .map(|path| PathArgument { path: path.to_owned(), write: false, adds: false })
            .into_iter()
            .collect()
    }

    fn starts(&self, _: &Value) -> Option<Started> {
        Some(Started {
            program: self.program.clone(),
            files: Vec::new(),
            folder: self.folder.clone(),
            folders: self.folders.clone(),
            files_in: self.files_in.clone(),
        })
    }

    async fn run(&self, _: &ToolContext, _: Value) -> Result<Labelled<String>, Sentence> {
        Err("nothing".into())
    }
}

/// A workspace with a file, a program beside it, and a project in it with a source.
struct Bench {
    home: tempfile::TempDir,
    resolver: PathResolver,
}

impl Bench {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join("workspace/project/src")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(home.path().join(name), text).unwrap();
        write("bin", "program");
        write("workspace/notes.txt", "named");
        write("workspace/project/src/main.c", "int main;");
        let resolver = PathResolver::new(&Home::new(home.path()), Vec::new(), &FilesConfig::default());
        Self { home, resolver }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(name)
    }

    fn tool(&self, name: &'static str, version: &'static str) -> Runs {
        let (program, folder) = (self.path("bin"), self.path("workspace/project"));
        Runs { name, version, server: "desk", program, folder, folders: Vec::new(), files_in: None }
    }

    fn look(&self, tool: &Runs, arguments: &Value) -> Pins {
        look(tool, arguments, &CallFacts::of(tool, arguments, &self.resolver), None)
    }

    fn now(&self) -> Pins {
        self.look(&self.tool("run", "1"), &json!({ "file": "notes.txt", "words": "a" }))
    }
}

// SEC-075
#[test]
fn everything_that_a_yes_is_bound_to_makes_it_another_question_by_one_byte() {
    let bench = Bench::new();
    let before = bench.now();
    assert!(before.is_whole && before.text == bench.now().text, "it is the same when nothing has changed");
    let call = json!({ "file": "notes.txt", "words": "a" });
    for (case, now) in [
        ("another tool", bench.look(&bench.tool("runs", "1"), &call)),
        ("another version", bench.look(&bench.tool("run", "2"), &call)),
        ("another server", bench.look(&Runs { server: "desk, set anew", ..bench.tool("run", "1") }, &call)),
        ("other arguments", bench.look(&bench.tool("run", "1"), &json!({ "file": "notes.txt", "words": "b" }))),
    ] {
        assert_ne!(now.text.lines().next(), before.text.lines().next(), "{case}");
    }
    let cases = [
        ("bin", Some("Program"), "bin` has changed"),
        ("workspace/notes.txt", Some("Named"), "notes.txt` has changed"),
        ("workspace/project/src/main.c", Some("int main,"), "main.c` has changed"),
        ("workspace/project/src/new.c", Some(""), "new.c` is new"),
        ("workspace/project/src/main.c", None, "main.c` is gone"),
    ];
    for (name, text, said) in cases {
        let path = bench.path(name);
        let old = std::fs::read(&path).ok();
        match text {
            Some(text) => std::fs::write(&path, text).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let now = bench.now();
        assert_ne!(now.text.lines().next(), before.text.lines().next(), "{name}");
        let words = changes(&before.text, &now.text);
        assert!(words.ends_with(said) && !words.contains(','), "{words}");
        assert!(is_same_call(&before.text, &now.text));
        match old {
            Some(old) => std::fs::write(&path, old).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
    }
    assert_eq!(bench.now().text, before.text, "all is as it was");
    let other = bench.look(&bench.tool("run", "1"), &json!({ "file": "notes.txt", "words": "b" }));
    assert!(!is_same_call(&before.text, &other.text));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("main.c", bench.path("workspace/project/src/link.c")).unwrap();
        assert!(changes(&before.text, &bench.now().text).ends_with("link.c` is new"));
    }
}

// SEC-075 SEC-100
#[test]
fn a_yes_is_bound_to_what_the_call_tells_of_the_owners_and_to_what_kind_of_file_it_changes() {
    let bench = Bench::new();
    let (tool, arguments) = (bench.tool("run", "1"), json!({ "file": "notes.txt" }));
    let facts = CallFacts::of(&tool, &arguments, &bench.resolver);
    let with = |told: &str| {
        let mut telling = facts.clone();
        telling.told = told.to_owned();
        look(&tool, &arguments, &telling, None).text
    };
    let (nothing, one, two) = (with(""), with("diabetes"), with("diabetes pankow =8f14e45f"));
    assert_eq!(told_in(&nothing), OwnersWords::default());
    assert_eq!((told_in(&one).line(), told_in(&two).line()), ("diabetes".into(), "diabetes pankow =8f14e45f".into()));
    assert_eq!(changes(&one, &two), "what it tells of yours has changed");
    assert!(is_same_call(&one, &two) && one.lines().next() != two.lines().next());
    let changing = |change, of_strangers| {
        let path = PathFacts { write: true, change, of_strangers, ..facts.paths[0].clone() };
        let mut writing = facts.clone();
        writing.paths = vec![path];
        look(&tool, &arguments, &writing, None).text
    };
    let other = changing(FileChange::Other, false);
    for now in [changing(FileChange::Instructing, false), changing(FileChange::Other, true)] {
        assert_eq!(changes(&other, &now), "what kind of files it changes has changed");
        assert!(is_same_call(&other, &now));
    }
    let mut read = facts.clone();
    read.others_read = true;
    let read = look(&tool, &arguments, &read, None).text;
    assert_eq!(changes(&nothing, &read), "that others read this conversation is new");
}

/// Names that say nothing, that say too much, and that differ in what is told of neither.
const NAMES: [&str; 7] = [
    "plain.py",
    "two words.py",
    "two  words.py",
    "weekly_report_of_all_that_was_asked_and_said.py",
    "sub/a b.txt",
    "tab\tin.py",
    "break\nin.py",
];

// SEC-075
#[test]
fn each_file_is_bound_by_itself_whatever_its_name_is() {
    let bench = Bench::new();
    let at = |name: &str| bench.path("workspace/project").join(name);
    std::fs::create_dir(at("sub")).unwrap();
    for name in NAMES {
        std::fs::write(at(name), "1").unwrap();
    }
    let before = bench.now();
    for name in NAMES {
        std::fs::write(at(name), "2").unwrap();
        let now = bench.now();
        assert_ne!(now.text, before.text, "{name:?}");
        assert!(!changes(&before.text, &now.text).is_empty() && is_same_call(&before.text, &now.text), "{name:?}");
        std::fs::write(at(name), "1").unwrap();
    }
    assert_eq!(bench.now().text, before.text);
}

// SEC-075
#[cfg(unix)]
#[test]
fn what_links_of_the_folder_and_named_folders_lead_to_is_bound() {
    use std::os::unix::fs::symlink;
    let bench = Bench::new();
    for folder in ["workspace/shared/deep", "workspace/named"] {
        std::fs::create_dir_all(bench.path(folder)).unwrap();
    }
    for file in ["workspace/shared/deep/a.py", "workspace/helper.py", "workspace/named/__main__.py"] {
        std::fs::write(bench.path(file), "1").unwrap();
    }
    symlink("../helper.py", bench.path("workspace/project/helper.py")).unwrap();
    symlink("../shared", bench.path("workspace/project/lib")).unwrap();
    symlink("../project", bench.path("workspace/shared/back")).unwrap();
    let tool = || Runs { folders: vec![bench.path("workspace/named")], ..bench.tool("run", "1") };
    let look = || bench.look(&tool(), &json!({ "file": "notes.txt" }));
    let before = look();
    assert!(before.is_whole);
    for file in ["workspace/shared/deep/a.py", "workspace/helper.py", "workspace/named/__main__.py"] {
        std::fs::write(bench.path(file), "2").unwrap();
        assert!(changes(&before.text, &look().text).ends_with("py` has changed"), "{file}");
        std::fs::write(bench.path(file), "1").unwrap();
    }
    assert_eq!(look().text, before.text);
}

// SEC-075
#[cfg(unix)]
#[test]
fn of_a_folder_whose_files_alone_are_seen_those_are_bound_and_what_its_links_lead_to() {
    let bench = Bench::new();
    for folder in ["outside/other", "elsewhere"] {
        std::fs::create_dir_all(bench.path(folder)).unwrap();
    }
    std::fs::write(bench.path("elsewhere/a.py"), "1").unwrap();
    std::os::unix::fs::symlink("../elsewhere", bench.path("outside/lib")).unwrap();
    let tool = || Runs { files_in: Some(bench.path("outside")), ..bench.tool("run", "1") };
    let look = || bench.look(&tool(), &json!({ "file": "notes.txt" }));
    let before = look();
    std::fs::write(bench.path("outside/other/a.py"), "1").unwrap();
    assert_eq!(look().text, before.text, "a folder there is not seen");
    std::fs::write(bench.path("elsewhere/a.py"), "2").unwrap();
    assert!(changes(&before.text, &look().text).ends_with("a.py` has changed"));
    std::fs::write(bench.path("elsewhere/a.py"), "1").unwrap();
    std::fs::write(bench.path("outside/conftest.py"), "1").unwrap();
    assert!(changes(&before.text, &look().text).ends_with("conftest.py` is new"));
    for number in 0..FOLDER_FILES {
        std::fs::write(bench.path("outside").join(number.to_string()), "").unwrap();
    }
    assert!(!look().is_whole, "there are too many");
}

// SEC-075
#[test]
fn a_folder_that_is_too_large_is_not_bound_and_a_yes_to_it_holds_for_five_minutes() {
    let bench = Bench::new();
    let folder = bench.path("workspace/project");
    for number in 1..FOLDER_FILES - 1 {
        std::fs::write(folder.join(number.to_string()), "").unwrap();
    }
    let whole = bench.now();
    assert!(whole.is_whole && whole.unbound().is_none());
    std::fs::write(folder.join("one-more"), "").unwrap();
    std::fs::write(folder.join("and-one-more"), "").unwrap();
    let open = bench.now();
    assert!(!open.is_whole && open.unbound().is_some_and(|said| said.contains("five minutes")));
    let yes = |pins: &Pins, at_ms| Approval { bound_to: pins.text.clone(), at_ms };
    let minute = 60_000;
    assert!(whole.is_approved(&yes(&whole, 0), 600 * minute), "what is bound has no end");
    assert!(open.is_approved(&yes(&open, minute), 6 * minute));
    assert!(!open.is_approved(&yes(&open, minute), 6 * minute + 1), "five minutes are over");
    assert!(!open.is_approved(&yes(&open, minute), minute - 1), "it is of a later time");
    assert!(!open.is_approved(&yes(&whole, minute), minute));
    for name in ["one-more", "and-one-more"] {
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    assert!(bench.now().is_whole);
    std::fs::File::create(folder.join("1")).unwrap().set_len(FOLDER_BYTES + 1).unwrap();
    assert!(!bench.now().is_whole, "a file of it is too large");
}
