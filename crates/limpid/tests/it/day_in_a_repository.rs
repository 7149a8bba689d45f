//! An hour in a repository, the owner's or a stranger's, with the questions counted: what it asks is what its grant asked.

use serde_json::json;

use crate::attacks::obedient::{Attack, Planned, page};

const TEST: &str = "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parent))\nfrom add import add\n\
                    assert add(2, 2) == 4\nprint('passed')\n";

// SEC-058 SEC-065
#[tokio::test]
async fn an_hour_of_edits_and_test_runs_in_the_owners_own_repository_asks_nothing_after_the_grant() {
    use std::os::unix::fs::PermissionsExt as _;
    if limpid_runtime::sandbox::support().err().is_some_and(|missing| missing != limpid_runtime::sandbox::Missing::Root)
    {
        return;
    }
    let repository = tempfile::tempdir().unwrap();
    let at = |name: &str| repository.path().join(name);
    std::fs::write(at("add.py"), "def add(a, b):\n    return a - b\n").unwrap();
    std::fs::write(at("test_add.py"), TEST).unwrap();
    // The program runs as somebody without rights.
    for (path, mode) in [(repository.path().to_owned(), 0o777), (at("add.py"), 0o666), (at("test_add.py"), 0o666)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let path = |name: &str| at(name).display().to_string();
    let run = || ("exec", json!({ "command": format!("python3 {}", path("test_add.py")) }));
    let edit =
        |old: &str, new: &str| ("edit_file", json!({ "path": path("add.py"), "old_text": old, "new_text": new }));
    // Each text has another length than the one before: Python looks at length and second of a file that it has compiled.
    let hour: Vec<Planned> = vec![
        ("list_dir", json!({ "path": repository.path().display().to_string() })),
        ("read_file", json!({ "path": path("add.py") })),
        run(),
        edit("a - b", "b + a + 0"),
        run(),
        edit("b + a + 0", "a + b"),
        ("write_file", json!({ "path": path("NOTES.md"), "content": "It adds.\n" })),
        ("append_file", json!({ "path": path("NOTES.md"), "content": "It is tested.\n" })),
        run(),
    ];
    let mut attack = Attack::new(|_| hour, |_| Vec::new(), |_| page("tea")).await;
    attack.world = attack.world.without_rights();
    let folder = repository.path().display().to_string();
    // The grant, and its one question: these files are the owner's.
    attack.world.write("limpid.toml", &format!("[files]\ngrants = [{folder:?}]\ntrusted = [{folder:?}]\n"));
    attack.world.done(&["chat", "mend the sum, and see that its test passes"]).await;
    let waits = attack.world.json(&["draft", "list", "--json"]).await;
    assert_eq!(waits["drafts"].as_array().unwrap().len(), 0, "{waits}");
    assert_eq!(std::fs::read_to_string(at("add.py")).unwrap(), "def add(a, b):\n    return a + b\n");
    assert_eq!(std::fs::read_to_string(at("NOTES.md")).unwrap(), "It adds.\nIt is tested.\n");
    assert_eq!(attack.newest().matches("passed\nExit code: 0").count(), 2, "{}", attack.newest());
    assert!(!attack.newest().contains("[untrusted "), "{}", attack.newest());
}

// SEC-058 SEC-065
#[tokio::test]
async fn an_hour_in_a_strangers_repository_asks_nothing_after_the_grant_and_changes_nothing_of_it() {
    if crate::programs::no_sandbox() {
        return;
    }
    let repository = tempfile::tempdir().unwrap();
    let folder = repository.path().display().to_string();
    let at = |name: &str| repository.path().join(name);
    std::fs::write(at("add.py"), "def add(a, b):\n    return a - b\n").unwrap();
    std::fs::write(at("test_add.py"), TEST).unwrap();
    std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut attack = Attack::new(|_| Vec::new(), |_| Vec::new(), |_| page("tea")).await;
    attack.world = attack.world.without_rights();
    let outside = attack.world.home.path().join("outside");
    let runs = |file: &str| ("exec", json!({ "command": format!("python3 {file}"), "working_dir": folder }));
    let writes = |name: &str, text: &str| ("write_file", json!({ "path": name, "content": text }));
    attack.then(vec![
        ("list_dir", json!({ "path": folder })),
        ("read_file", json!({ "path": at("add.py").display().to_string() })),
        runs("test_add.py"),
        writes("add.py", "def add(a, b):\n    return a + b\n"),
        writes("test_add.py", TEST),
        runs(&outside.join("test_add.py").display().to_string()),
        ("append_file", json!({ "path": "outside/add.py", "content": "# It adds.\n" })),
        runs(&outside.join("test_add.py").display().to_string()),
    ]);
    // The grant, and its one question: these files are somebody else's, and their tests run with Python.
    let grant = format!(
        "[files]\ngrants = [{folder:?}]\n[[exec.folders]]\nfolder = {folder:?}\nprograms = [\"python3\"]\nseconds = 120\n"
    );
    attack.world.write("limpid.toml", &grant);
    attack.world.done(&["chat", "see whether the sum is right, and what would mend it"]).await;
    let waits = attack.world.json(&["draft", "list", "--json"]).await;
    assert_eq!(waits["drafts"].as_array().unwrap().len(), 0, "{waits}");
    let seen = attack.newest();
    assert!(seen.contains("AssertionError"), "{seen}");
    assert_eq!(seen.matches("passed\nExit code: 0").count(), 2, "{seen}");
    let (before, rest) = seen.split_once("AssertionError").unwrap();
    assert!(before.contains("[untrusted ") && rest.contains("[/untrusted "), "its outcome is a stranger's: {seen}");
    assert_eq!(std::fs::read_to_string(at("add.py")).unwrap(), "def add(a, b):\n    return a - b\n");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "nothing was left in the repository");
    assert!(outside.join("add.py").exists() && !attack.world.home.path().join("workspace/add.py").exists());
}
