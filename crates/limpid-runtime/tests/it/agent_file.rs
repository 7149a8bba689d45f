//! AGENT.md in a profile that quotes it: its front matter is configuration.

use crate::kit::{Bench, say};
use limpid_runtime::TurnEvent;
use limpid_testkit::Recorded;

const CALLING: &str = "[[reply]]\ncalls = [{ name = \"list_dir\", arguments = {} }]\n[[reply]]\ntext = \"ok\"\n";

fn names(call: &Recorded) -> Vec<String> {
    let tools = call.json()["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

fn told(events: &[TurnEvent]) -> Vec<&str> {
    let notices =
        events.iter().filter_map(|event| if let TurnEvent::Notice(text) = event { Some(text.as_str()) } else { None });
    notices.filter(|text| text.starts_with("AGENT.md: ")).collect()
}

async fn bench(profile: &str, file: &str) -> Bench {
    let mut bench = Bench::new(&format!("{CALLING}[[reply]]\ntext = \"ok\"\n")).await;
    bench.config.agent.profile = profile.to_owned();
    bench.write("workspace/AGENT.md", file);
    for skill in ["tea", "review"] {
        bench.write(&format!("workspace/skills/{skill}/SKILL.md"), "---\ndescription: Helps.\n---\nDo it.\n");
    }
    bench
}

// PICO-024
#[tokio::test]
async fn the_front_matter_is_configuration_and_no_model_reads_it() {
    let file = "---\nname: Nala\ndescription: Looks after the house.\ntools: [read_file, list_dir]\nmodel: openai/other\n\
                maxTurns: 1\nskills: [tea]\n---\n\nBe brief.\n";
    let bench = bench("picoclaw", file).await;
    let agent = bench.agent();
    let events = say(&agent, "hi").await;
    assert_eq!(told(&events), [""; 0]);
    let calls = bench.server.calls();
    assert_eq!(calls[0].json()["model"], "other");
    assert_eq!(names(&calls[0]), ["read_file", "list_dir"]);
    let choices = [&calls[0], &calls[1]].map(|call| call.json()["tool_choice"].clone());
    assert_eq!(choices[1], "none", "one call with tools, as maxTurns says: {choices:?}");
    let system = calls[0].system();
    assert!(system.contains("You are Nala,") && system.contains("## AGENT.md\n\nBe brief."), "{system}");
    assert!(system.contains("<name>tea</name>") && !system.contains("<name>review</name>"), "{system}");
    assert!(!system.contains("maxTurns") && !system.contains("Looks after"), "{system}");

    // What was chosen for the conversation goes before the file, and a changed file acts at once.
    bench.write("workspace/AGENT.md", "---\nname: Simba\n---\nBe kind.\n");
    say(&agent, "hi").await;
    let last = bench.server.calls().last().unwrap().clone();
    assert_eq!(last.json()["model"], "scripted");
    assert!(last.system().contains("You are Simba,") && names(&last).len() > 2);
}

// PICO-024
#[tokio::test]
async fn what_is_wrong_with_it_is_reported_once_and_the_body_is_used() {
    for (file, wrong) in [
        ("---\nname: \"Nala\n---\nBe brief.\n", "AGENT.md: its front matter cannot be read"),
        ("---\nname: Nala\nmaxTurns: 3\n\nBe brief.\n", "AGENT.md: its front matter does not end"),
        ("---\nmaxTurns: many\n---\nBe brief.\n", "AGENT.md: `maxTurns` must be a number"),
        ("---\nmodel: nobody/x\n---\nBe brief.\n", "AGENT.md: the model cannot be used"),
        ("---\ntools: [list_dir, fly]\n---\nBe brief.\n", "AGENT.md: there is no tool `fly`"),
        ("---\nskills: [coffee]\n---\nBe brief.\n", "AGENT.md: there is no skill `coffee`"),
        ("---\nmcpServers: [home]\n---\nBe brief.\n", "AGENT.md: `mcpServers` (home) is not read"),
    ] {
        let bench = bench("picoclaw", file).await;
        let agent = bench.agent();
        let first = say(&agent, "hi").await;
        assert_eq!(told(&first).len(), 1, "{file:?}: {first:?}");
        assert!(told(&first)[0].starts_with(wrong), "{file:?}: {first:?}");
        let second = say(&agent, "hi").await;
        assert_eq!(told(&second), [""; 0], "{file:?}");
        let calls = bench.server.calls();
        assert_eq!(calls[0].json()["model"], "scripted");
        assert!(calls[0].system().contains("## AGENT.md\n\nBe brief."), "{file:?}: {}", calls[0].system());
        assert!(!calls[0].system().contains("maxTurns"), "{file:?}");
    }
}

#[tokio::test]
async fn a_profile_that_does_not_quote_the_file_does_not_go_by_it() {
    let bench = bench("limpid", "---\nname: Nala\nmodel: openai/other\ntools: []\n---\nBe brief.\n").await;
    let agent = bench.agent();
    say(&agent, "hi").await;
    let call = &bench.server.calls()[0];
    assert_eq!(call.json()["model"], "scripted");
    assert!(!call.system().contains("Nala") && !names(call).is_empty());
}
