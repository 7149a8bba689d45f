//! `limpid prompt test` over the owner's own scenarios: a change of a prompt is seen, and taken when it is meant.

use std::fs;
use std::path::Path;
use std::process::Command;

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

    assert_eq!(
        limpid(home.path(), &test),
        (Some(0), "new: koshi/hi@chat-remote.md\n0 passed, 0 failed, 1 new\n".into())
    );
    assert_eq!(limpid(home.path(), &test), (Some(0), "1 passed, 0 failed, 0 new\n".into()));

    fs::create_dir_all(profile.join("sections")).unwrap();
    let section = "---\ntitle: Soul\nwhy: Mine.\nstability: session\nfrom: soul\n---\nYou are somebody else.\n";
    fs::write(profile.join("sections/soul.md"), section).unwrap();
    let (code, told) = limpid(home.path(), &test);
    assert_eq!(code, Some(6), "{told}");
    assert!(told.contains("+You are somebody else."), "{told}");
    assert!(told.contains("0 passed, 1 failed, 0 new"), "{told}");

    assert_eq!(limpid(home.path(), &["prompt", "test", "koshi", "--accept"]).0, Some(0));
    assert_eq!(limpid(home.path(), &test), (Some(0), "1 passed, 0 failed, 0 new\n".into()));
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
