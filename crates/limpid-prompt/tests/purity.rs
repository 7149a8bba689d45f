//! The crate reads its arguments and nothing else (PRO-001).
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::Path;

/// Crates that the prompt engine may use; none of them does I/O, reads a clock or runs tasks by itself.
const ALLOWED: [&str; 11] = [
    "include_dir",
    "jiff",
    "limpid-core",
    "minijinja",
    "schemars",
    "serde",
    "serde-saphyr",
    "serde_json",
    "sha2",
    "thiserror",
    "toml",
];

/// What would let something in that is no argument.
const FORBIDDEN: [&str; 12] = [
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "SystemTime",
    "Instant::now",
    "::now(",
    "async fn",
    "static mut",
    "thread_local",
    "OnceLock",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

// PRO-001 ARC-001
#[test]
fn dependencies_are_on_the_list() {
    let manifest: toml::Table = std::fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let used: BTreeSet<&str> = manifest["dependencies"].as_table().unwrap().keys().map(String::as_str).collect();
    let allowed = BTreeSet::from(ALLOWED);
    assert_eq!(used.difference(&allowed).collect::<Vec<_>>(), Vec::<&&str>::new(), "not on the list");
}

// PRO-001
#[test]
fn no_file_but_the_loader_touches_the_world() {
    let mut folders = vec![root().join("src")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path != root().join("src/fs.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let words = FORBIDDEN.iter().filter(|word| text.contains(**word));
                found.extend(words.map(|word| format!("{}: {word}", path.display())));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
