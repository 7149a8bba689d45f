//! Where paths lead in a home that is made for a test. Here stands what these tests share.

mod instructing;
mod low;

#[cfg(unix)]
use super::links::LINKS;
use super::*;

fn bench() -> (tempfile::TempDir, PathResolver) {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join("workspace/docs")).unwrap();
    let resolver = PathResolver::new(&Home::new(home.path()), vec!["AGENTS.md".into()], &FilesConfig::default());
    (home, resolver)
}

fn look(resolver: &PathResolver, path: &str) -> PathFacts {
    resolver.resolve(PathArgument { path: path.to_owned(), write: true, adds: false })
}

// OLLM-037
#[test]
fn a_path_is_where_it_leads() {
    let (home, resolver) = bench();
    let shown = |path: &str| {
        let facts = look(&resolver, path);
        let root = home.path().canonicalize().unwrap().display().to_string();
        (facts.real.as_path().display().to_string().replace(&root, "~"), facts.in_workspace)
    };
    assert_eq!(shown("docs/../src/app.ts"), ("~/workspace/src/app.ts".into(), true));
    assert_eq!(shown("../soul.md"), ("~/soul.md".into(), false));
    assert_eq!(shown("/etc/x.md"), ("/etc/x.md".into(), false));
    assert_eq!(shown("/../../etc/x.md").0, "/etc/x.md");
}

// OLLM-037 SEC-020
#[cfg(unix)]
#[test]
fn links_are_followed_wherever_they_stand() {
    use std::os::unix::fs::symlink;
    let (home, resolver) = bench();
    let workspace = home.path().join("workspace");
    symlink("/etc", workspace.join("docs/out")).unwrap();
    symlink("../../soul.md", workspace.join("docs/plan.md")).unwrap();
    symlink("loop", workspace.join("loop")).unwrap();
    assert_eq!(look(&resolver, "docs/out/x.md").real.as_path(), Path::new("/etc/x.md"));
    let dangling = look(&resolver, "docs/plan.md");
    assert!(dangling.real.as_path().ends_with("soul.md") && !dangling.in_workspace, "{dangling:?}");
    assert!(look(&resolver, "docs/out/../x.md").real.as_path().ends_with("x.md"));
    assert_eq!(
        look(&resolver, "docs/out/../x.md").real.as_path(),
        Path::new("/x.md"),
        "`..` is the parent of where a link leads"
    );
    look(&resolver, "loop/x");
}

// SEC-062
#[cfg(unix)]
#[test]
fn where_a_path_with_too_many_links_leads_nothing_is_low() {
    let (home, resolver) = bench();
    let outside = home.path().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    for at in 0..=LINKS {
        std::os::unix::fs::symlink(format!("l{}", at + 1), outside.join(format!("l{at}"))).unwrap();
    }
    let far = look(&resolver, "../outside/l0");
    assert!(far.real.as_path() == Path::new("/") && !far.is_low && far.change != FileChange::OwnLow, "{far:?}");
    let near = look(&resolver, "../outside/l1");
    let end = outside.join(format!("l{}", LINKS + 1));
    assert!(near.is_low && near.real.as_path().ends_with(end.file_name().unwrap()), "{near:?}");
}

// SEC-062 SEC-093
#[cfg(unix)]
#[test]
fn a_path_is_not_followed_for_ever() {
    let (home, resolver) = bench();
    let outside = home.path().join("outside");
    std::fs::create_dir_all(outside.join("a")).unwrap();
    for at in 0..LINKS - 2 {
        let way = "a/../".repeat(800) + &format!("l{}", at + 1);
        std::os::unix::fs::symlink(way, outside.join(format!("l{at}"))).unwrap();
    }
    let is_too_long =
        |path: &str| resolver.is_too_long(&PathArgument { path: path.to_owned(), write: false, adds: false });
    assert!(is_too_long("../outside/l0"));
    assert!(!is_too_long(&format!("../outside/l{}", LINKS - 4)));
    assert!(!is_too_long(&"a/".repeat(LONGEST_PATH / 2)));
    assert!(is_too_long(&"a/".repeat(LONGEST_PATH)));
}

// SEC-055
#[test]
fn a_file_is_whose_the_innermost_folder_is() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    for folder in ["home", "mine", "theirs/mine", "far"] {
        std::fs::create_dir_all(at(folder)).unwrap();
    }
    // A commit to a repository, or a package, laid a link in the place of a folder that the owner trusted.
    std::os::unix::fs::symlink("../far", at("theirs/laid")).unwrap();
    let grants = vec![at("theirs"), at("mine"), at("far")];
    let trusted = vec![at("mine"), at("theirs/mine"), at("theirs/laid"), at("theirs/gone")];
    let files = FilesConfig { grants, trusted, ..FilesConfig::default() };
    let resolver = PathResolver::new(&Home::new(at("home")), Vec::new(), &files);
    for (place, expected) in [
        ("home/workspace/a.md", false),
        ("mine/a.md", false),
        ("theirs/mine/a.md", false),
        ("theirs/a.md", true),
        ("theirs/mine/../a.md", true),
        ("theirs/laid/a.md", true),
        ("far/a.md", true),
        ("theirs/gone/a.md", true),
        ("home/outside/a.md", true),
    ] {
        assert_eq!(look(&resolver, &at(place).display().to_string()).of_strangers, expected, "{place}");
    }
}

/// Parts that paths are made of: names, steps back, and links that lead to folders and to nothing, in a folder of a stranger's.
#[cfg(unix)]
const PARTS: [&str; 10] = ["outside", "workspace", "docs", "tool", "..", ".", "deep", "up", "nowhere", "self"];

// SEC-062
#[cfg(unix)]
#[test]
fn what_is_judged_is_what_is_written() {
    use std::os::unix::fs::symlink;
    use std::sync::Arc;

    use limpid_tools::files::{Grants, Links, Root, WriteFile, restore};
    use proptest::prelude::*;

    use crate::tools::Tool as _;

    proptest!(|(parts in proptest::collection::vec(prop::sample::select(&PARTS[..]), 0..8), whole in any::<bool>())| {
        let (home, resolver) = bench();
        let at = |name: &str| home.path().join(name);
        std::fs::create_dir_all(at("outside/tool/a/b")).unwrap();
        for (link, target) in [("deep", "a/b"), ("up", ".."), ("nowhere", "x/y/z"), ("self", "../tool")] {
            symlink(target, at("outside/tool").join(link)).unwrap();
        }
        let grants = Grants::new(at("workspace"), at("data/locks"))
            .with(Root { folder: at("outside"), write: true, trust: limpid_core::Trust::Outside })
            .with_short(OUTSIDE, [at("outside")]);
        let path = parts.iter().copied().chain(["new.txt"]).collect::<PathBuf>().display().to_string();
        let path = if whole { at(&path).display().to_string() } else { path };
        let call = serde_json::json!({ "path": path, "content": "x" });
        let tool = WriteFile::new(Arc::new(grants.clone()));
        let judged = resolver.resolve(tool.paths(&call).remove(0)).real;
        if restore(&grants, &path, Some(b"x"), Links::Followed).is_ok() {
            let made = std::fs::read_to_string(judged.as_path()).ok();
            prop_assert_eq!(made.as_deref(), Some("x"), "{} was judged as {:?}", path, judged);
        }
    });
}
