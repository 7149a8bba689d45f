//! The manifests and sources of the workspace, as the tests of its shape read them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(super) fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The crates that a crate is built with, those of its tests left out.
pub(super) fn dependencies(krate: &str) -> Vec<String> {
    let manifest: toml::Table = read(&root().join("crates").join(krate).join("Cargo.toml")).parse().unwrap();
    manifest
        .get("dependencies")
        .and_then(toml::Value::as_table)
        .map(|table| table.keys().cloned().collect())
        .unwrap_or_default()
}

pub(super) fn folders(below: &Path) -> BTreeSet<String> {
    fs::read_dir(below).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// Lines of a crate's source that are code: no comments, and nothing from the first test module on.
pub(super) fn code_lines(krate: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, text) in files(krate).into_iter().filter(|(name, _)| !is_test(Path::new(name))) {
        let code = text.lines().enumerate().take_while(|(_, line)| line.trim() != "#[cfg(test)]");
        let code = code.filter(|(_, line)| !line.trim_start().starts_with("//"));
        found.extend(code.map(|(at, line)| (format!("{name}:{}", at + 1), line.to_owned())));
    }
    found
}

/// The source files of a crate with their texts.
pub(super) fn files(krate: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let source = root().join("crates").join(krate).join("src");
    let mut open = vec![source.clone()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push((format!("{krate}/{}", path.strip_prefix(&source).unwrap().display()), read(&path)));
            }
        }
    }
    found
}

/// Files that only tests are built from: `tests.rs` and what lies in its folder, `identity_tests.rs`, `test_kit.rs`.
fn is_test(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with("tests.rs") || name == "test_kit.rs" || path.components().any(|part| part.as_os_str() == "tests")
}

pub(super) fn places_of(krates: &[&str], wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    krates
        .iter()
        .flat_map(|krate| code_lines(krate))
        .filter(|(_, line)| wanted(line))
        .map(|(place, line)| (place.rsplit_once(':').map_or(place.clone(), |(file, _)| file.to_owned()), line))
        .collect()
}
