//! Names under which tools of servers are offered: letters, digits, `_` and `-`, at most 64, each once.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

/// Characters of a name.
const MOST: usize = 64;

/// The names of tools, each given by its server and the server's own name for it. Where two would have one name, or a name is
/// taken, the server's name comes in front; what is still no name of its own, or too long, gets a hash at its end. So no name
/// means another tool because a server came or went that does not have this name.
///
/// ```
/// use limpid_services::mcp::unique_names;
/// let tools = [("a", "search"), ("b", "search"), ("b", "read file"), ("b", "exec")];
/// let names = unique_names(&tools, &["exec".to_owned()].into());
/// assert_eq!(names, ["a_search", "b_search", "read_file", "b_exec"]);
/// ```
pub fn unique_names(tools: &[(&str, &str)], taken: &BTreeSet<String>) -> Vec<String> {
    let mut names: Vec<String> = tools.iter().map(|(_, name)| plain(name)).collect();
    let clashes = clashing(&names, taken);
    for (at, (server, name)) in tools.iter().enumerate().filter(|(at, _)| clashes.contains(at)) {
        names[at] = format!("{server}_{}", plain(name));
    }
    let clashes = clashing(&names, taken);
    for (at, (server, name)) in tools.iter().enumerate() {
        if clashes.contains(&at) || names[at].len() > MOST {
            let hash = Sha256::digest(format!("{server}\0{name}"));
            let ending: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
            let mut front = std::mem::take(&mut names[at]);
            front.truncate(MOST - ending.len() - 1);
            names[at] = format!("{front}_{ending}");
        }
    }
    names
}

/// The places of names that are taken, or there more than once.
fn clashing(names: &[String], taken: &BTreeSet<String>) -> BTreeSet<usize> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let clashes = |name: &String| taken.contains(name) || counts.get(name.as_str()).is_some_and(|count| *count > 1);
    names.iter().enumerate().filter(|(_, name)| clashes(name)).map(|(at, _)| at).collect()
}

/// A name with `_` in the place of whatever no name holds. Gemini wants a letter first.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for letter in name.chars() {
        let kept = letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        if kept || !plain.ends_with('_') {
            plain.push(if kept { letter } else { '_' });
        }
    }
    let name = plain.trim_matches('_');
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) { name.to_owned() } else { format!("tool_{name}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // SUR-034 SEC-023
    #[test]
    fn a_clash_puts_the_server_in_front_of_every_one_of_them() {
        let taken: BTreeSet<String> = ["read_file", "b_list", "memory_store"].map(str::to_owned).into();
        let long = "x".repeat(80);
        let tools = [
            ("a", "read_file"),
            ("a", "list"),
            ("b", "list"),
            ("b", "say/it.now"),
            ("b", "\u{1b}[31mred"),
            ("b", "7up"),
            ("b", "…"),
            ("c", "same one"),
            ("c", "same/one"),
            ("c", &long),
        ];
        let names = unique_names(&tools, &taken);
        insta::assert_snapshot!(names.join("\n"), @r"
        a_read_file
        a_list
        b_list_de44c8e25015
        say_it_now
        tool_31mred
        tool_7up
        tool_
        c_same_one_88ad90b00ed1
        c_same_one_6267793bffa8
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_e1365f92e88d
        ");
    }

    proptest! {
        // SUR-034
        #[test]
        fn every_name_is_one_that_providers_take_and_stands_once(
            tools in proptest::collection::vec(("[a-z]{1,3}", ".{0,90}|[a-c]{1,2}"), 0..40),
            taken in proptest::collection::btree_set("[a-z_]{1,5}", 0..10),
        ) {
            let tools: BTreeSet<(String, String)> = tools.into_iter().collect();
            let tools: Vec<(&str, &str)> = tools.iter().map(|(server, name)| (server.as_str(), name.as_str())).collect();
            let names = unique_names(&tools, &taken);
            let once: BTreeSet<&String> = names.iter().collect();
            prop_assert_eq!(once.len(), tools.len());
            for name in &names {
                prop_assert!(!taken.contains(name));
                prop_assert!((1..=64).contains(&name.len()), "{}", name);
                prop_assert!(name.starts_with(|first: char| first.is_ascii_alphabetic()), "{}", name);
                prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')));
            }
        }
    }
}
