//! `limpid prompt test` over scenarios, those that ship and the owner's: a change of a prompt is seen, and taken when it
//! is meant.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Paths of the scenarios that ship.
const SHIPPED: usize = 6;

const NO_MODEL: &str = "No model was asked and none is needed: this compares what one would read.\n";

fn limpid(home: &Path, words: &[&str]) -> (Option<i32>, String) {
    let done =
        Command::new(env!("CARGO_BIN_EXE_limpid")).args(words).env_clear().env("LIMPID_HOME", home).output().unwrap();
    (done.status.code(), format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr)))
}

// PRO-054
#[test]
fn a_changed_prompt_fails_its_scenario_until_the_new_text_is_taken() {
    let home = tempfile::tempdir().unwrap();
    let profile = home.path().join("profiles/koshi");
    fs::create_dir_all(profile.join("scenarios")).unwrap();
    fs::write(profile.join("scenarios/hi.toml"), "path = \"chat-remote\"\n[inputs]\nuser_message = \"hi\"\n").unwrap();
    let test = ["prompt", "test", "koshi"];

    let first = format!("new: koshi/hi@chat-remote.md\n{SHIPPED} passed, 0 failed, 1 new\n{NO_MODEL}");
    assert_eq!(limpid(home.path(), &test), (Some(0), first));
    let all = format!("{} passed, 0 failed, 0 new\n{NO_MODEL}", SHIPPED + 1);
    assert_eq!(limpid(home.path(), &test), (Some(0), all.clone()));

    fs::create_dir_all(profile.join("sections")).unwrap();
    let section = "---\ntitle: Soul\nwhy: Mine.\nstability: session\nfrom: soul\n---\nYou are somebody else.\n";
    fs::write(profile.join("sections/soul.md"), section).unwrap();
    let (code, told) = limpid(home.path(), &test);
    assert_eq!(code, Some(6), "{told}");
    assert!(told.contains("+You are somebody else."), "{told}");
    assert!(told.contains("--- koshi/hi@chat-remote.md") && told.contains(" failed, 0 new"), "{told}");

    assert_eq!(limpid(home.path(), &["prompt", "test", "koshi", "--accept"]).0, Some(0));
    assert_eq!(limpid(home.path(), &test), (Some(0), all));
}

// PRO-054
#[test]
fn a_fresh_home_has_scenarios_and_needs_no_model_for_them() {
    let home = tempfile::tempdir().unwrap();
    let passed = (Some(0), format!("{SHIPPED} passed, 0 failed, 0 new\n{NO_MODEL}"));
    assert_eq!(limpid(home.path(), &["prompt", "test"]), passed);
    for profile in ["limpid", "kai", "koshi", "ollm", "picoclaw"] {
        assert_eq!(limpid(home.path(), &["prompt", "test", profile]), passed, "{profile}");
    }
    assert!(!home.path().join("profiles").exists(), "what ships is not copied");

    // Copies that nobody has changed are the shipped texts, whatever the agent is called.
    assert_eq!(limpid(home.path(), &["init", "--yes"]).0, Some(0));
    assert!(home.path().join("soul.md").exists());
    assert_eq!(limpid(home.path(), &["prompt", "test"]), passed);
    fs::write(home.path().join("limpid.toml"), "[agent]\nname = \"Ada\"\n").unwrap();
    assert_eq!(limpid(home.path(), &["prompt", "test"]), passed);
}

// PRO-054
#[test]
fn a_changed_soul_or_rule_of_safety_is_seen_until_it_is_taken() {
    let home = tempfile::tempdir().unwrap();
    let test = ["prompt", "test"];
    for (file, text) in [("soul.md", "Speak like a pirate.\n"), ("safety.md", "- Ask first. Why: I say so.\n")] {
        fs::write(home.path().join(file), text).unwrap();
        let (code, told) = limpid(home.path(), &test);
        assert_eq!(code, Some(6), "{told}");
        let added = format!("+{}", text.trim());
        assert_eq!(told.matches(&added).count(), SHIPPED, "{told}");
        assert!(told.contains("limpid/hello@chat-remote.md: A greeting"), "{told}");
        assert!(told.contains(&format!("0 passed, {SHIPPED} failed, 0 new")), "{told}");

        assert_eq!(limpid(home.path(), &["prompt", "test", "--accept"]).0, Some(0));
        let passed = format!("{SHIPPED} passed, 0 failed, 0 new\n{NO_MODEL}");
        assert_eq!(limpid(home.path(), &test), (Some(0), passed));
    }
}

// PRO-054
#[test]
fn an_own_scenario_stands_in_place_of_a_shipped_one_and_what_it_leaves_out_is_said() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("profiles/limpid/scenarios");
    fs::create_dir_all(&folder).unwrap();
    let scenario = "path = \"chat-remote\"\n[inputs]\nuser_message = \"Ahoy\"\nsoul = \"Mild.\"\n";
    fs::write(folder.join("hello.toml"), scenario).unwrap();
    let (code, told) = limpid(home.path(), &["prompt", "test"]);
    // The shipped one has two paths.
    let others = SHIPPED - 2;
    let all = format!("new: limpid/hello@chat-remote.md\n{others} passed, 0 failed, 1 new\n{NO_MODEL}");
    assert_eq!((code, told), (Some(0), all));
    assert!(fs::read_to_string(folder.join("snapshots/hello@chat-remote.md")).unwrap().contains("\nAhoy\n"));

    fs::write(home.path().join("soul.md"), "Speak like a pirate.\n").unwrap();
    let (code, told) = limpid(home.path(), &["prompt", "test"]);
    assert_eq!(code, Some(6), "{told}");
    assert!(told.contains("soul.md is left out of limpid/hello: a `soul` stands in the scenario's inputs."), "{told}");
    assert!(told.contains(&format!("1 passed, {others} failed, 0 new")), "{told}");
}

#[test]
fn a_file_of_an_own_profile_is_compared_with_what_its_base_lends() {
    let home = tempfile::tempdir().unwrap();
    let section = "---\ntitle: Soul\nwhy: Mine.\nstability: session\nfrom: soul\n---\nYou are somebody else.\n";
    for (profile, below) in
        [("mine", "--- base/mine/sections/soul.md"), ("koshi", "--- shipped/koshi/sections/soul.md")]
    {
        let folder = home.path().join("profiles").join(profile);
        fs::create_dir_all(folder.join("sections")).unwrap();
        fs::write(folder.join("sections/soul.md"), section).unwrap();
        if profile == "mine" {
            fs::write(folder.join("profile.toml"), "base = \"koshi\"\n").unwrap();
        }
        let (code, told) = limpid(home.path(), &["profile", "diff", profile]);
        assert_eq!(code, Some(0), "{told}");
        assert!(told.starts_with(below) && told.contains("+You are somebody else."), "{told}");
    }
}
