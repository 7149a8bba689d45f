//! An hour in a repository of the owner's, with the questions that they are asked counted: what it asks is what its grant asked.

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
