//! Over how many files the methods of a type are spread.
//!
//! Counted are files with methods in an `impl` of the type or of a trait from elsewhere (`Display`, `Serialize`). A trait
//! of the same crate is an interface of its own, with a file for each: the parts of a store, a job. A type belongs to the
//! file that defines it, so two private types may have one name.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::{code_lines, folders, root};

/// Files that may have methods of one type.
const MOST: usize = 3;

#[test]
fn no_type_has_methods_in_more_than_three_files() {
    let krates = folders(&root().join("crates"));
    let types: Vec<(String, BTreeSet<String>)> = krates.iter().flat_map(|krate| methods(krate)).collect();
    assert!(types.len() > 600, "only {} types are seen", types.len());
    let wrong: Vec<_> = types.iter().filter(|(_, files)| files.len() > MOST).collect();
    assert!(wrong.is_empty(), "write functions about these, or types that own a part of them: {wrong:#?}");
}

/// The types of a crate, by name and file, with the files that have methods of them.
fn methods(krate: &str) -> BTreeMap<String, BTreeSet<String>> {
    let lines: Vec<(String, String)> = code_lines(krate)
        .into_iter()
        .map(|(place, line)| (place.rsplit_once(':').map_or(place.clone(), |(file, _)| file.to_owned()), line))
        .collect();
    let defined = |words: [&str; 2]| -> BTreeMap<String, Vec<&str>> {
        let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (file, line) in &lines {
            let code =
                line.strip_prefix("pub").map_or(&**line, |rest| rest.split_once(' ').map_or("", |(_, rest)| rest));
            if let Some(name) = words.iter().find_map(|word| code.strip_prefix(word)) {
                found.entry(word(name).trim_end_matches(':').to_owned()).or_default().push(file);
            }
        }
        found
    };
    let (types, traits) = (defined(["struct ", "enum "]), defined(["trait ", "unsafe trait "]));
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let impls = lines.iter().enumerate().filter(|(_, (_, line))| line.starts_with("impl") && !line.ends_with("{}"));
    for (at, (file, _)) in impls {
        let block: Vec<&str> = lines[at..].iter().map(|(_, line)| &**line).take_while(|line| *line != "}").collect();
        let (of_trait, name) = subject(&block.join(" "));
        let is_own_trait = of_trait.is_some_and(|of_trait| traits.contains_key(&of_trait));
        if is_own_trait || !block.iter().any(|line| line.contains(" fn ")) {
            continue;
        }
        // Of types with one name, the nearest.
        let steps = |file: &str| file.trim_end_matches(".rs").split('/').map(str::to_owned).collect::<Vec<_>>();
        let shared = |home: &&&str| steps(home).iter().zip(steps(file)).take_while(|(a, b)| **a == *b).count();
        let Some(home) = types.get(&name).and_then(|homes| homes.iter().max_by_key(shared)) else { continue };
        found.entry(format!("{name} of {home}")).or_default().insert(file.clone());
    }
    found
}

/// The trait, if any, and the type of an `impl`.
fn subject(block: &str) -> (Option<String>, String) {
    let mut head = block.strip_prefix("impl").unwrap_or(block);
    if head.starts_with('<') {
        let mut depth = 0;
        let end = head.char_indices().find(|(at, c)| {
            depth += i32::from(*c == '<') - i32::from(*c == '>' && !head[..*at].ends_with('-'));
            depth == 0
        });
        head = end.map_or(head, |(at, _)| &head[at + 1..]);
    }
    let head = head.split('{').next().unwrap_or_default();
    match head.split_once(" for ") {
        Some((of_trait, name)) => (Some(word(of_trait)), word(name)),
        None => (None, word(head)),
    }
}

/// The last name of a path, without what stands between `<` and `>`.
fn word(path: &str) -> String {
    let path = path.trim().trim_start_matches('&').split(['<', '{', '(', ';', ' ']).next().unwrap_or_default();
    path.rsplit("::").next().unwrap_or_default().to_owned()
}
