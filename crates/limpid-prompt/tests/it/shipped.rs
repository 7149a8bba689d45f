//! The profiles that ship load without an error, and with the findings that are meant.

use limpid_prompt::{Estimate, Profiles};

// PRO-005
#[test]
fn every_shipped_profile_loads() {
    let profiles = Profiles::shipped();
    let problems: Vec<String> = profiles.problems().iter().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
    let names: Vec<&str> = profiles.iter().map(|profile| profile.name()).collect();
    assert_eq!(names, ["kai", "koshi", "limpid", "ollm", "picoclaw"]);
}

// PRO-045 PRO-053
#[test]
fn every_finding_in_a_shipped_profile_is_meant() {
    let counter = Estimate::default();
    let findings: Vec<String> = Profiles::shipped()
        .iter()
        .flat_map(|profile| profile.lint(&counter))
        .map(|problem| format!("{}: {}", problem.path, problem.message))
        .collect();
    insta::assert_snapshot!(findings.join("\n"));
}
