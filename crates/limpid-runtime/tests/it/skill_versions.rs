//! Versions of skills: which one a turn had, and what taking one out and bringing it back touches.

use std::fs;
use std::os::unix::fs::symlink;

use crate::kit::{Bench, say};
use limpid_runtime::SkillStatus;
use limpid_store::RequestFilter;

const TEA: &str = "---\nname: tea\ndescription: Brew tea\n---\nSteep at 80 degrees.\n";

// PICO-028 KOSHI-032
#[tokio::test]
async fn a_linked_skill_that_is_taken_out_loses_its_link_and_an_undo_brings_its_text_back() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    bench.write("elsewhere/tea/SKILL.md", TEA);
    bench.write("elsewhere/tea/times.md", "3 minutes");
    fs::create_dir_all(bench.home.path().join("skills")).unwrap();
    let link = bench.home.path().join("skills/tea");
    symlink(bench.home.path().join("elsewhere/tea"), &link).unwrap();
    let agent = bench.agent();
    agent.skills().remove("tea", "test").await.unwrap();
    assert!(link.symlink_metadata().is_err(), "the link is gone");
    let theirs = |name: &str| fs::read_to_string(bench.home.path().join("elsewhere/tea").join(name)).unwrap();
    assert_eq!((theirs("SKILL.md").as_str(), theirs("times.md").as_str()), (TEA, "3 minutes"));

    agent.skills().undo("tea", None, "test").await.unwrap();
    let skill = agent.skills().review("tea").await.unwrap();
    assert_eq!((skill.skill.status, skill.files.len()), (SkillStatus::Ready, 2));
    assert!(!link.symlink_metadata().unwrap().is_symlink(), "a folder of its own");
    // The undo is undone: what it had written goes, and nothing else.
    agent.skills().undo("tea", None, "test").await.unwrap();
    assert!(!link.exists());
    assert_eq!((theirs("SKILL.md").as_str(), theirs("times.md").as_str()), (TEA, "3 minutes"));
}

// PICO-028 SEC-024
#[tokio::test]
async fn a_skill_that_holds_a_link_is_no_skill_to_be_kept_or_changed() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    bench.write("skills/tea/SKILL.md", TEA);
    bench.write("secret.md", "the secret");
    symlink("../../secret.md", bench.home.path().join("skills/tea/notes.md")).unwrap();
    let agent = bench.agent();
    let refused = agent.skills().remove("tea", "test").await.unwrap_err().to_string();
    assert!(refused.ends_with("notes.md: a skill may not hold links"), "{refused}");
    assert!(bench.home.path().join("skills/tea/SKILL.md").exists(), "it is as it was");
    assert_eq!(fs::read_to_string(bench.home.path().join("secret.md")).unwrap(), "the secret");
}

// OLLM-062
#[tokio::test]
async fn the_version_of_a_skill_is_kept_with_each_turn_that_had_it() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    let agent = bench.agent();
    for version in ["version: \"1.2\"\n", "version: \"2.0\"\n", ""] {
        bench.write("skills/tea/SKILL.md", &TEA.replace("description", &format!("{version}description")));
        say(&agent, "/tea").await;
    }
    let requests = agent.store().requests(RequestFilter::default()).await.unwrap().rows;
    let mut kept = Vec::new();
    for turn in requests.iter().rev().filter_map(|request| request.turn.as_ref()) {
        let events = agent.store().turn_events(turn).await.unwrap().rows;
        assert_eq!(events.len(), 1, "of a turn that is over only this is read again");
        let skills: Vec<(String, Option<String>)> = serde_json::from_str(&events[0].payload).unwrap();
        kept.extend(skills);
    }
    let tea = |version: Option<&str>| ("tea".to_owned(), version.map(str::to_owned));
    assert_eq!(kept, [tea(Some("1.2")), tea(Some("2.0")), tea(None)]);
}
