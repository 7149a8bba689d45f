//! The shape of the workspace: floors, purity, and the things that stand in one place only. Read from the manifests
//! and sources, so that a change against the shape fails here before anybody has to notice it.

mod circles;
mod lengths;
mod methods;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use sources::{code_lines, dependencies, folders, places_of, read, root};

/// Every crate of the program and its floor (docs/spec/architecture.md, section 2).
const FLOORS: [(&str, u8); 18] = [
    ("limpid-core", 1),
    ("limpid-config", 2),
    ("limpid-formats", 2),
    ("limpid-prompt", 2),
    ("limpid-turn", 3),
    ("limpid-store", 3),
    ("limpid-model", 3),
    ("limpid-tools", 3),
    ("limpid-channels", 3),
    ("limpid-mcp", 3),
    ("limpid-telemetry", 3),
    ("limpid-services", 4),
    ("limpid-context", 5),
    ("limpid-conversation", 6),
    ("limpid-runtime", 7),
    ("limpid-server", 8),
    ("limpid-acp", 8),
    ("limpid", 9),
];

/// What the pure crates may use besides one another: nothing that has a runtime, a clock, sockets or files.
const PURE: [(&str, &[&str]); 3] = [
    (
        "limpid-core",
        &["jiff", "percent-encoding", "rust-stemmers", "thiserror", "unicode-normalization", "unicode-security"],
    ),
    (
        "limpid-prompt",
        &[
            "include_dir",
            "jiff",
            "minijinja",
            "schemars",
            "serde",
            "serde-saphyr",
            "serde_json",
            "sha2",
            "thiserror",
            "toml",
            "unicode-normalization",
            "unicode-script",
            "unicode-security",
        ],
    ),
    ("limpid-turn", &["serde", "serde_json", "thiserror"]),
];

/// What would break purity if a pure crate's source named it.
const IMPURE: [&str; 13] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "std::thread",
    "SystemTime",
    "Instant::now",
    "::now(",
    "static mut",
    "thread_local",
    "OnceLock",
    "Mutex<",
    "async fn",
];

/// The one file of a pure crate that reads files: behind a feature, for whoever stands above.
const READS_FILES: &str = "limpid-prompt/fs.rs";

// ARC-001
#[test]
fn crates_depend_only_on_lower_layers() {
    let floors: BTreeMap<&str, u8> = FLOORS.into_iter().collect();
    let mut wrong = Vec::new();
    for (krate, floor) in FLOORS {
        for used in dependencies(krate) {
            if let Some(below) = floors.get(used.as_str())
                && *below >= floor
            {
                wrong.push(format!("{krate} (floor {floor}) uses {used} (floor {below})"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    let members: BTreeSet<String> = folders(&root().join("crates"));
    let known: BTreeSet<String> =
        FLOORS.iter().map(|(krate, _)| (*krate).to_owned()).chain(["limpid-testkit".to_owned()]).collect();
    assert_eq!(members, known, "a new crate needs a floor");
}

/// Files that start programs elsewhere on purpose: this very program, a server in a folder of its own, a program in its sandbox, and what
/// the owner calls at a terminal.
const STARTED_ELSEWHERE: [&str; 7] = [
    "limpid-mcp/keeper.rs",
    "limpid-mcp/process.rs",
    "limpid-tools/exec/sandbox.rs",
    "limpid-tools/exec/sandbox/enter.rs",
    "limpid-runtime/doctor.rs",
    "limpid/commands/prompt/edit.rs",
    "limpid/commands/service.rs",
];

// SEC-058
#[test]
fn what_the_owner_set_is_started_in_no_folder_of_somebody_elses() {
    let mut starts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (krate, _) in FLOORS {
        for (place, line) in code_lines(krate) {
            let file = place.split(':').next().unwrap_or_default().to_owned();
            let counted = starts.entry(file).or_default();
            let starts = line.match_indices("Command::new(").map(|(at, _)| line[..at].chars().next_back());
            counted.0 += starts.filter(|before| !before.is_some_and(char::is_alphanumeric)).count();
            counted.1 += usize::from(line.contains(".current_dir("));
        }
    }
    let is_known = |file: &str| STARTED_ELSEWHERE.iter().any(|known| file.ends_with(known));
    let open = starts.iter().filter(|(file, (started, placed))| started > placed && !is_known(file));
    assert_eq!(open.map(|(file, _)| file.as_str()).collect::<Vec<_>>(), [""; 0], "say `.current_dir(\"/\")`");
}

// ARC-001 PRO-001
#[test]
fn pure_crates_use_nothing_that_touches_the_world() {
    for (krate, allowed) in PURE {
        let foreign: Vec<String> = dependencies(krate)
            .into_iter()
            .filter(|used| !used.starts_with("limpid-") && !allowed.contains(&used.as_str()))
            .collect();
        assert_eq!(foreign, Vec::<String>::new(), "{krate} may not use these");
        let code = code_lines(krate).into_iter().filter(|(place, _)| !place.starts_with(READS_FILES));
        for (place, line) in code {
            if let Some(impure) = IMPURE.iter().find(|word| line.contains(**word)) {
                panic!("{place}: {krate} is pure, but this line names {impure}: {line}");
            }
        }
    }
}

/// Libraries that parse formats which strangers write.
const OUTSIDE_FORMATS: [&str; 12] = [
    "encoding_rs",
    "feed-rs",
    "flate2",
    "html2text",
    "html5ever",
    "image",
    "mail-parser",
    "pdf-extract",
    "quick-xml",
    "scraper",
    "tar",
    "zip",
];

// SEC-091
#[test]
fn what_strangers_write_is_parsed_by_one_crate_only() {
    let parses =
        |krate: &str| OUTSIDE_FORMATS.iter().any(|library| dependencies(krate).contains(&(*library).to_owned()));
    let parsing: Vec<&str> = FLOORS.into_iter().map(|(krate, _)| krate).filter(|krate| parses(krate)).collect();
    assert_eq!(parsing, ["limpid-formats"]);
}

// ARC-001 SEC-035
#[test]
fn unsafe_code_is_forbidden_everywhere() {
    let workspace = read(&root().join("Cargo.toml"));
    assert!(workspace.contains("unsafe_code = \"forbid\""));
    for (krate, _) in FLOORS {
        let manifest = read(&root().join("crates").join(krate).join("Cargo.toml"));
        assert!(manifest.contains("[lints]\nworkspace = true"), "{krate} does not take the workspace's lints");
    }
}

// SEC-035
#[cfg(unix)]
#[test]
fn what_lands_is_looked_up_among_known_weaknesses_or_it_is_said_that_it_was_not() {
    let check = read(&root().join("check"));
    for asked in ["cargo deny --log-level error check bans licenses sources", "unseen=$(scripts/advisories)"] {
        assert!(check.contains(asked), "./check does not ask `{asked}`");
    }
    assert!(
        check.contains(r#"LIMPID_SKIPPED="${LIMPID_SKIPPED:-}$unseen""#),
        "what was skipped is not told at the end"
    );
    // A `cargo` that cannot fetch, one that finds nothing, and one that finds something.
    let crates = read(&root().join("Cargo.lock")).matches("[[package]]").count();
    let unseen =
        format!("{crates} crates were not looked up, since the database of known weaknesses cannot be reached. ");
    for (stub, status, said) in [
        ("[ $4 != fetch ]", 0, unseen.as_str()),
        ("true", 0, ""),
        ("[ $4 = fetch ] || { echo RUSTSEC-2026-0001; exit 1; }", 1, ""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let cargo = folder.path().join("cargo");
        fs::write(&cargo, format!("#!/bin/sh\n{stub}\n")).unwrap();
        fs::set_permissions(&cargo, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let run = std::process::Command::new(root().join("scripts/advisories")).env("PATH", path).output().unwrap();
        assert_eq!((run.status.code(), String::from_utf8_lossy(&run.stdout).as_ref()), (Some(status), said), "{stub}");
    }
}

/// The file that names the default profile.
const NAMES_DEFAULT: &str = "limpid-core/profile.rs";

// PRO-007
#[test]
fn no_source_names_a_profile() {
    let profiles = folders(&root().join("crates/limpid-prompt/profiles"));
    assert!(profiles.len() > 4, "{profiles:?}");
    // `limpid` is also the name of the command, so below the binary only its quoted form is looked for. `kai-ui` is the
    // language tag of a code block; the samples of stores are tests.
    let names = |line: &str| {
        let words: Vec<&str> = line.split(|letter: char| !(letter.is_alphanumeric() || letter == '-')).collect();
        profiles.iter().any(|name| {
            let is_named = words.iter().any(|word| word.eq_ignore_ascii_case(name));
            if name == "limpid" { line.contains("\"limpid\"") } else { is_named }
        })
    };
    let mut wrong = Vec::new();
    for (krate, _) in FLOORS {
        let named = code_lines(krate).into_iter().filter(|(place, line)| {
            let is_command = krate == "limpid" && line.contains("\"limpid\"");
            names(line) && !is_command && !place.starts_with(NAMES_DEFAULT) && !place.contains("/contract/")
        });
        wrong.extend(named);
    }
    assert_eq!(wrong, [], "ask `profile.behaviour()` instead of a name");
}

// ARC-002
#[test]
fn core_types_have_no_wire_format() {
    for (place, line) in code_lines("limpid-core") {
        assert!(!line.contains("Serialize") && !line.contains("Deserialize"), "{place}: {line}");
    }
}

// ARC-003
#[test]
fn a_model_is_asked_in_one_place_only() {
    let asks = |line: &str| line.contains("Chain::new(") || line.contains(".send(prepared");
    let places =
        places_of(&["limpid-services", "limpid-context", "limpid-conversation", "limpid-runtime", "limpid"], asks);
    let elsewhere: Vec<_> =
        places.iter().filter(|(file, _)| !file.starts_with("limpid-conversation/model_call")).collect();
    assert!(elsewhere.is_empty() && !places.is_empty(), "a model is asked in {places:?}");
}

// ARC-005
#[test]
fn the_command_line_calls_the_agent_and_changes_nothing_by_itself() {
    let used = dependencies("limpid");
    for below in ["limpid-turn", "rusqlite"] {
        assert!(!used.contains(&below.to_owned()), "the command line has no use for {below}");
    }
    let reads = [
        "archived_conversations",
        "conversation",
        "conversations",
        "costs",
        "draft",
        "drafts",
        "find_conversations",
        "memories",
        "memory",
        "messages",
        "request",
        "requests",
        "skill_events",
        "task",
        "tasks",
        "typed",
    ];
    let changing: Vec<String> =
        store_methods().into_iter().filter(|method| !reads.contains(&method.as_str())).collect();
    assert!(changing.len() > 10 && reads.iter().all(|read| store_methods().contains(*read)), "{changing:?}");
    // Services of the agent may be named as methods of the store are, so it is looked for who is called.
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for (place, line) in code_lines("limpid") {
        let file = place.rsplit_once(':').map_or(place.as_str(), |(file, _)| file);
        files.entry(file.to_owned()).or_default().push_str(line.trim());
    }
    assert!(files.values().any(|code| code.contains("store().")), "no command reads the store");
    for (file, code) in files {
        let calls =
            |method: &str| code.contains(&format!("store().{method}(")) || code.contains(&format!("store.{method}("));
        let change = changing.iter().find(|method| calls(method));
        assert_eq!(change, None, "{file}: this is the agent's to do");
    }
}

// OLLM-001
#[test]
fn only_the_ledger_makes_a_prompt_again_from_what_was_sent() {
    let krates = FLOORS.map(|(krate, _)| krate);
    let files: BTreeSet<String> =
        places_of(&krates, |line| line.contains("into_prompt")).into_iter().map(|(file, _)| file).collect();
    let wanted = ["limpid-prompt/recorded.rs", "limpid-runtime/recorded.rs"].map(str::to_owned);
    assert_eq!(files, BTreeSet::from(wanted));
}

// ARC-006
#[test]
fn nothing_below_the_binary_reads_the_environment_or_finds_the_home() {
    for (krate, _) in FLOORS.into_iter().filter(|(krate, _)| *krate != "limpid") {
        for (place, line) in code_lines(krate) {
            let reads =
                ["env::var", "env::args", "home_dir", "env::current_dir"].iter().find(|word| line.contains(**word));
            assert!(reads.is_none(), "{place}: {line}");
        }
    }
}

/// Each such program is linked with every dependency: one for each file once filled a disk.
#[test]
fn the_tests_of_a_crate_from_outside_are_one_program() {
    let crates = root().join("crates");
    let packages = folders(&crates).into_iter().map(|krate| crates.join(krate)).chain([root().join("xtask")]);
    for tests in packages.map(|package| package.join("tests")).filter(|tests| tests.exists()) {
        let programs = folders(&tests);
        let programs =
            programs.iter().filter(|name| name.ends_with(".rs") || tests.join(name).join("main.rs").exists());
        let programs: Vec<&String> = programs.collect();
        assert!(programs.len() < 2, "{}: {programs:?} belong into one", tests.display());
    }
}

/// The methods of the store's traits, by name.
fn store_methods() -> BTreeSet<String> {
    // Traits stand at the top of the crate, what implements them in folders.
    let lines = code_lines("limpid-store").into_iter().filter(|(place, _)| place.matches('/').count() == 1);
    let method = |line: &str| Some(line.trim_start().strip_prefix("async fn ")?.split('(').next()?.to_owned());
    lines.filter_map(|(_, line)| method(&line)).collect()
}
