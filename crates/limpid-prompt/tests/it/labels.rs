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
