//! Which requirement is proved by which test.
//!
//! An id stands in `docs/spec/*.md` at the start of a list item or table row. A test names the ids that it proves in a
//! comment of nothing but ids, in Rust (`// PRO-041 LES-020`), in a scenario or script (`# KAI-010`) or in a Markdown
//! test (`<!-- SUR-010 -->`). `docs/spec/done.txt` lists the ids that are finished; each of them must be named. Sentences of
//! sources name none.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Compares specs and tests, prints the coverage of each spec, and fails on what cannot be right.
pub(crate) fn run(root: &Path, list_missing: bool) -> Result<(), String> {
    let specs = read_specs(root)?;
    let known: BTreeSet<&str> = specs.values().flatten().map(String::as_str).collect();
    let named = read_tests(root)?;
    let done = read_done(root)?;

    let mut wrong: Vec<String> = named
        .iter()
        .filter(|(id, _)| !known.contains(id.as_str()))
        .map(|(id, place)| format!("{place}: {id} stands in no spec; correct the id, or add the line to docs/spec"))
        .collect();
    wrong.extend(
        done.iter()
            .filter(|id| !known.contains(id.as_str()))
            .map(|id| format!("docs/spec/done.txt: {id} stands in no spec")),
    );
    wrong.extend(
        done.iter()
            .filter(|id| known.contains(id.as_str()) && !named.contains_key(*id))
            .map(|id| format!("docs/spec/done.txt: {id} is called done, but no test names it")),
    );

    wrong.extend(ids_in_prose(root, &known)?);

    print_table(&specs, &named, &done, list_missing);
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

#[expect(clippy::print_stdout, reason = "this is a command-line program")]
fn print_table(
    specs: &BTreeMap<String, Vec<String>>,
    named: &BTreeMap<String, String>,
    done: &BTreeSet<String>,
    list_missing: bool,
) {
    println!("{:<14} {:>5} {:>6} {:>5}", "spec", "ids", "tested", "done");
    for (spec, ids) in specs.iter().filter(|(_, ids)| !ids.is_empty()) {
        let tested = ids.iter().filter(|id| named.contains_key(*id)).count();
        let finished = ids.iter().filter(|id| done.contains(*id)).count();
        println!("{spec:<14} {:>5} {tested:>6} {finished:>5}", ids.len());
        if list_missing {
            let missing: Vec<&str> = ids.iter().filter(|id| !named.contains_key(*id)).map(String::as_str).collect();
            println!("  without a test: {}", missing.join(" "));
        }
    }
}

/// Ids by spec, in the order in which they stand there.
fn read_specs(root: &Path) -> Result<BTreeMap<String, Vec<String>>, String> {
    let mut specs = BTreeMap::new();
    let mut defined: BTreeMap<String, String> = BTreeMap::new();
    for file in files_below(&root.join("docs/spec"), &["md"])? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let ids: Vec<String> = read(&file)?.lines().filter_map(defined_id).collect();
        for id in &ids {
            if let Some(first) = defined.insert(id.clone(), name.clone()) {
                return Err(format!(
                    "docs/spec/{name}.md: {id} is already defined in docs/spec/{first}.md; give it another id"
                ));
            }
        }
        specs.insert(name, ids);
    }
    Ok(specs)
}

/// The id that a line of a spec defines: `- PRO-001 …` or `| KAI-010 (seed) | …`.
fn defined_id(line: &str) -> Option<String> {
    let rest = line.strip_prefix("- ").or_else(|| line.strip_prefix("| "))?;
    let word = rest.split([' ', '|']).next()?;
    is_id(word).then(|| word.to_owned())
}

/// The ids that tests name, each with the first place that does.
fn read_tests(root: &Path) -> Result<BTreeMap<String, String>, String> {
    let mut named = BTreeMap::new();
    let folders = ["crates", "xtask", "tests"];
    for folder in folders.iter().map(|folder| root.join(folder)).filter(|folder| folder.is_dir()) {
        for file in files_below(&folder, &["rs", "md", "toml", "trycmd", "sh", "mjs"])? {
            let place = file.strip_prefix(root).unwrap_or(&file).display().to_string();
            for (at, line) in read(&file)?.lines().enumerate() {
                for id in named_ids(line) {
                    named.entry(id.to_owned()).or_insert_with(|| format!("{place}:{}", at + 1));
                }
            }
        }
    }
    Ok(named)
}

/// The ids of a line that is a comment of nothing but ids.
fn named_ids(line: &str) -> Vec<&str> {
    let line = line.trim();
    let html = line.strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->"));
    let Some(comment) = html.or_else(|| line.strip_prefix("// ")).or_else(|| line.strip_prefix("# ")) else {
        return Vec::new();
    };
    let words: Vec<&str> = comment.split_whitespace().collect();
    if words.iter().all(|word| is_id(word)) { words } else { Vec::new() }
}

/// Ids within sentences of a source: whoever reads one should read what it asks for in place of its number.
fn ids_in_prose(root: &Path, known: &BTreeSet<&str>) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for file in files_below(&root.join("crates"), &["rs"])? {
        let place = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        for (at, line) in read(&file)?.lines().enumerate().filter(|_| place.contains("/src/")) {
            let said = prose(line).split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
            let ids = said.filter(|word| known.contains(word));
            found.extend(ids.map(|id| format!("{place}:{}: {id} in a sentence; say what it asks for", at + 1)));
        }
    }
    Ok(found)
}

/// A comment that is a sentence; empty for everything else.
fn prose(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with("//") && named_ids(line).is_empty() { line } else { "" }
}

/// The finished ids. One that stands twice is left over from a merge.
fn read_done(root: &Path) -> Result<BTreeSet<String>, String> {
    let mut done = BTreeSet::new();
    for line in read(&root.join("docs/spec/done.txt"))?.lines().filter(|line| !line.starts_with('#')) {
        for id in line.split_whitespace() {
            if !done.insert(id.to_owned()) {
                return Err(format!("docs/spec/done.txt: {id} stands there twice"));
            }
        }
    }
    Ok(done)
}

/// Two to six capitals, a dash, two or three digits.
fn is_id(word: &str) -> bool {
    word.split_once('-').is_some_and(|(letters, digits)| {
        (2..=6).contains(&letters.len())
            && letters.bytes().all(|byte| byte.is_ascii_uppercase())
            && (2..=3).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn files_below(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries {
            let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted)) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn read(file: &Path) -> Result<String, String> {
    // A test's own data may be no UTF-8 at all; it names no id then.
    fs::read(file)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_where_they_are_defined_and_where_they_are_named() {
        assert_eq!(defined_id("- PRO-001 Rendering is pure.").as_deref(), Some("PRO-001"));
        assert_eq!(defined_id("| KAI-010 (seed) | (soul) |").as_deref(), Some("KAI-010"));
        assert_eq!(defined_id("| MEA-01 | tokens |").as_deref(), Some("MEA-01"));
        assert_eq!(defined_id("as PRO-001 says"), None);
        assert_eq!(named_ids("    // PRO-041 LES-020"), ["PRO-041", "LES-020"]);
        assert_eq!(named_ids("<!-- SUR-010 -->"), ["SUR-010"]);
        assert_eq!(named_ids("// as PRO-041 says"), Vec::<&str>::new());
        assert_eq!((prose("  // PRO-041"), prose("let x = 1;")), ("", ""));
        assert_eq!(prose("  /// As PRO-041 says."), "/// As PRO-041 says.");
        assert_eq!(named_ids("let x = 1; // PRO-041"), Vec::<&str>::new());
    }
}
