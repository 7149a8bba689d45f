//! Skills in turns, over a real socket.

use crate::kit::skills::{TEA, bench, notices, say_as, sent, status};
use crate::kit::{Bench, say};
use limpid_runtime::SkillStatus;

// KAI-098 KAI-099 KOSHI-031
#[tokio::test]
async fn a_slash_or_a_trigger_activates_a_skill_for_that_turn_alone() {
    let bench = bench(14).await;
    bench.write("skills/tea/SKILL.md", TEA);
    let agent = bench.agent();
    for profile in ["kai", "koshi", "ollm", "limpid"] {
        say_as(&agent, profile, "/TEA for two").await;
        let text = sent(&bench.server);
        assert!(text.contains("Steep at 80 degrees.") && text.contains("/TEA for two"), "{profile}: {text}");
        say_as(&agent, profile, "an Oolong, please").await;
        assert!(sent(&bench.server).contains("Steep at 80 degrees."), "{profile}");
        say_as(&agent, profile, "/teapot, /coffee and tea").await;
        assert!(!sent(&bench.server).contains("Steep"), "{profile}: only what is called for");
    }
    agent.skills().enable("tea", false, None, "test").await.unwrap();
    for message in ["/tea for two", "an Oolong, please"] {
        say_as(&agent, "kai", message).await;
        let text = sent(&bench.server);
        assert!(!text.contains("Steep") && !text.contains("Brew tea") && text.contains(message), "put aside: {text}");
    }
}

// KAI-098
#[tokio::test]
async fn the_next_turn_of_kai_has_no_byte_of_the_skill() {
    let bench = bench(2).await;
    bench.write("skills/tea/SKILL.md", TEA);
    bench.write("skills/tea/times.md", "3 minutes");
    let agent = bench.agent();
    say_as(&agent, "kai", "/tea").await;
    assert!(sent(&bench.server).contains("## Active skill: Tea"));
    assert!(sent(&bench.server).contains("times.md"));
    say(&agent, "and now?").await;
    assert!(!sent(&bench.server).contains("Steep") && !sent(&bench.server).contains("times.md"));
}

// PRO-040 PRO-041 LES-131
#[tokio::test]
async fn in_limpid_a_called_skill_stands_in_the_tail_and_a_standing_one_in_the_beginning() {
    let bench = bench(3).await;
    bench.write("skills/tea/SKILL.md", TEA);
    bench.write("skills/house/SKILL.md", "---\ndescription: The house\nalways: true\n---\nMetric units.\n");
    let agent = bench.agent();
    for text in ["/tea", "hi", "oolong"] {
        say(&agent, text).await;
    }
    let calls = bench.server.calls();
    let of = |at: usize| calls[at].json()["messages"].as_array().unwrap().clone();
    assert!(calls[0].system().contains("## Skill: house\nMetric units."));
    assert!(of(0)[1]["content"].as_str().unwrap().contains("\nSkill: Tea\n  Steep at 80 degrees."));
    assert!(!calls[0].system().contains("Steep"));
    for at in [1, 2] {
        assert_eq!(of(at)[..2], of(0)[..2], "what was sent begins what is sent");
        assert_eq!(calls[at].text().matches("Metric units.").count(), 1);
    }
}

// LES-131
#[tokio::test]
async fn an_always_loaded_skill_is_in_the_prompt_of_every_mode_tier_and_profile() {
    let bench = bench(1).await;
    bench.write("skills/house/SKILL.md", "---\ndescription: The house\nalways: true\n---\nMetric units.\n");
    for window in [4096, 8192, 16_384, 32_768, 65_536] {
        bench.write("models.toml", &format!("[[model]]\nnames = [\"openai/scripted\"]\nwindow = {window}\n"));
        let agent = bench.agent();
        for profile in ["limpid", "kai", "koshi", "ollm", "picoclaw"] {
            for mode in ["assistant", "developer", "planning", "debugger", "user"] {
                let request = limpid_runtime::PreviewRequest {
                    profile: Some(profile.to_owned()),
                    mode: Some(mode.to_owned()),
                    text: "hi".to_owned(),
                    ..limpid_runtime::PreviewRequest::default()
                };
                let prompt = agent.preview(request).await.unwrap().prompt;
                let text = prompt.messages()[0].text();
                assert!(text.contains("Metric units."), "{profile} {mode} {window}: {text}");
            }
        }
    }
}

// KOSHI-030 KOSHI-032
#[tokio::test]
async fn the_model_writes_a_skill_changes_it_and_every_change_can_be_undone() {
    let bench = Bench::new(
        r#"
[[reply]]
calls = [
  { id = "a", name = "create_skill", arguments = { name = "tea", description = "Brew tea", content = "Steep.", triggers = ["oolong"] } },
  { id = "b", name = "create_skill", arguments = { name = "not a name", description = "x", content = "y" } },
  { id = "c", name = "update_skill", arguments = { name = "gone", content = "y" } },
]
[[reply]]
text = "Written."
[[reply]]
calls = [
  { id = "d", name = "update_skill", arguments = { name = "tea", content = "Wait." } },
  { id = "g", name = "create_skill", arguments = { name = "TEA", description = "Brew tea", content = "Burn." } },
]
[[reply]]
text = "Changed."
[[reply]]
calls = [{ id = "e", name = "load_skill", arguments = { name = "tea" } }, { id = "f", name = "load_skill", arguments = { name = "gone" } }]
[[reply]]
text = "Read."
"#,
    )
    .await;
    let agent = bench.agent();
    let result = |bench: &Bench, id: &str| {
        let messages = bench.server.calls().last().unwrap().json()["messages"].as_array().unwrap().clone();
        let found = messages.iter().find(|message| message["tool_call_id"] == id).unwrap();
        found["content"].as_str().unwrap().to_owned()
    };
    say(&agent, "write it").await;
    insta::assert_snapshot!(["a", "b", "c"].map(|id| result(&bench, id)).join("\n"));
    let file = bench.home.path().join("skills/tea/SKILL.md");
    let first = std::fs::read_to_string(&file).unwrap();
    insta::assert_snapshot!(first);
    say(&agent, "change it").await;
    assert!(bench.server.calls()[2].system().contains("- tea: Brew tea"), "the index shows it on the next turn");
    assert!(!bench.server.calls()[2].system().contains("Steep."), "and not its text");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), first.replace("Steep.", "Wait."));
    assert!(result(&bench, "g").contains("there is a skill `TEA`"), "{}", result(&bench, "g"));
    say(&agent, "read it").await;
    assert_eq!(result(&bench, "e"), "Wait.");
    assert!(result(&bench, "f").contains("there is no skill `gone`; there are: tea, write-skill"));

    agent.skills().undo("tea", None, "test").await.unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), first);
    agent.skills().undo("tea", None, "test").await.unwrap();
    assert!(std::fs::read_to_string(&file).unwrap().contains("Wait."), "an undo is undone");
    let events = agent.store().skill_events(Some("tea")).await.unwrap().rows;
    agent.skills().undo("tea", Some(events[0].id), "test").await.unwrap();
    assert!(!file.exists(), "before it was written there was none");
    agent.skills().undo("tea", None, "test").await.unwrap();
    assert!(file.exists());
}

/// Where the owner's files lie is nobody else's to know, and a turn may have read a stranger's text.
// SEC-065 KOSHI-030
#[tokio::test]
async fn a_skill_that_cannot_be_written_names_no_place_of_the_disk() {
    let call = |name: &str| {
        format!(
            "{{ id = \"{name}\", name = \"create_skill\", arguments = {{ name = \"{name}\", description = \"Tea\", content = \"Steep.\" }} }}"
        )
    };
    let names = ["tea", "pot", "mug", "kettle"];
    let calls = names.map(call).join(", ");
    let bench = Bench::new(&format!("[[reply]]\ncalls = [{calls}]\n[[reply]]\ntext = \"ok\"\n")).await;
    bench.write("skills/tea/SKILL.md", TEA);
    // One of another name, a file where the folder would be, and a link among the files.
    bench.write("skills/pot/SKILL.md", &TEA.replace("name: tea", "name: teapot"));
    bench.write("skills/mug", "");
    bench.write("skills/kettle/SKILL.md", &TEA.replace("name: tea", "name: kettle"));
    std::os::unix::fs::symlink("/etc/passwd", bench.home.path().join("skills/kettle/link")).unwrap();
    say(&bench.agent(), "write them").await;
    let messages = bench.server.calls().last().unwrap().json()["messages"].as_array().unwrap().clone();
    let home = bench.home.path().display().to_string();
    for name in names {
        let told = messages.iter().find(|message| message["tool_call_id"] == name).unwrap();
        let told = told["content"].as_str().unwrap();
        assert!(!told.contains("written;"), "{name}: {told}");
        assert!(![home.as_str(), "data/skills", "SKILL.md"].iter().any(|place| told.contains(place)), "{name}: {told}");
    }
}

// PICO-031
#[tokio::test]
async fn the_model_reads_the_folder_of_any_skill_and_writes_none() {
    let paths = ["~/skills/tea/times.md", "~/skills/write-skill/SKILL.md"];
    let read = paths.map(|path| format!("{{ name = \"read_file\", arguments = {{ path = \"{path}\" }} }}"));
    let write =
        paths.map(|path| format!("{{ name = \"write_file\", arguments = {{ path = \"{path}\", content = \"x\" }} }}"));
    let calls: String = read.iter().chain(&write).map(|call| format!("[[reply]]\ncalls = [{call}]\n")).collect();
    let bench = Bench::new(&(calls + "[[reply]]\ntext = \"ok\"\n")).await;
    bench.write("skills/tea/SKILL.md", TEA);
    bench.write("skills/tea/times.md", "3 minutes");
    say(&bench.agent(), "read the skills, then change them").await;
    let messages = bench.server.calls().last().unwrap().json()["messages"].as_array().unwrap().clone();
    let tool = messages.iter().filter(|message| message["role"] == "tool");
    let told: Vec<&str> = tool.map(|message| message["content"].as_str().unwrap()).collect();
    assert!(told[0] == "3 minutes" && told[1].contains("name: write-skill"), "{told:?}");
    assert!(told[2..].iter().all(|told| told.contains("may be read but not changed")), "{told:?}");
    assert_eq!(std::fs::read_to_string(bench.home.path().join("skills/tea/times.md")).unwrap(), "3 minutes");
}

// KOSHI-032
#[tokio::test]
async fn a_built_in_skill_that_is_changed_is_a_copy_of_the_owners_that_can_be_taken_back() {
    let change = "{ name = \"update_skill\", arguments = { name = \"write-skill\", content = \"My way.\" } }";
    let bench = Bench::new(&format!("[[reply]]\ncalls = [{change}]\n[[reply]]\ntext = \"ok\"\n")).await;
    let agent = bench.agent();
    let shipped = agent.skills().review("write-skill").await.unwrap();
    say(&agent, "write skills my way").await;
    let file = bench.home.path().join("skills/write-skill/SKILL.md");
    assert!(std::fs::read_to_string(&file).unwrap().ends_with("\nMy way.\n"));
    let both = [("global", SkillStatus::Ready), ("builtin", SkillStatus::Shadowed)];
    assert_eq!(status(&agent, "write-skill").await, both);
    agent.skills().undo("write-skill", None, "test").await.unwrap();
    assert!(!file.exists());
    assert_eq!(agent.skills().review("write-skill").await.unwrap(), shipped);
}

// PICO-030 PICO-032 PICO-033 PICO-035 PICO-036 KOSHI-006
#[tokio::test]
async fn the_first_wins_by_name_and_what_is_no_skill_costs_itself_only() {
    let bench = bench(2).await;
    bench.write("workspace/skills/a-folder/SKILL.md", &TEA.replace("80", "70"));
    bench.write("skills/tea/SKILL.md", TEA);
    bench.write("skills/write-skill/SKILL.md", "---\ndescription: My own way\n---\nMine.\n");
    bench.write("skills/broken/SKILL.md", "---\nname: bro ken\ndescription: x\n---\n");
    bench.write("skills/bytes/SKILL.md", "");
    std::fs::write(bench.home.path().join("skills/bytes/SKILL.md"), b"---\nname: \xff\xfe\n---\n\xc3").unwrap();
    bench.write("skills/empty/notes.md", "no skill here");
    bench.write("skills/goal/SKILL.md", "---\ndescription: takes a command's name\n---\n");
    bench.write("skills/zoo/SKILL.md", "---\ndescription: Still loads\n---\nRoar.\n");
    std::os::unix::fs::symlink("/etc", bench.home.path().join("workspace/skills/out")).unwrap();
    let agent = bench.agent();
    let home = bench.home.path().display().to_string();
    let line = |skill: &limpid_runtime::ListedSkill| {
        let reason = skill.reason.clone().unwrap_or_default().replace(&home, "HOME");
        format!("{} {} {} {reason}", skill.source_name(), skill.name, skill.status.as_str()).trim_end().to_owned()
    };
    let list: Vec<String> = agent.skills().list().await.unwrap().iter().map(line).collect();
    insta::assert_snapshot!(list.join("\n"));
    let events = say(&agent, "/tea").await;
    assert!(sent(&bench.server).contains("Steep at 70 degrees."), "listing and loading use the same name");
    let told = notices(&events);
    assert!(
        told.iter().any(|notice| notice.contains("skills/broken/SKILL.md") && notice.contains("`bro ken`")),
        "{told:?}"
    );
    assert!(notices(&say(&agent, "again").await).is_empty(), "told once");
    // The report of a prompt lists them too, with the reason.
    let prompt = agent.preview(limpid_runtime::PreviewRequest::default()).await.unwrap().prompt;
    let row = prompt.report().iter().find(|row| row.section == "skill:broken").unwrap();
    assert!(row.reason.as_deref().unwrap().contains("must be letters and digits"));
}

/// A program may have closed it, or put something else in its place.
// SEC-042 SEC-093
#[tokio::test]
async fn a_folder_of_skills_that_cannot_be_listed_ends_no_turn_and_is_told_of_once() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let causes = [("file", "Not a directory"), ("link", "Too many levels"), ("closed", "permission is denied")];
    for (what, cause) in causes {
        let bench = bench(2).await;
        bench.write("skills/tea/SKILL.md", TEA);
        bench.write("workspace/notes.md", "mine\n");
        let folder = bench.home.path().join("workspace/skills");
        match what {
            "file" => bench.write("workspace/skills", "no folder"),
            "link" => symlink("skills", &folder).unwrap(),
            _ => {
                std::fs::create_dir(&folder).unwrap();
                std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o311)).unwrap();
            }
        }
        // Root lists everything.
        let is_closed = folder.read_dir().is_err();
        let agent = bench.agent();
        let told = notices(&say(&agent, "/tea").await);
        assert!(sent(&bench.server).contains("Steep at 80 degrees."), "{what}: {told:?}");
        let begin = format!("the skill skills is not used: workspace/skills: the folder cannot be listed: {cause}");
        let is_told = |told: &[String]| told.iter().any(|notice| notice.starts_with(&begin));
        assert_eq!(is_told(&told), is_closed, "{what}: {told:?}");
        assert!(notices(&say(&agent, "again").await).is_empty(), "told once");
        if what == "closed" {
            std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
}

// LES-130 PICO-037
#[tokio::test]
async fn of_ninety_skills_the_owners_own_stay_and_the_names_of_the_others_are_told() {
    let bench = bench(2).await;
    let agent = bench.agent();
    let about =
        "Does one of the many things that a person may want to have done on some day of the week, at some hour.";
    for n in 0..87 {
        bench.write(&format!("from/skill-{n:02}/SKILL.md"), &format!("---\ndescription: {about}\n---\nx\n"));
        let name = format!("skill-{n:02}");
        agent.skills().install(&bench.home.path().join(format!("from/{name}")), "test").await.unwrap();
        agent.skills().enable(&name, true, None, "test").await.unwrap();
    }
    for own in ["xa", "yb", "zc"] {
        bench.write(&format!("skills/{own}/SKILL.md"), &format!("---\ndescription: {about}\n---\nx\n"));
    }
    let events = say(&agent, "hi").await;
    let system = bench.server.calls()[0].system();
    let index = &system[system.find("Skills").unwrap()..];
    assert!(["- xa:", "- yb:", "- zc:"].iter().all(|line| index.contains(line)), "{index}");
    let tokens = limpid_prompt::count::Estimate::default();
    assert!(limpid_prompt::TokenCounter::count(&tokens, index) < 1500);
    let notice = notices(&events).into_iter().find(|notice| notice.starts_with("not in the index")).unwrap();
    let (_, names) = notice.split_once(": ").unwrap();
    let dropped: Vec<&str> = names.split(", ").collect();
    let shown = agent
        .skills()
        .list()
        .await
        .unwrap()
        .iter()
        .filter(|skill| index.contains(&format!("- {}:", skill.name)))
        .count();
    assert_eq!(shown + dropped.len(), 91, "every skill is in the index or in the notice");
    assert!(!dropped.is_empty() && dropped.iter().all(|name| !index.contains(&format!("- {name}:"))));
}
