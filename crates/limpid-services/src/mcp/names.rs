//! Names of tools of servers: letters, digits, `_` and `-`, at most 64, a letter first.

use limpid_core::policy::AFTER_SERVER;
use sha2::{Digest as _, Sha256};

/// Characters of a name.
const MOST: usize = 64;

/// Digits of a hash at the end of a name.
const DIGITS: usize = 12;

/// Stands before a server's name that does not begin with a letter.
const FRONT: &str = "mcp_";

/// The name of a tool, made of nothing but the names of its server and its own. So it stays the same whatever other servers and tools
/// there are, and what the owner said of a name never comes to mean another tool. What cannot stand as it is gets a hash at its end,
/// and so does what looks as if it had one.
///
/// ```
/// use limpid_services::mcp::offered_name;
/// assert_eq!(offered_name("desk", "search"), "desk__search");
/// assert_eq!(offered_name("desk", "read file"), "desk__read_file_16e4a65b095c");
/// ```
pub fn offered_name(server: &str, own: &str) -> String {
    let starts_well = server.starts_with(|first: char| first.is_ascii_alphabetic());
    let mut name = format!("{}{server}{AFTER_SERVER}{}", if starts_well { "" } else { FRONT }, plain(own));
    if starts_well && plain(own) == own && !own.is_empty() && name.len() <= MOST && !has_hash(own) {
        return name;
    }
    let hash = Sha256::digest(format!("{server}\0{own}"));
    name.truncate(MOST - DIGITS - 1);
    name.push('_');
    name.extend(hash.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).take(DIGITS).map(char::from));
    name
}

/// What rules that hold back may call a tool besides: its own name, as the server has it and in plain letters, alone and behind the
/// server's in each way in which that may be written.
pub(super) fn other_names(server: &str, own: &str) -> Vec<String> {
    let mut names = Vec::new();
    for name in [own, &plain(own)] {
        names.extend([name.to_owned(), format!("{server}_{name}"), format!("{server}{AFTER_SERVER}{name}")]);
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether a name ends as one with a hash does.
fn has_hash(name: &str) -> bool {
    let is_hash =
        |ending: &str| ending.len() == DIGITS && ending.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    name.rsplit_once('_').is_some_and(|(_, ending)| is_hash(ending))
}

/// A name with `_` in the place of whatever no name holds, and with none at its ends.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for letter in name.chars() {
        let kept = letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        if kept || !plain.ends_with('_') {
            plain.push(if kept { letter } else { '_' });
        }
    }
    plain.trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    // SUR-034 SEC-023
    #[test]
    fn the_server_stands_in_front_and_what_was_changed_has_a_hash() {
        let long = "x".repeat(80);
        let tools = [
            ("a", "read_file"),
            ("a", "b_c"),
            ("a_b", "c"),
            ("b", "a__c"),
            ("b", "7up"),
            ("b", "_c"),
            ("b", "say/it.now"),
            ("b", "\u{1b}[31mred"),
            ("b", "…"),
            ("b", "say_it_now_de44c8e25015"),
            ("1password", "list"),
            ("c", &long),
        ];
        insta::assert_snapshot!(tools.map(|(server, own)| offered_name(server, own)).join("\n"));
    }

    // SEC-071
    #[test]
    fn rules_that_hold_back_know_a_tool_by_its_own_name_however_it_was_written() {
        assert_eq!(other_names("desk", "keep"), ["desk__keep", "desk_keep", "keep"]);
        let names = ["1p__a.b", "1p__a_b", "1p_a.b", "1p_a_b", "a.b", "a_b"];
        assert_eq!(other_names("1p", "a.b"), names);
    }

    proptest! {
        // SUR-034 SEC-023
        #[test]
        fn every_name_is_one_that_providers_take_and_no_two_are_the_same(
            tools in proptest::collection::vec(
                ("[a-c1](_?[a-c-]){0,3}|[a-c1-]{1,32}", ".{0,90}|[a-c_]{0,6}|[a-c]_[0-9a-f]{12}"), 0..40),
        ) {
            let mut tools: BTreeSet<(String, String)> = tools.into_iter().collect();
            // A tool that is called as another one is offered.
            let again: Vec<(String, String)> = tools.iter().filter_map(|(server, own)| {
                Some((server.clone(), offered_name(server, own).split_once("__")?.1.to_owned()))
            }).collect();
            tools.extend(again);
            let names: BTreeSet<String> = tools.iter().map(|(server, own)| offered_name(server, own)).collect();
            prop_assert_eq!(names.len(), tools.len());
            for name in &names {
                prop_assert!((1..=64).contains(&name.len()), "{}", name);
                prop_assert!(name.starts_with(|first: char| first.is_ascii_alphabetic()), "{}", name);
                prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')));
            }
            for (server, own) in &tools {
                let name = offered_name(server, own);
                let front = name.split_once("__").unwrap().0;
                prop_assert!(front == server || front.strip_prefix("mcp_") == Some(server));
            }
        }
    }
}
