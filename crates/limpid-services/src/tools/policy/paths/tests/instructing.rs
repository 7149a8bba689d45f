//! What instructs the agent, under all of its names.

#[cfg(unix)]
use std::path::{Path, PathBuf};

use limpid_core::policy::FileChange;

#[cfg(unix)]
use super::{FilesConfig, Home, PathResolver};
use super::{bench, look};
#[cfg(unix)]
use crate::tools::PathArgument;
#[cfg(unix)]
use crate::tools::policy::{DEEPEST, Entries, NotLookedAt, PartsLeft};

// SEC-002
#[test]
fn what_prompts_are_made_from_is_known_by_its_place() {
    let (_home, resolver) = bench();
    let within = ["AGENTS.md", "agents.MD", "memory/MEMORY.md", "memory/202603/20260328.md", "skills/x/SKILL.md"];
    let lent = ["prompts/x.md", "Prompts/x.md", "profiles/limpid/sections/soul.md"];
    let home = ["../limpid.toml", "../soul.md", "../prompts/x.md", "../profiles/x", "../skills/x/SKILL.md"];
    for path in within.into_iter().chain(lent).chain(home) {
        assert_eq!(look(&resolver, path).change, FileChange::Instructing, "{path}");
    }
    for path in ["docs/AGENTS.md", "notes.md", "src/memory.rs", "/tmp/skills/x"] {
        assert_ne!(look(&resolver, path).change, FileChange::Instructing, "{path}");
    }
}

/// Each thing that instructs, and what would be another name of it.
#[cfg(unix)]
const INSTRUCTING: [&str; 9] = [
    "workspace/AGENTS.md",
    "workspace/memory/MEMORY.md",
    "workspace/memory/202603/20260328.md",
    "workspace/skills/tea/SKILL.md",
    "workspace/prompts/x.md",
    "limpid.toml",
    "soul.md",
    "skills/tea/scripts/brew.sh",
    "profiles/limpid/sections/soul.md",
];

#[cfg(unix)]
fn put(home: &Path, name: &str) -> PathBuf {
    let file = home.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, name).unwrap();
    file
}

// SEC-062
#[cfg(unix)]
#[test]
fn another_name_of_what_instructs_instructs() {
    use std::os::unix::fs::symlink;
    for (file, adds) in INSTRUCTING.iter().flat_map(|file| [(file, false), (file, true)]) {
        let (home, resolver) = bench();
        let own = put(home.path(), file);
        let folder = own.parent().unwrap();
        let at = |name: &str| home.path().join(name);
        std::fs::create_dir_all(at("outside")).unwrap();
        symlink(&own, at("workspace/docs/soft.txt")).unwrap();
        symlink("soft.txt", at("workspace/docs/twice.txt")).unwrap();
        symlink(folder, at("workspace/docs/folder")).unwrap();
        std::fs::hard_link(&own, at("workspace/docs/hard.txt")).unwrap();
        std::fs::hard_link(&own, at("outside/hard.txt")).unwrap();
        symlink("../workspace/docs/hard.txt", at("outside/soft.txt")).unwrap();
        let name = own.file_name().unwrap().to_str().unwrap();
        let way = format!("../{file}");
        let shouted = own.display().to_string().replace("workspace", "Workspace").replace("skills", "SKILLS");
        let names = [
            way.clone(),
            format!("docs/../{way}"),
            format!("./docs/.././{way}"),
            own.display().to_string(),
            way.to_uppercase().replace("../WORKSPACE", "../workspace").replace(".MD", ".md"),
            shouted,
            "docs/soft.txt".to_owned(),
            "docs/twice.txt".to_owned(),
            "docs/hard.txt".to_owned(),
            format!("docs/folder/{name}"),
            "../outside/hard.txt".to_owned(),
            "../outside/soft.txt".to_owned(),
        ];
        for path in names {
            let argument = PathArgument { path: path.clone(), write: true, adds };
            assert_eq!(resolver.resolve(argument).change, FileChange::Instructing, "{file} as {path}");
        }
    }
}

// SEC-062
#[cfg(unix)]
#[test]
fn what_a_name_that_instructs_leads_to_instructs() {
    use std::os::unix::fs::symlink;
    for file in INSTRUCTING {
        for link in ["soft", "hard", "folder"] {
            let (home, resolver) = bench();
            let place = home.path().join(file);
            let target = put(home.path(), "workspace/docs/real/text.txt");
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            let written = match link {
                "soft" => symlink(&target, &place).map(|()| "docs/real/text.txt"),
                "hard" => std::fs::hard_link(&target, &place).map(|()| "docs/real/text.txt"),
                _ if file.split('/').count() < 3 => continue,
                _ => {
                    std::fs::remove_dir(place.parent().unwrap()).unwrap();
                    symlink(target.parent().unwrap(), place.parent().unwrap()).map(|()| "docs/real/new.txt")
                }
            };
            assert_eq!(look(&resolver, written.unwrap()).change, FileChange::Instructing, "{file} by {link}");
        }
    }
}

// SEC-062 SEC-077
#[cfg(unix)]
#[test]
fn what_is_behind_a_link_is_named_first_and_however_the_path_is_padded() {
    let (home, resolver) = bench();
    put(home.path(), "workspace/taxes.md");
    std::os::unix::fs::symlink("taxes.md", home.path().join("workspace/today.md")).unwrap();
    for pad in [String::new(), "./".repeat(300), "docs/../".repeat(300), ".//".repeat(300)] {
        let told = resolver.behind_link(&look(&resolver, &format!("{pad}today.md")));
        assert_eq!(told.as_deref(), Some("taxes.md would be changed: the link today.md leads there"));
    }
    assert_eq!(resolver.behind_link(&look(&resolver, "taxes.md")), None);
}

// SEC-062
#[cfg(unix)]
#[test]
fn other_links_of_the_owners_make_nothing_instruct() {
    use std::os::unix::fs::symlink;
    let (home, resolver) = bench();
    let own = put(home.path(), "workspace/docs/own.txt");
    put(home.path(), "workspace/memory/MEMORY.md");
    std::fs::create_dir_all(home.path().join("outside")).unwrap();
    symlink(home.path(), home.path().join("workspace/memory/all")).unwrap();
    symlink("own.txt", home.path().join("workspace/docs/soft.txt")).unwrap();
    assert_eq!(look(&resolver, "docs/soft.txt").change, FileChange::Other);
    assert_eq!(look(&resolver, "docs/new.txt").change, FileChange::New);
    assert_eq!(look(&resolver, "../outside/new.txt").change, FileChange::OwnLow);
    std::fs::hard_link(own, home.path().join("outside/own.txt")).unwrap();
    let adds = PathArgument { path: "../outside/own.txt".into(), write: true, adds: true };
    assert_eq!(resolver.resolve(adds).change, FileChange::FarReaching, "it is the owner's file as well");
}

// SEC-061
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_looked_at_is_not_taken_for_an_empty_one() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let (home, resolver) = bench();
    let root = home.path().canonicalize().unwrap();
    let look = || resolver.instructing_entries();
    let closed = |folder: &str| Err::<Entries, _>(NotLookedAt::Closed(root.join(folder)));
    let skill = put(&root, "workspace/skills/tea/SKILL.md");
    let note = put(&root, "workspace/docs/deep/note.md");
    std::fs::create_dir_all(root.join("workspace/memory")).unwrap();
    symlink(&note, root.join("workspace/memory/MEMORY.md")).unwrap();
    // A link to itself is looked at: nothing opens behind it.
    symlink("loop.md", root.join("workspace/loop.md")).unwrap();
    let found = look().unwrap();
    assert!([&skill, &note].into_iter().all(|file| found.files.contains(file)), "{found:?}");
    assert!(found.links.contains(&root.join("workspace/loop.md")), "{found:?}");
    let cases = [
        ("workspace/skills/tea", 0o311),
        ("workspace/skills/tea", 0o600),
        ("workspace/skills", 0o000),
        ("workspace/docs/deep", 0o600),
        ("workspace", 0o300),
    ];
    for (folder, mode) in cases {
        let set = |mode| std::fs::set_permissions(root.join(folder), std::fs::Permissions::from_mode(mode)).unwrap();
        set(mode);
        // Root looks at everything.
        let is_open = root.join(folder).read_dir().is_ok() && skill.exists() && note.exists();
        let looked = look();
        set(0o700);
        assert!(is_open || looked == closed(folder), "{folder} {mode:o}: {looked:?}");
        assert!(look().is_ok(), "{folder}");
    }
    std::fs::remove_dir_all(root.join("workspace")).unwrap();
    assert!(look().is_ok(), "what is not there holds nothing");
    std::fs::write(root.join("workspace"), "").unwrap();
    assert_eq!(look(), closed("workspace"));
}

// SEC-061
#[cfg(unix)]
#[test]
fn a_skill_waits_that_lies_in_a_grant_within_what_the_folder_of_skills_leads_to() {
    let (folder, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let tea = put(&far.path().canonicalize().unwrap(), "tea/SKILL.md");
    std::fs::create_dir_all(folder.path().join("workspace")).unwrap();
    std::os::unix::fs::symlink(far.path(), folder.path().join("skills")).unwrap();
    let files = FilesConfig { grants: vec![tea.parent().unwrap().to_owned()], ..FilesConfig::default() };
    let resolver = PathResolver::new(&Home::new(folder.path()), Vec::new(), &files);
    assert!(resolver.instructing_entries().unwrap().files.contains(&tea));
}

// SEC-061
#[cfg(unix)]
#[test]
fn no_program_starts_while_a_skill_or_a_prompt_of_the_home_has_a_second_name() {
    use std::os::unix::fs::symlink;
    /// Links, each from its path to what it leads to, and the file that has a second name.
    type Case = (&'static [(&'static str, &'static str)], &'static str);
    const OWN: Case = (&[], "home/skills/tea/SKILL.md");
    const SHELF: Case = (&[("home/skills", "dots/skills")], "dots/skills/tea/SKILL.md");
    const TWO: Case = (&[("home/skills", "dots/skills"), ("dots/skills/tea", "src/tea")], "src/tea/SKILL.md");
    const PROMPT: Case = (&[("home/prompts", "dots/prompts"), ("dots/prompts/a.md", "src/a.md")], "src/a.md");
    // The package's own link to the folder is no reason to pass over the owner's.
    const BOTH: Case = (&[("home/skills/a", "src/tea"), ("home/workspace/skills/a", "src/tea")], "src/tea/SKILL.md");
    const OF_PROGRAM: Case = (&[("home/workspace/skills/a", "src/tea")], "src/tea/SKILL.md");
    // One that a package lays in a granted folder, to which the home leads.
    const IN_GRANT: Case = (&[("home/skills/a", "project"), ("project/far", "src/tea")], "src/tea/SKILL.md");
    const INTO_HOME: Case = (&[("home/skills/a", "project"), ("project/far", "home/models")], "home/models/a.gguf");
    const GRANTED: Case = (&[("home/skills/tea", "project/tea")], "project/tea/SKILL.md");
    const VERSION: Case = (&[], "home/skills/.git/objects/a");
    let stops = [(OWN, true), (SHELF, true), (TWO, true), (PROMPT, true), (BOTH, true)];
    let starts = [(OF_PROGRAM, false), (IN_GRANT, false), (INTO_HOME, false), (GRANTED, false), (VERSION, false)];
    for ((links, file), is_stopped) in stops.into_iter().chain(starts) {
        let disk = tempfile::tempdir().unwrap();
        let root = disk.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("home/workspace/skills")).unwrap();
        std::fs::create_dir_all(root.join("project")).unwrap();
        let named = put(&root, file);
        for (from, to) in links {
            std::fs::create_dir_all(root.join(from).parent().unwrap()).unwrap();
            symlink(root.join(to), root.join(from)).unwrap();
        }
        let files = FilesConfig { grants: vec![root.join("project")], ..FilesConfig::default() };
        let resolver = PathResolver::new(&Home::new(root.join("home")), Vec::new(), &files);
        assert!(resolver.instructing_entries().is_ok(), "{links:?}");
        std::fs::hard_link(&named, root.join("project/other.md")).unwrap();
        let stopped = resolver.instructing_entries().err();
        assert_eq!(stopped, is_stopped.then(|| NotLookedAt::NamedTwice(named.clone())), "{links:?} {file}");
        if is_stopped {
            let path = root.join("project/other.md").display().to_string();
            assert_eq!(look(&resolver, &path).change, FileChange::Instructing, "{links:?} {file}");
        }
    }
}

// SEC-061
#[cfg(unix)]
#[test]
fn no_program_starts_while_a_skill_or_a_prompt_leads_around_limpids_own_folders() {
    use std::os::unix::fs::symlink;
    let links = [("home/skills", "home/workspace"), ("home/skills/tea", "home/outside"), ("home/prompts", "")];
    for (from, to) in links.into_iter().chain([("home/workspace/skills", ""), ("home/docs", "home/workspace")]) {
        let disk = tempfile::tempdir().unwrap();
        let root = disk.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("home/outside")).unwrap();
        std::fs::create_dir_all(root.join("home/workspace")).unwrap();
        std::fs::create_dir_all(root.join(from).parent().unwrap()).unwrap();
        symlink(root.join(to), root.join(from)).unwrap();
        let resolver = PathResolver::new(&Home::new(root.join("home")), Vec::new(), &FilesConfig::default());
        let is_shelf = from.starts_with("home/skills") || from.starts_with("home/prompts");
        let stopped = resolver.instructing_entries().err();
        assert_eq!(stopped, is_shelf.then(|| NotLookedAt::Around(root.join(from))), "{from}");
    }
}

// SEC-061 SEC-093
#[cfg(unix)]
#[test]
fn below_what_a_link_of_a_program_leads_to_elsewhere_nothing_is_looked_at() {
    use std::os::unix::fs::symlink;
    for (link, is_owners) in [("workspace/skills/far", false), ("skills/far", true)] {
        let (home, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = home.path().canonicalize().unwrap();
        let note = put(&root, "workspace/docs/note.md");
        std::fs::create_dir_all(root.join(link).parent().unwrap()).unwrap();
        symlink(far.path(), root.join(link)).unwrap();
        symlink(&note, far.path().join("note.md")).unwrap();
        let resolver = PathResolver::new(&Home::new(&root), Vec::new(), &FilesConfig::default());
        assert_eq!(resolver.instructing_entries().unwrap().files.contains(&note), is_owners, "{link}");
    }
}

/// Puts into a folder another one that is so many levels deep, with so many links to itself.
#[cfg(unix)]
fn put_deep(folder: &Path, levels: usize, links: usize) {
    let deepest = folder.join("a/".repeat(levels));
    std::fs::create_dir_all(&deepest).unwrap();
    for link in 0..links {
        std::os::unix::fs::symlink(".", deepest.join(format!("l{link}"))).unwrap();
    }
}

// SEC-093
#[cfg(unix)]
#[test]
fn a_link_is_followed_from_the_folder_that_it_lies_in_and_once() {
    let (home, resolver) = bench();
    let skill = home.path().canonicalize().unwrap().join("workspace/skills/tea");
    let (levels, links) = (50, 200);
    put_deep(&skill, levels, links);
    let left = PartsLeft::default();
    let below = resolver.lying_below(&skill, &left).unwrap();
    assert_eq!(below.places.len(), links);
    let parts_of_link = skill.components().count() + levels + 1;
    let followed = PartsLeft::default().left() - left.left();
    // Each link is come upon, and asked where it leads.
    assert!(followed <= (2 * links + levels + 2) * parts_of_link, "{followed}");
}

// SEC-061 SEC-093
#[cfg(unix)]
#[test]
fn what_lies_too_deep_or_at_the_end_of_too_long_ways_is_not_taken_for_looked_at() {
    use std::os::unix::fs::symlink;
    let (home, resolver) = bench();
    let skill = home.path().canonicalize().unwrap().join("workspace/skills/tea");
    let below = |parts| resolver.lying_below(&skill, &parts).map(|below| below.places.len());
    let above = "skills/tea".split('/').count();
    put_deep(&skill, DEEPEST - above, 1);
    assert_eq!(below(PartsLeft::default()), Ok(1));
    assert!(resolver.instructing_entries().is_ok());
    assert_eq!(look(&resolver, "docs/new.txt").change, FileChange::New);
    put_deep(&skill, DEEPEST - above + 1, 0);
    assert_eq!(below(PartsLeft::default()), Err(NotLookedAt::TooMany));
    assert_eq!(resolver.instructing_entries(), Err(NotLookedAt::TooMany));
    assert_eq!(look(&resolver, "docs/new.txt").change, FileChange::Instructing, "a link may lead there");
    std::fs::remove_dir_all(skill.join("a")).unwrap();
    // A short way by its end, and a long one by its steps.
    std::fs::create_dir(skill.join("a")).unwrap();
    symlink("a/../".repeat(700), skill.join("around")).unwrap();
    assert_eq!(below(PartsLeft::default()), Ok(1));
    let few = PartsLeft::of(1000);
    assert_eq!(resolver.lying_below(&skill, &few).err(), Some(NotLookedAt::TooMany));
    assert_eq!(few.left(), 0, "nothing is left for the next look either");
}
