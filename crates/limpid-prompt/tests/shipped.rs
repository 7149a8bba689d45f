//! The profiles that ship load without an error.
#![allow(clippy::unwrap_used)]

use limpid_prompt::Profiles;

// PRO-005
#[test]
fn every_shipped_profile_loads() {
    let profiles = Profiles::shipped();
    let problems: Vec<String> = profiles.problems().iter().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}
