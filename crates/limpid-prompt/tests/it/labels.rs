//! The prompt crate makes no text the owner's.

use std::fs;
use std::path::Path;

/// Every Rust file below a folder but those of tests alone.
fn sources(folder: &Path, out: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            out.push((path.display().to_string(), code.to_owned()));
        }
    }
}

// SEC-050
#[test]
fn no_code_that_renders_calls_a_text_the_owners() {
    let mut found = Vec::new();
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 60, "{}", files.len());
    for (file, code) in files {
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let owners = lines.filter(|line| line.contains("Trust::Owner") || line.contains("TrustName::Owner"));
        // A label of the inputs and the same one of the core.
        let owners = owners.filter(|line| !line.contains("TrustName::Owner => Self::Owner"));
        let owners = owners.filter(|line| !line.contains("Trust::Owner => Self::Owner"));
        found.extend(owners.map(|line| format!("{file}: {}", line.trim())));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The fields of the inputs that are plain text, each under its type.
fn plain_fields() -> Vec<String> {
    let mut files = Vec::new();
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/inputs");
    sources(&inputs, &mut files);
    files.push((String::new(), fs::read_to_string(inputs.with_extension("rs")).unwrap()));
    let mut found = Vec::new();
    for (_, code) in files {
        let (mut of, mut fields, mut is_labelled) = (String::new(), Vec::new(), false);
        for line in code.lines().map(str::trim) {
            if let Some((_, name)) = line.split_once("struct ") {
                of = name.split(|letter: char| !letter.is_alphanumeric()).next().unwrap().to_owned();
                (fields, is_labelled) = (Vec::new(), false);
            } else if line == "}" && !of.is_empty() {
                if !is_labelled {
                    found.append(&mut fields);
                }
                of.clear();
            } else if let Some((name, kind)) = line.trim_start_matches("pub ").split_once(": ")
                && !line.starts_with("//")
                && !of.is_empty()
            {
                is_labelled |= name == "trust";
                if name.contains(char::is_whitespace) {
                    continue;
                }
                let kind = kind.split([',', '=']).next().unwrap().trim();
                if kind.contains("String") {
                    fields.push(format!("{of}.{name}: {kind}"));
                }
            }
        }
    }
    found.sort();
    found
}

// SEC-050
#[test]
fn a_text_without_a_label_is_one_of_the_owners_files_or_a_name_of_ours() {
    insta::assert_snapshot!(plain_fields().join("\n"));
}
