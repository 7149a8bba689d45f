//! What a file for what strangers wrote may be, and where new ones go.

use limpid_core::policy::FileChange;

use super::{bench, look};
use crate::tools::PathArgument;

// SEC-059
#[test]
fn what_is_acted_on_by_its_name_is_never_only_the_conversations_own() {
    let (home, resolver) = bench();
    std::fs::create_dir_all(home.path().join("outside")).unwrap();
    for name in [".envrc", "a/.git/config", "mise.toml", "Desktop.ini", "node_modules/x/package.json"] {
        for adds in [false, true] {
            let argument = PathArgument { path: format!("../outside/{name}"), write: true, adds };
            assert_eq!(resolver.resolve(argument).change, FileChange::FarReaching, "{name} {adds}");
        }
    }
    for name in ["notes.md", "config", "objects/x", "hotels/a.md", "add.py"] {
        assert_eq!(look(&resolver, &format!("../outside/{name}")).change, FileChange::OwnLow, "{name}");
    }
}

// SEC-057 SEC-059
#[test]
fn a_new_note_goes_where_notes_may_lie_and_nothing_that_is_there_moves() {
    let (home, resolver) = bench();
    std::fs::create_dir_all(home.path().join("outside/tool")).unwrap();
    for there in ["outside/tool/README.md", "outside/rooms.md"] {
        std::fs::write(home.path().join(there), "there\n").unwrap();
    }
    let moved = |path: &str| resolver.low_path(PathArgument { path: path.into(), write: true, adds: false });
    let ways = [
        ("notes.md", "outside/notes.md"),
        ("hotels.md", "outside/notes/hotels.md"),
        ("../outside/hotels.md", "outside/notes/hotels.md"),
        ("../outside/tool/CLAUDE.local.md", "outside/notes/tool/claude-local.md"),
        ("../outside/.github/a.md", "outside/notes/github/a.md"),
        ("../outside/notes/n1/a/b/c/d/e/x.md", "outside/notes/n1/a/b/c-d-e/x.md"),
        ("src/add.py", "outside/src/add.py"),
    ];
    for (way, to) in ways {
        assert_eq!(moved(way).as_deref(), Some(to), "{way}");
    }
    let stays =
        ["../outside/notes/a.md", "../outside/tool/README.md", "../outside/rooms.md", "../outside/todo", ".envrc"];
    for way in stays {
        assert_eq!(moved(way), None, "{way}");
    }
}

// SEC-059
#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_folder_for_notes_takes_none() {
    let (home, resolver) = bench();
    std::fs::create_dir_all(home.path().join("outside/tool")).unwrap();
    std::os::unix::fs::symlink("tool", home.path().join("outside/notes")).unwrap();
    assert!(!resolver.takes_notes(look(&resolver, "../outside/notes/a.md").real.as_path()));
    std::fs::remove_file(home.path().join("outside/notes")).unwrap();
    assert!(resolver.takes_notes(look(&resolver, "../outside/notes/a.md").real.as_path()));
}
